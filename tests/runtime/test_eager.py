"""Eager execution: values at once, variables, tapes, Python's control flow, data sets. Numbers recorded from TensorFlow."""

import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


tfe = tf.contrib.eager

MATRIX = [[1.0, 2.0], [3.0, 4.0]]


# --- tensors ------------------------------------------------------------------------------------------------------------


def test_one_element_is_a_number_whatever_its_rank():
    x = tf.constant([[1.5]])
    assert (float(x), int(x), complex(x)) == (1.5, 1, 1.5)
    assert not tf.constant([])
    for number in (float, int, complex):
        with pytest.raises(TypeError, match="only size-1 arrays"):
            number(tf.constant([1, 2]))


def test_tensors_are_pickled_as_their_values():
    for value in (tf.constant(MATRIX, tf.bfloat16), tf.constant([b"a", b""])):
        again = pickle.loads(pickle.dumps(value))
        assert again is not value and again.dtype == value.dtype
        np.testing.assert_array_equal(again.numpy(), value.numpy())


def test_a_tensor_holds_its_value():
    x = tf.constant(MATRIX)
    assert tf.executing_eagerly()
    assert isinstance(x, tf.Tensor)
    np.testing.assert_array_equal((x + 1).numpy(), [[2, 3], [4, 5]])
    np.testing.assert_array_equal(np.ones([2, 2], np.float32) + x, [[2, 3], [4, 5]])
    assert float(tf.reduce_sum(x)) == 10
    assert int(tf.constant(2)) == 2
    assert [1, 2, 3][tf.constant(1)] == 2
    assert bool(tf.constant(True))
    assert len(x) == 2
    assert [row.numpy().tolist() for row in x] == MATRIX
    assert f"{tf.constant(1.5):.2f}" == "1.50"
    assert tf.constant("a").numpy() == b"a"
    assert x.ndim == 2
    assert x.device == "/job:localhost/replica:0/task:0/device:CPU:0"


def test_how_a_tensor_prints():
    x = tf.constant(MATRIX)
    assert str(x) == "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)"
    body = "shape=(2, 2), dtype=float32, numpy=\narray([[1., 2.],\n       [3., 4.]], dtype=float32)>"
    assert repr(x).startswith("<tf.Tensor: id=")
    assert repr(x).endswith(body)
    assert str(tf.constant(7)) == "tf.Tensor(7, shape=(), dtype=int32)"
    assert str(tf.constant("a")) == "tf.Tensor(b'a', shape=(), dtype=string)"
    assert repr(tf.constant("a")).endswith("numpy=b'a'>")
    assert repr(tf.constant(0.1)).endswith("numpy=0.1>")
    assert repr(tf.constant(1e20)).endswith("numpy=1e+20>")
    assert repr(tf.constant(0.1, tf.complex64)).endswith("numpy=(0.1+0j)>")
    assert repr(tf.Variable(0.1, name="v")) == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=0.1>"
    assert f"{x}" == "[[1. 2.]\n [3. 4.]]"


@pytest.mark.parametrize("attribute", ["op", "name", "graph", "value_index"])
def test_what_only_tensors_of_graphs_have(attribute):
    rows = tf.IndexedSlices(tf.constant(MATRIX), tf.constant([0, 1]))
    for value in (tf.constant(MATRIX), tf.identity(MATRIX), *([rows] if attribute != "value_index" else [])):
        assert not hasattr(value, attribute)
        with pytest.raises(AttributeError, match=rf"^Tensor\.{attribute} is meaningless when eager execution is enabled\.$"):
            getattr(value, attribute)
    variable = tf.Variable(MATRIX, name="v")
    assert variable.name == "v:0"
    assert not hasattr(variable.handle, attribute)


def test_what_asks_graphs_for_the_nodes_of_arguments_takes_values():
    weights = tf.Variable(MATRIX)
    ids = tf.SparseTensor([[0, 0], [1, 0]], [1, 0], [2, 1])
    found = tf.nn.embedding_lookup_sparse(weights, ids, None, combiner="sum")
    np.testing.assert_array_equal(found.numpy(), MATRIX[::-1])
    assert [one.numpy() for one in tf.tuple([tf.constant(1), tf.constant(2)])] == [1, 2]
    with tf.control_dependencies([weights.assign_add(weights)]), tf.colocate_with(ids.values):
        assert tf.pad(tf.constant([1]), [[0, ids.values[0]]]).numpy().tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"^Expected scalar shape, saw shape: \(2, 2\)\.$"):
        tf.debugging.assert_scalar(MATRIX)


