"""tf.while_loop: values and gradients in every tier of the runtime, what it refuses, and what errors inside a loop say."""

import collections
import threading

import numpy as np
import pytest

import tfexp as tf
from tests.golden.programs import PROGRAMS
from tfexp.core import nest
from tfexp.runtime.executor import Interpreter


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


# As often as it takes to come from the first, interpreted run to the generated code.
TIERS = 4


def run(fetches, feeds=None):
    """The fetched values, which must be the same in every tier."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = [session.run(fetches, feeds) for _ in range(TIERS)]
    for result in results[1:]:
        flat, first = nest.flatten(result), nest.flatten(results[0])
        for a, b in zip(flat, first, strict=True):
            if isinstance(a, bytes):
                assert a == b
            else:
                np.testing.assert_allclose(a, b, rtol=1e-6)
    return results[0]


def numeric(y, x, feeds, step=1e-5):
    """d sum(y) / dx by central differences."""
    point = np.asarray(feeds[x], np.float64)
    slope = np.zeros(point.shape)
    with tf.Session() as session:
        for index in np.ndindex(point.shape):
            shifted = []
            for sign in (1, -1):
                moved = point.copy()
                moved[index] += sign * step
                shifted.append(np.sum(session.run(y, {**feeds, x: moved})))
            slope[index] = (shifted[0] - shifted[1]) / (2 * step)
    return slope


def power(x, w, times, **options):
    return tf.while_loop(lambda i, a: i < times, lambda i, a: (i + 1, a * w), [tf.constant(0), x], **options)[1]


def placeholders(*shapes, dtype=tf.float64):
    return [tf.placeholder(dtype, shape) for shape in shapes]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("loops.")])
def test_every_tier_gives_the_same(name):
    outcome = PROGRAMS[name].build(tf)
    if name == "loops.control_dependencies":
        return  # each run changes its variable; the recording has the values
    for step in outcome.runs:
        run(step.fetches, dict(step.feeds))


@pytest.mark.parametrize("times", [0, 1, 2, 7])
def test_a_loop_runs_as_often_as_it_should(times):
    x, w = placeholders([], [])
    y = power(x, w, times)
    feeds = {x: 1.5, w: 0.7}
    value, dx, dw = run([y, *tf.gradients(y, [x, w])], feeds)
    assert value == pytest.approx(1.5 * 0.7**times)
    assert dx == pytest.approx(0.7**times)
    assert dw == pytest.approx(1.5 * times * 0.7 ** max(times - 1, 0) if times else 0.0)


def test_the_number_of_iterations_may_be_fed():
    x, w = placeholders([3], [3])
    n = tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * w), [0, x])[1]
    dw = tf.gradients(y, w)[0]
    a, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 2.0])
    with tf.Session() as session:
        for times in (3, 0, 5, 1):
            for _ in range(3):
                got, slope = session.run([y, dw], {x: a, w: b, n: times})
                np.testing.assert_allclose(got, a * b**times)
                np.testing.assert_allclose(slope, times * a * b ** (times - 1))


@pytest.mark.parametrize("shape", [[2, 3], [None, 3], None])
def test_gradients_agree_with_differences(shape):
    x, w = placeholders(shape, shape)

    def body(i, a, b):
        return i + 1, tf.sin(a) * w + b, b * tf.tanh(a)

    _, a, b = tf.while_loop(lambda i, a, b: i < 3, body, [tf.constant(0), x, x * w])
    y = a * b
    rng = np.random.RandomState(3)
    feeds = {x: rng.uniform(0.2, 1, (2, 3)), w: rng.uniform(0.2, 1, (2, 3))}
    for variable, grad in zip((x, w), run(tf.gradients(y, [x, w]), feeds), strict=True):
        np.testing.assert_allclose(grad, numeric(y, variable, feeds), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape", [[3], [None]])
def test_gradients_of_nested_loops_and_conds(shape):
    x, w = placeholders(shape, shape)

    def inner(i, a):
        def step(j, b):
            return j + 1, tf.cond(tf.equal((i + j) % 2, 0), lambda: b * w + a, lambda: tf.sin(b) * a)

        return tf.while_loop(lambda j, b: j < i + 1, step, [tf.constant(0), a * w])[1]

    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, inner(i, a)), [tf.constant(0), x])[1]
    feeds = {x: np.array([0.5, 0.7, -0.3]), w: np.array([0.9, -0.6, 0.4])}
    for variable, grad in zip((x, w), run(tf.gradients(y, [x, w]), feeds), strict=True):
        np.testing.assert_allclose(grad, numeric(y, variable, feeds), rtol=1e-4, atol=1e-6)


def test_a_gradient_inside_a_loop_is_differentiated_there():
    x = tf.placeholder(tf.float64, [3])
    values = np.array([0.5, -1.5, 2.0])
    hessian = run(tf.hessians(tf.reduce_sum(x**3), x)[0], {x: values})
    np.testing.assert_allclose(hessian, np.diag(6 * values))


def test_second_order_through_a_loop_is_refused_as_in_tensorflow():
    x, w = placeholders([], [])
    first = tf.gradients(power(x, w, 3), x)[0]
    with pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
        tf.gradients(first, w)


def test_variables_are_read_and_updated_in_iterations():
    v = tf.Variable(1.0)
    total = tf.Variable(0.0)

    def body(i, a):
        with tf.control_dependencies([tf.assign_add(total, a)]):
            return i + 1, a * v

    _, a = tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), tf.constant(2.0)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in range(1, TIERS + 1):
            assert session.run(a) == 2.0
            assert session.run(total) == 6.0 * number
        session.run(v.assign(3.0))
        assert session.run(a) == 54.0


def test_a_reference_that_goes_on_as_a_value_is_read_in_each_iteration():
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=False)
    going = tf.Variable(True, use_resource=False)

    def body(i, before, total):
        after = v.assign_add(before)  # a reference
        with tf.control_dependencies([after, tf.assign(going, i < 3)]):
            return i + 1, after, total + tf.reduce_sum(after)

    def cond(i, before, total):
        with tf.control_dependencies([before]):
            return tf.assign(going, tf.logical_and(i < 3, total < 100.0))  # another

    _, last, total = tf.while_loop(cond, body, [0, v, 0.0], parallel_iterations=1, back_prop=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for factor in (1.0, 8.0):
            found, summed = session.run([last, total])
            np.testing.assert_array_equal(found, session.run(v))
            if factor == 1.0:
                np.testing.assert_array_equal(found, [8.0, 16.0, 24.0])
                assert summed == 6.0 * (2 + 4 + 8)


def test_a_variable_read_outside_of_a_loop_is_seen_in_it_as_updates_there_leave_it():
    v = tf.Variable([1.0, 2.0], use_resource=False)

    def body(i, total):
        with tf.control_dependencies([v.assign_add([3.0, 5.0])]):
            return i + 1, total + v  # `v` is the node `read`, which is outside, in the memory that is updated

    _, total = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros(2)])
    with tf.Session() as session:
        for _ in range(TIERS):
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(session.run(total), [4 + 7 + 10, 7 + 12 + 17])


def test_training_through_a_loop():
    v = tf.Variable(0.3)
    loss = tf.square(power(tf.constant(1.0), v, 3) - 8.0)
    step = tf.train.GradientDescentOptimizer(0.005).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(v.assign(1.5))
        for _ in range(200):
            session.run(step)
        assert session.run(v) == pytest.approx(2.0, abs=1e-3)


def test_structures_go_round():
    start = {"a": tf.constant(1), "b": (tf.constant(2.0), [tf.constant([3.0, 5.0])])}
    result = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, {"a": s["a"] * 2, "b": (s["b"][0] + 1.0, [s["b"][1][0] * 2.0])}),
        [tf.constant(0), start],
    )
    i, s = run(result)
    assert (i, s["a"], s["b"][0]) == (3, 8, 5.0)
    np.testing.assert_array_equal(s["b"][1][0], [24.0, 40.0])


def test_what_comes_out_has_the_outermost_container_that_the_body_returned():
    pair = collections.namedtuple("pair", "i j")
    for kind in (list, tuple, pair._make):
        out = tf.while_loop(lambda i, j: i < 3, lambda i, j, kind=kind: kind([i + 1, j]), [0, 1])
        assert type(out) is type(kind([0, 1]))
        assert run(out) == kind([3, 1])


def test_shapes_may_grow_where_an_invariant_says_so():
    x = tf.placeholder(tf.float32, [2])
    _, a = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.concat([a, a], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    assert a.get_shape().as_list() == [None]
    np.testing.assert_array_equal(run(a, {x: [1.0, 2.0]}), [1.0, 2.0] * 8)


def test_shapes_in_a_loop_follow_from_constants_in_it():
    table = tf.placeholder(tf.float32, [1, 7, None])
    shapes = []

    def body(i):
        shapes.append(table[:, :, i : i + 1].shape.as_list())
        shapes.append(tf.reshape(table, tf.stack([7, i, 1]) * 1).shape.as_list())
        shapes.append(tf.zeros(tf.constant([2, 3]) + 1).shape.as_list())
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    assert shapes == [[1, 7, None], [None, None, None], [3, 4]]


@pytest.mark.parametrize("most", [None, 7])
def test_what_is_a_single_tensor_comes_back_alone(most):
    def loop(start, body, cond=lambda a: a[0] < 3, **kwargs):
        return tf.while_loop(cond, body, start, maximum_iterations=most, **kwargs)

    pair = lambda p: (p[0] + 1, p[1])  # noqa: E731
    one = loop([0], lambda a: a + 1, lambda a: a < 3)
    if most is None:
        assert run([*loop([(0, 1)], lambda p: [pair(p)])]) == [(3, 1)]
        assert run(loop([{0: 0}], lambda p: [{0: p[0] + 1}])) == {0: 3}
    else:
        assert run(loop([(0, 1)], pair)) == (3, 1)
        with pytest.raises((TypeError, ValueError)):
            loop([(0, 1)], lambda p: [pair(p)])
    assert run(one) == 3
    assert run(loop([(0, 1)], lambda p: [pair(p)], return_same_structure=True)) == [(3, 1)]


def test_strings_go_round():
    text = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.string_join([s, "b"])), [tf.constant(0), "a"])[1]
    assert run(text) == b"abbb"


def test_maximum_iterations():
    x = tf.constant(1.0)
    assert run(tf.while_loop(lambda a: a < 1000.0, lambda a: a * 2.0, [x], maximum_iterations=3)) == 8.0
    assert run(tf.while_loop(lambda a: a < 3.0, lambda a: a * 2.0, [x], maximum_iterations=30)) == 4.0
    assert run(tf.while_loop(lambda a: a < 3.0, lambda a: a * 2.0, [x], maximum_iterations=0)) == 1.0


def scalar():
    return tf.placeholder(tf.float32, [], name="x")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tf.while_loop(lambda: True, lambda: True, []), ValueError, "No loop variables provided"),
        (lambda: tf.while_loop(3, lambda a: a, [scalar()]), TypeError, "cond must be callable"),
        (lambda: tf.while_loop(lambda a: a < 1.0, 3, [scalar()]), TypeError, "body must be callable"),
        (
            lambda: tf.while_loop(lambda a: a < 1.0, lambda a: a, [scalar()], parallel_iterations=0),
            TypeError,
            "parallel_iterations must be a positive integer",
        ),
        (
            lambda: tf.while_loop(lambda a: a < 1.0, lambda a: a, [scalar()], parallel_iterations=1.5),
            ValueError,
            "`parallel_iterations` must be a positive integer: 1.5",
        ),
        (
            lambda: tf.while_loop(lambda a: a < 1.0, lambda a: a, [scalar()], maximum_iterations=[1, 2]),
            ValueError,
            "maximum_iterations must be a scalar",
        ),
        (lambda: tf.while_loop(lambda a: a, lambda a: a, [scalar()]), TypeError, "LoopCond.*float32.*bool"),
        (
            lambda: tf.while_loop(lambda a: a < [1.0, 2.0], lambda a: a, [scalar()]),
            ValueError,
            "must be rank 0 but is rank 1",
        ),
        (lambda: tf.while_loop(lambda a: a < 1.0, lambda a: (a, a), [scalar()]), ValueError, "same number of elements"),
        (lambda: tf.while_loop(lambda a: a < 1.0, lambda a: None, [scalar()]), ValueError, "None values not supported"),
        (
            lambda: tf.while_loop(lambda a: a < 1.0, lambda a: tf.cast(a, tf.int32), [scalar()]),
            TypeError,
            "Loop var x:0 enters the loop with type <dtype: 'float32'> but has type <dtype: 'int32'> after 1 iteration",
        ),
        (
            lambda: tf.while_loop(lambda a: a < 1.0, lambda a: tf.stack([a, a]), [scalar()]),
            ValueError,
            r"Input tensor 'x:0' enters the loop with shape \(\), but has shape \(2,\) after one "
            r"iteration. To allow the shape "
            "to vary across iterations, use the `shape_invariants` argument",
        ),
        (
            lambda: tf.while_loop(
                lambda a: True, lambda a: a, [tf.zeros([2], name="z")], shape_invariants=[tf.TensorShape([3])]
            ),
            ValueError,
            r"The shape invariant specified for z:0 is not compatible with the initial shape of the "
            r"loop variable. It enters the "
            r"loop with shape \(2,\), but the specified shape invariant is \(3,\)",
        ),
        (
            lambda: tf.while_loop(lambda a: a < 1.0, lambda a: a, [scalar()], shape_invariants=[None, None]),
            ValueError,
            "same number of elements",
        ),
    ],
)
def test_what_while_loop_refuses(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_values_inside_a_loop_stay_there():
    inside = []

    def body(a):
        inside.append(a * 2.0)
        return inside[0]

    tf.while_loop(lambda a: a < 1.0, body, [tf.constant(0.5)])
    with tf.Session() as session, pytest.raises(ValueError, match="not fetchable"):
        session.run(inside[0])
    with pytest.raises(ValueError, match="is in a while loop"):
        inside[0] + 1.0


def test_an_error_in_the_body_names_its_node():
    x = tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.div(a, x, name="ratio")), [tf.constant(0), 7])[1]
    with tf.Session() as session:
        for _ in range(TIERS):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"\{\{node while/ratio\}\}") as caught:
                session.run(y, {x: 0})
            assert caught.value.op.name == "while/ratio"
            assert session.run(y, {x: 2}) == 0


def test_a_loop_does_not_wait_for_updates_that_need_its_result():
    # As batch normalisation after a recurrent network has it; more steps than TensorFlow runs at the same time.
    mean = tf.get_variable("mean", [2], initializer=tf.ones_initializer(), trainable=False)
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    last = power(tf.constant([3.0, 5.0]), w, 40)
    with tf.control_dependencies([tf.assign_sub(mean, 0.5 * (mean - last))]):
        slope = tf.gradients(last, w)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for wanted in ([2, 3], [2.5, 4]):
            np.testing.assert_allclose(session.run(slope), [120, 200])
            np.testing.assert_allclose(session.run(mean), wanted)


def test_an_endless_loop_stops_at_the_deadline_and_when_the_session_closes():
    y = tf.while_loop(lambda i: i >= 0, lambda i: tf.minimum(i + 1, 5), [tf.constant(0)])
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(y, options=tf.RunOptions(timeout_in_ms=50))
    session = tf.Session()

    def close() -> None:
        while not session._backend.active._steps:
            threading.Event().wait(0.001)
        session.close()

    threading.Thread(target=close).start()
    with pytest.raises(tf.errors.CancelledError):
        session.run(y)


def test_loops_in_imported_graphs(graph):
    x, w = placeholders([], [])
    y = power(x, w, 3)
    dw = tf.gradients(y, w)[0]
    definition = graph.as_graph_def()
    with tf.Graph().as_default():
        found = tf.import_graph_def(definition, return_elements=[x.name, w.name, y.name, dw.name], name="again")
        value, slope = run(found[2:], {found[0]: 2.0, found[1]: 3.0})
        assert (value, slope) == (54.0, 54.0)


def test_an_edge_into_a_frame_without_an_enter_is_refused(graph):
    y = power(tf.constant(1.0), tf.constant(2.0), 3)
    definition = graph.as_graph_def()
    product = next(node for node in definition.node if node.name == "while/mul")
    product.input[1] = "Const_1"
    with tf.Graph().as_default() as other:
        tf.import_graph_def(definition, name="")
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="inputs from different frames"):
            session.run(other.get_tensor_by_name(y.name))


def test_an_iteration_costs_no_node_of_the_interpreter():
    x = tf.placeholder(tf.float32, [3])
    y = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 2.0), [tf.constant(0), x])[1]
    with tf.Session() as session:
        plan = session.explain(y, {x: np.zeros(3, np.float32)}).plan
    (step,) = [step for step in plan.steps if step.loop is not None]
    assert [s.op.name for s in step.loop.condition.steps] == ["Less"]
    assert sorted(s.op.name for s in step.loop.body.steps) == ["AddV2", "Mul"]
    assert plan.slots[step.outputs[0]].shape.as_list() == [3]


def test_a_loop_that_goes_round_often_is_compiled_in_its_first_run(monkeypatch):
    interpreted, run_part = [], Interpreter.run_part
    monkeypatch.setattr(Interpreter, "run_part", lambda self, fed: interpreted.append(self) or run_part(self, fed))

    def inner(x):
        return tf.while_loop(lambda i, _: i < 5, lambda i, a: (i + 1, a + 1.0), [0, x])[1]

    total = tf.while_loop(lambda i, _: i < 200, lambda i, a: (i + 1, inner(a)), [0, tf.zeros([3])])[1]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(total), [1000.0] * 3)
    assert 0 < len(interpreted) < 200


def test_gradients_that_wait_for_each_other_leave_the_loop():
    start, factor = tf.Variable(2.0), tf.Variable(3.0)
    _, power = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * factor), (0, start * 1.0))
    gradients = tf.gradients(power, [start, factor], gate_gradients=True)  # as optimizers make them
    assert run(gradients) == [27, 54]


def test_shapes_by_values_of_the_loop_and_of_the_graph_around_it():
    n, counts = tf.reduce_prod([3]), tf.constant([2, 1])
    shapes = []

    def body(x):
        made = [tf.reduce_sum(x, tf.range(tf.rank(x) - 1)), tf.fill([n, n * 2], 0), tf.fill(tf.concat([counts, [4]], 0), 0)]
        shapes.append([one.shape.as_list() for one in made])
        return x

    tf.while_loop(lambda x: True, body, [tf.zeros([4, 5])])
    assert shapes == [[[5], [3, 6], [2, 1, 4]]]
    # TensorFlow looks through the entry into one loop, not into a loop in another, nor into a branch.
    tf.while_loop(lambda i: i < 1, lambda i: tf.while_loop(lambda x: True, body, [tf.zeros([4, 5])]) is None or i, [0])
    assert shapes[1] == [[5], [None, None], [None, None, 4]]


def test_a_reference_goes_round_as_one():
    variable = tf.get_variable("v", [3], use_resource=False, initializer=tf.zeros_initializer())

    def body(i, ref):
        ref = tf.assign_add(ref, tf.ones([3]))
        with tf.control_dependencies([ref]):
            return i + 1, ref

    _, left = tf.while_loop(lambda i, ref: i < 4, body, (0, variable._ref()), back_prop=False, parallel_iterations=1)
    assert (left.op.type, left.dtype) == ("RefExit", tf.dtypes.as_dtype("float32_ref"))
    with tf.Session() as session:
        session.run(variable.initializer)
        np.testing.assert_array_equal(session.run(left), [4] * 3)
        np.testing.assert_array_equal(session.run(variable), [4] * 3)
