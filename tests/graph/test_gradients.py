"""tf.gradients: values, structure, and what it refuses. (Node-for-node equality is the golden suite's.)"""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_several_ys_add_up_and_weights_weigh():
    x = tf.placeholder(tf.float32, [3])
    grads = tf.gradients([x * 2.0, x * x], [x], grad_ys=[None, tf.constant([1.0, 0.0, 2.0])])
    np.testing.assert_allclose(run(grads[0], {x: [1.0, 2.0, 3.0]}), [4.0, 2.0, 14.0])


def test_unrelated_xs_have_no_gradient_or_zeros():
    x, z = tf.constant([1.0, 2.0]), tf.constant([3.0])
    assert tf.gradients(x * 2.0, [z]) == [None]
    zeros = tf.gradients(x * 2.0, [z], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(run(zeros[0]), [0.0])
    assert tf.UnconnectedGradients("zero") is tf.UnconnectedGradients.ZERO
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients"):
        tf.gradients(x, x, unconnected_gradients="nothing")


def test_fetching_a_gradient_that_is_none_is_a_type_error():
    x, z = tf.constant(1.0), tf.constant(3.0)
    with pytest.raises(TypeError, match="Fetch argument None has invalid type"):
        run(tf.gradients(x, [z]))


def test_stop_gradients_are_constants():
    x = tf.constant(3.0)
    y = x * x
    z = y * x
    np.testing.assert_allclose(run(tf.gradients(z, [x], stop_gradients=[y])[0]), 9.0)
    np.testing.assert_allclose(run(tf.gradients(tf.stop_gradient(y) * x, x)[0]), 9.0)


def test_gradients_of_gradients():
    x = tf.placeholder(tf.float64, [2])
    first = tf.gradients(tf.reduce_sum(x**3.0), x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    values = run([first, second, third], {x: [1.0, 2.0]})
    np.testing.assert_allclose(values, [[3.0, 12.0], [6.0, 12.0], [6.0, 6.0]])


def test_an_x_in_the_middle_counts_only_what_is_behind_it():
    x = tf.constant(2.0)
    y = x * x
    z = y * 3.0 + x
    by_y, by_x = tf.gradients(z, [y, x])
    assert run([by_y, by_x]) == [3.0, 13.0]


def test_sparse_gradients_stay_sparse_until_a_dense_one_joins():
    table = tf.Variable(tf.zeros([5, 3]))
    rows = tf.gather(table, [1, 3, 1])
    sparse = tf.gradients(rows, table)[0]
    assert isinstance(sparse, tf.IndexedSlices)
    both = tf.gradients([rows, tf.gather(table, [0])], table)[0]
    assert isinstance(both, tf.IndexedSlices)
    assert sorted(run(both.indices)) == [0, 1, 1, 3]
    dense = tf.gradients([tf.reduce_sum(rows), tf.reduce_sum(table)], table)[0]
    assert isinstance(dense, tf.Tensor)
    np.testing.assert_array_equal(run(dense)[:, 0], [1.0, 3.0, 1.0, 2.0, 1.0])


@pytest.mark.parametrize("method", [tf.AggregationMethod.ADD_N, tf.AggregationMethod.EXPERIMENTAL_TREE])
def test_aggregation_methods_agree(graph, method):
    x = tf.constant(3.0)
    grad = tf.gradients([x * 2.0, x * 5.0, x * x], x, aggregation_method=method)[0]
    assert run(grad) == 13.0
    pairwise = [op for op in graph.get_operations() if "_gradient_sum" in op.name]
    assert bool(pairwise) == (method == tf.AggregationMethod.EXPERIMENTAL_TREE)


def test_gates_make_the_gradients_of_an_op_wait_for_each_other(graph):
    a, b = tf.constant(2.0), tf.constant(3.0)
    grads = tf.gradients(a * b, [a, b], gate_gradients=True)
    assert [g.op.type for g in grads] == ["Identity", "Identity"]
    assert grads[0].op.control_inputs[0].name.endswith("tuple/group_deps")
    assert run(grads) == [3.0, 2.0]


def test_an_op_without_gradient_is_named_with_its_place():
    @tf.RegisterGradient("NotUsedHere")
    def _(op, grad):
        return grad

    g = tf.get_default_graph()
    with g.gradient_override_map({"Square": "NobodyRegisteredThis"}):
        y = tf.square(tf.constant(2.0), name="lonely")
    with pytest.raises(LookupError, match="No gradient defined for operation 'lonely'"):
        tf.gradients(y, y.op.inputs[0])


@pytest.mark.parametrize("stops", [lambda x: tf.unique(x)[0], tf.random_shuffle])
def test_gradients_do_not_end_where_nobody_said_so(stops):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(LookupError, match="No gradient defined for operation"):
        tf.gradients(stops(x), x)


def test_overridden_and_custom_gradients():
    @tf.RegisterGradient("TimesFive")
    def _(op, grad):
        return 5.0 * grad

    @tf.custom_gradient
    def clipped(x, y):
        return x * y, lambda grad: (grad * 10.0, grad * 20.0)

    x = tf.constant(2.0)
    with tf.get_default_graph().gradient_override_map({"Square": "TimesFive"}):
        squared = tf.square(x)
    y = tf.constant(7.0)
    product = clipped(x, y)
    assert run([tf.gradients(squared, x)[0], product, *tf.gradients(product, [x, y])]) == [5.0, 14.0, 10.0, 20.0]
    with pytest.raises(ValueError, match="keywords arguments only"):
        clipped(x, y=y)
    with pytest.raises(TypeError, match="must be a string"):
        tf.RegisterGradient(3)
    with pytest.raises(KeyError, match="TimesFive"):
        tf.RegisterGradient("TimesFive")(lambda op, grad: grad)


def test_argument_errors():
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match=r"Length mismatch. Passed 0 grad_ys for 1 ys"):
        tf.gradients(x, x, grad_ys=[])
    with pytest.raises(TypeError, match="must be real or integer"):
        tf.gradients(x, x, grad_ys=[tf.constant(["a"])])
    with pytest.raises(TypeError, match="complex tensors must set grad_ys"):
        tf.gradients(tf.constant(1j), x)


def test_a_rule_that_returns_too_few_gradients_is_caught():
    @tf.RegisterGradient("OneOfTwo")
    def _(op, grad):
        return [grad]

    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.get_default_graph().gradient_override_map({"Mul": "OneOfTwo"}):
        product = tf.multiply(a, b, name="product")
    with pytest.raises(ValueError, match="Num gradients 1 generated for op 'product'"):
        tf.gradients(product, [a, b])


def test_gradients_flow_through_the_taken_branch_of_a_cond():
    flag, x = tf.placeholder(tf.bool, []), tf.constant(3.0)
    y = tf.cond(flag, lambda: x * x, lambda: x * 5.0)
    grad = tf.gradients(y, x)[0]
    assert run([y, grad], {flag: True}) == [9.0, 6.0]
    assert run([y, grad], {flag: False}) == [15.0, 5.0]


def test_an_unknown_aggregation_method_is_refused():
    with tf.Graph().as_default():
        x = tf.constant(2.0)
        with pytest.raises(ValueError, match="Invalid `aggregation_method` specified 7"):
            tf.gradients(x * x, x, aggregation_method=7)


def test_custom_gradients_of_functions_with_variables():
    w = tf.get_variable("w", initializer=3.0, use_resource=True)

    @tf.custom_gradient
    def scaled(x):
        u = tf.get_variable("u", initializer=5.0, use_resource=True)

        def grad(dy, variables):
            return dy * w * u, [dy * {"w:0": 7.0, "u:0": 11.0}[variable.name] for variable in variables]

        return x * w * u, grad

    x = w.read_value() + 1.0  # a variable behind an argument is none of the function's
    y = scaled(x)
    gradients = tf.gradients(y, [x, *tf.trainable_variables()])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([y, *gradients]) == [60.0, 15.0, 22.0, 11.0]


@pytest.mark.parametrize(
    ("resource", "grad", "error", "text"),
    [
        (True, lambda dy: dy, TypeError, "grad_fn must accept a keyword argument 'variables'"),
        (False, lambda dy, variables: (dy, []), TypeError, "must be `ResourceVariable`s"),
        (True, lambda dy, **kwargs: (dy, []), ValueError, "Must return gradient for each variable"),
    ],
)
def test_what_custom_gradients_refuse_of_variables(resource, grad, error, text):
    @tf.custom_gradient
    def scaled(x):
        return x * tf.get_variable("w", initializer=3.0, use_resource=resource), grad

    with tf.Graph().as_default():
        x = tf.constant(2.0)
        with pytest.raises(error, match=text):
            tf.gradients(scaled(x), x)


def test_tapes_in_graphs_know_what_was_made_while_they_recorded():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        before = x * 5
        tape = tf.GradientTape(persistent=True)
        with tape:
            tape.watch(x)
            square = x * x
            with tape.stop_recording():
                cube = square * x
            product = cube * x * before
        assert tape.gradient(cube, x) is None and tape.gradient(before, x) is None
        assert session.run([tape.gradient(square, x), tape.gradient(product, x)]) == [6, 27 * 15]
        with tape:
            sixth = cube * cube
        assert tape.gradient(sixth, x) is None
        tape.watch(cube)
        assert session.run(tape.gradient(sixth, cube)) == 54
        with pytest.raises(ValueError, match="Tape is not recording"):
            tape.reset()
        variable = tf.Variable(2.0)
        session.run(variable.initializer)
        with tf.GradientTape() as tape:
            power = variable**3.0
        assert session.run(tape.gradient(power, variable)) == 12
        with tape:  # again, as a new one
            power = variable**2.0
            tape.reset()
            power *= variable
        assert session.run(tape.gradient(power, variable)) == 4