def test_composite_tensors_show_their_parts_as_tensors():
    parts = "indices=tf.Tensor([0], shape=(1,), dtype=int32), values=tf.Tensor([5.], shape=(1,), dtype=float32)"
    assert str(tf.IndexedSlices(tf.constant([5.0]), tf.constant([0]))) == f"IndexedSlices({parts})"
    assert str(tf.SparseTensor([[0]], [1], [2])).startswith("SparseTensor(indices=tf.Tensor([[0]], shape=(1, 1), ")


def test_values_do_not_change_from_outside():
    array = np.zeros(3, np.float32)
    x = tf.constant(array)
    array[0] = 5
    x.numpy()[1] = 5
    np.testing.assert_array_equal(x.numpy(), [0, 0, 0])


def test_what_needs_a_graph_says_so():
    x = tf.constant(1.0)
    with pytest.raises(RuntimeError, match=r"tf.placeholder\(\) is not compatible with eager execution"):
        tf.placeholder(tf.float32)
    with pytest.raises(RuntimeError, match=r"Use tf\.GradientTape instead"):
        tf.gradients(x, x)
    with pytest.raises(NotImplementedError, match=r"is \.numpy\(\) what you're looking for"):
        x.eval()
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        tf.Session().run(x)
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        with pytest.raises(RuntimeError, match="Attempting to capture an EagerTensor without building a function"):
            tf.add(x, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x + tf.constant([1.0, 2.0, 3.0]), "Incompatible shapes: [2,2] vs. [3] [Op:AddV2]"),
        (lambda x: tf.matmul(x, [[1.0, 2.0, 3.0]]), "Matrix size-incompatible: In[0]: [2,2], In[1]: [1,3] [Op:MatMul]"),
        (
            lambda x: tf.reshape(x, [3, 3]),
            "Input to reshape is a tensor with 4 values, but the requested shape has 9 [Op:Reshape]",
        ),
        (lambda x: tf.gather(x, [5]), "indices[0] = 5 is not in [0, 2) [Op:GatherV2]"),
        (lambda x: tf.constant(1) // 0, "Integer division by zero [Op:FloorDiv]"),
    ],
)
def test_errors_are_those_of_a_run(call, message):
    x = tf.constant(MATRIX)
    for _ in range(2):  # the second time goes the short way
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            call(x)
        assert str(caught.value) == message


def test_the_short_way_notices_what_it_depends_on():
    x = tf.constant(np.arange(12.0).reshape(3, 4))
    for shape in ([4, 3], [2, 6], [4, 3]):
        assert tf.reshape(x, shape).shape.as_list() == shape
        assert tf.reshape(x, tf.constant(shape)).shape.as_list() == shape
    for axis in (0, 1, 0):
        np.testing.assert_array_equal(tf.reduce_sum(x, axis=axis).numpy(), np.arange(12.0).reshape(3, 4).sum(axis))
    assert (tf.constant(1) / tf.constant(2)).dtype is tf.float64
    assert (tf.constant(1.0) / tf.constant(2.0)).dtype is tf.float32


# --- gradients ----------------------------------------------------------------------------------------------------------


def test_a_tape_differentiates_what_it_saw():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    outside = v * v
    assert tape.gradient(y, v).numpy() == 6
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, v)
    with tf.GradientTape() as tape:
        pass
    assert tape.gradient(outside, v) is None


def test_a_persistent_tape_watches_tensors_and_gives_many_gradients():
    x, v = tf.constant(MATRIX), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
        z = tf.reduce_sum(y * x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [[2, 4], [6, 8]])
    grad, none = tape.gradient(z, [x, v])
    np.testing.assert_array_equal(grad.numpy(), [[50, 70], [90, 110]])
    assert none is None
    assert tape.gradient(z, v, unconnected_gradients="zero").numpy() == 0
    assert tape.watched_variables() == ()


def test_a_tape_gives_its_variables_in_the_order_of_their_making():
    first, second = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        second * first
    assert [variable is made for variable, made in zip(tape.watched_variables(), (first, second), strict=True)] == [True] * 2


def test_second_order():
    v = tf.Variable(4.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v**3
        slope = inner.gradient(y, v)
    assert slope.numpy() == 48
    assert outer.gradient(slope, v).numpy() == 24


def test_gradients_of_rows_stay_sparse():
    table = tf.Variable(np.arange(12.0, dtype=np.float32).reshape(4, 3))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, [1, 1, 2]))
    grad = tape.gradient(y, table)
    assert isinstance(grad, tf.IndexedSlices)
    assert grad.indices.numpy().tolist() == [1, 1, 2]


def test_stopping_and_weighting():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(v) * v
    assert tape.gradient(y, v, output_gradients=tf.constant(2.0)).numpy() == 6
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None
    with tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            z = y * v
    assert tape.gradient(z, v) is None


def test_names_are_counted_for_those_who_ask():
    with eager_mode():
        graph = tf.get_default_graph()
        assert [graph.unique_name("q") for _ in range(2)] == ["q", "q_1"]
        for _ in range(2):
            with tf.name_scope("a") as scope:
                assert scope == "a/"


def test_constants_fill_a_shape_with_one_element_only():
    with eager_mode():
        assert tf.constant(7, shape=[2]).numpy().tolist() == [7, 7]
        assert tf.constant([1, 2, 3, 4], shape=[2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
        with pytest.raises(TypeError, match=r"unsupported shape .value has 2 elements, shape is .3,. with 3 elements"):
            tf.constant([1, 2], shape=[3])


def test_any_sequence_may_stand_for_a_list():
    with eager_mode():
        for value in (range(2), (range(2), [3, 4]), [np.array([1, 2]), np.array([3, 4])], tf.TensorShape([3, 5])):
            made = tf.constant(value)
            assert made.dtype == tf.int32 and made.numpy().tolist() == np.array(value, np.int32).tolist()
        assert tf.constant([np.array([0.5]), np.array([1.5])]).dtype == tf.float64
        assert tf.constant([np.array([b"a"]), np.array([b"b"])]).numpy().tolist() == [[b"a"], [b"b"]]
        assert tf.convert_to_tensor(range(3), tf.float32).numpy().tolist() == [0.0, 1.0, 2.0]


def test_a_gradient_of_ones_own():
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 100.0

    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = square(v)
    assert tape.gradient(y, v).numpy() == 100


def test_a_tape_around_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        x, other = tf.constant(3.0), tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * other
        grad, unwatched = tape.gradient(y, [x, other])
        assert session.run(grad) == 6
        assert unwatched is None


def test_functions_that_differentiate_functions():
    w = tf.Variable(2.0)
    value, ((grad, variable),) = tfe.implicit_value_and_gradients(lambda x: w * w * x)(3.0)
    assert (value.numpy(), grad.numpy(), variable) == (12, 12, w)
    assert [(g.numpy(), v) for g, v in tfe.implicit_gradients(lambda: w * w)()] == [(4, w)]
    assert [g.numpy() for g in tfe.gradients_function(lambda x, y: x * x * y)(3.0, 2.0)] == [12, 9]
    assert [g.numpy() for g in tfe.gradients_function(lambda x, y: x * x * y, params=["y"])(3.0, 2.0)] == [9]
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        tfe.implicit_gradients(lambda: tf.constant(1.0))()


# --- training -----------------------------------------------------------------------------------------------------------


def test_optimizers_take_functions():
    v = tf.Variable(4.0, name="vv")
    sgd, adam = tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer(0.1)
    assert sgd.minimize(lambda: v * v) is None
    assert v.numpy() == np.float32(3.2)
    adam.minimize(lambda: v * v, var_list=[v])
    assert v.numpy() == np.float32(3.1000001)
    assert [s.name for s in adam.variables()] == ["beta1_power:0", "beta2_power:0", "vv/Adam:0", "vv/Adam_1:0"]
    with pytest.raises(RuntimeError, match="should be a function when eager execution is enabled"):
        sgd.minimize(v * v)


def test_a_layer_learns():
    random = np.random.RandomState(0)
    x = random.randn(64, 3).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    layer = tf.layers.Dense(1)
    optimizer, step = tf.train.AdamOptimizer(0.1), tf.Variable(0, trainable=False)
    loss = tfe.implicit_value_and_gradients(lambda: tf.losses.mean_squared_error(y, layer(x)))
    for _ in range(150):
        value, grads = loss()
        optimizer.apply_gradients(grads, global_step=step)
    assert value.numpy() < 1e-3
    assert step.numpy() == 150


# --- control flow, random numbers, data -----------------------------------------------------------------------------------


def test_control_flow_is_pythons():
    assert tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2)).numpy() == 1
    assert tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)]).numpy() == 10
    assert tf.while_loop(lambda i: i < 10, lambda i: [i + 1], [tf.constant(0)])[0].numpy() == 10
    assert tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(10)])[0].numpy() == 10
    assert tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)], maximum_iterations=2).numpy() == 2
    ((i, rest),) = tf.while_loop(lambda p: p[0] < 10, lambda p: [(p[0] + 1, p[1])], [(tf.constant(0), 5)])
    assert (i.numpy(), rest.numpy()) == (10, 5)
    i, product = tf.while_loop(lambda i, p: i < 9, lambda i, p: (i + 1, p * 2.0), (0, 1.0), maximum_iterations=4)
    assert (i.numpy(), product.numpy()) == (4, 16)
    assert tf.case([(tf.constant(False), lambda: tf.constant(1))], default=lambda: tf.constant(3)).numpy() == 3
    x = tf.constant(MATRIX)
    np.testing.assert_array_equal(tf.map_fn(lambda a: a * 2, x).numpy(), [[2, 4], [6, 8]])
    np.testing.assert_array_equal(tf.scan(lambda a, b: a + b, x).numpy(), [[1, 2], [4, 6]])
    assert tf.group(x) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Summarized data: 1.0, 2.0, 3.0, \.\.\."):
        tf.Assert(tf.constant(False), [x])


def test_random_numbers_are_tensorflows():
    tf.set_random_seed(7)
    first, second = tf.random_uniform([3]).numpy(), tf.random_uniform([3]).numpy()
    np.testing.assert_array_equal(first, np.float32([0.8344538, 0.23336661, 0.8796519]))
    np.testing.assert_array_equal(second, np.float32([0.01905346, 0.6496551, 0.6962069]))
    one, two = tf.random_normal([2], seed=5).numpy(), tf.random_normal([2], seed=5).numpy()
    np.testing.assert_allclose(one, [0.00727805, 0.53435814], rtol=1e-5)
    np.testing.assert_allclose(two, [-0.14291082, -0.08963896], rtol=1e-5)
    tf.set_random_seed(7)
    np.testing.assert_array_equal(tf.random_uniform([3]).numpy(), first)


def test_data_sets_are_iterated():
    data = tf.data.Dataset.range(5).map(lambda a: a * 2).batch(2)
    for _ in range(2):
        assert [batch.numpy().tolist() for batch in data] == [[0, 2], [4, 6], [8]]
    iterator = tfe.Iterator(data)
    assert next(iterator).numpy().tolist() == [0, 2]
    assert iterator.get_next().numpy().tolist() == [4, 6]
    iterator.get_next()
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        data.make_initializable_iterator()
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="eager execution"):
        iter(tf.data.Dataset.range(1))


# --- switching it on ----------------------------------------------------------------------------------------------------


def _run(program):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr.strip().rpartition("\n")[2]


def test_it_is_switched_on_once_and_before_any_graph():
    assert (
        _run("import tfexp as tf; tf.enable_eager_execution(); tf.enable_eager_execution(); print(tf.add(1, 2).numpy())")
        == "3\n"
    )
    message = "ValueError: tf.enable_eager_execution must be called at program startup."
    assert _run("import tfexp as tf; tf.constant(1); tf.enable_eager_execution()") == message
    anew = (
        "tf.train.get_or_create_global_step(); tf.reset_default_graph(); print(tf.train.get_global_step(), (x + 1).numpy())"
    )
    assert _run(f"import tfexp as tf; tf.enable_eager_execution(); x = tf.Variable(2); {anew}") == "None 3\n"
    called = "print(tf.py_func(lambda x: x * 2, [3.0], tf.float32).numpy())"
    assert _run(f"import tfexp as tf; tf.enable_eager_execution(); {called}") == "6.0\n"
    program = "import tensorflow.contrib.eager as tfe; tfe.enable_eager_execution(); print(tfe.num_gpus())"
    assert _run(f"from tfexp import as_tensorflow; as_tensorflow.install(); {program}") == "0\n"
