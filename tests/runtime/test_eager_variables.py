"""Variables in eager execution: assignments, slices, stores. Numbers recorded from TensorFlow."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.defaults import new_eager_world
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


tfe = tf.contrib.eager

MATRIX = [[1.0, 2.0], [3.0, 4.0]]


def test_a_variable_has_its_value_at_once():
    v = tf.Variable(1.5, name="v")
    assert repr(v) == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=1.5>"
    assert "numpy=<unprintable>" in repr(v.handle) and str(v.handle).startswith("tf.Tensor(<unprintable>, ")
    assert v.numpy() == np.float32(1.5)
    assigned = v.assign(3.0)
    assert repr(assigned) == "<tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=3.0>"
    assert assigned.handle is v.handle
    assert assigned.op is v.assign(3.0, read_value=False) is None
    v.assign_add(1.0)
    assert float(v * 2.0) == 8.0
    assert tf.Variable(1.0).name == tf.Variable(1.0).name == "Variable:0"
    assert tf.global_variables() == []
    assert tf.global_variables_initializer() is None
    with pytest.raises(RuntimeError, match="Trying to eval in EAGER mode"):
        v.eval()


@pytest.mark.parametrize("name", ["<lambda>", "a b", "-a", "/a"])
def test_only_a_variable_s_name_has_to_be_one_of_a_node(name):
    with tf.name_scope("outer"), tf.name_scope(name) as scope:
        assert scope == f"outer/{name}/"
        assert tf.range(tf.add(1, 2, name=name)).numpy().tolist() == [0, 1, 2]
    with tf.name_scope(name), pytest.raises(ValueError, match=f"'{name}/v/' is not a valid scope name"):
        tf.Variable(1.0, name="v")


@pytest.mark.parametrize("attribute", ["op", "graph"])
def test_what_only_variables_of_graphs_have(attribute):
    for variable in (tf.Variable(MATRIX), tf.get_variable("v", [2]), tf.train.get_or_create_global_step()):
        assert not hasattr(variable, attribute)
        with pytest.raises(AttributeError, match=rf"^Tensor\.{attribute} is meaningless when eager execution is enabled\.$"):
            getattr(variable, attribute)
        with pytest.raises(RuntimeError, match=r"^Calling create is not supported when eager execution is enabled\.$"):
            variable.create  # noqa: B018


def test_what_keeps_averages_and_slots_of_variables_does_without_their_nodes(tmp_path):
    v = tf.Variable(1.0, name="v")
    average = tf.train.ExponentialMovingAverage(0.5)
    average.apply([v])
    optimizer = tf.train.MomentumOptimizer(0.5, 0.9)
    optimizer.apply_gradients([(tf.constant(2.0), v)], global_step=tf.train.get_or_create_global_step())
    average.apply([v])
    assert (v.numpy(), average.average(v).numpy()) == (0.0, 0.5)
    assert optimizer.get_slot(v, "momentum").name == "v/Momentum:0"
    assert [one.numpy() for one in optimizer.variables()] == [2.0]
    path = tf.train.Saver([v, tf.train.get_global_step()]).save(None, str(tmp_path / "model"))
    assert dict(tf.train.list_variables(path)) == {"v": [], "global_step": []}
    with pytest.raises(TypeError, match=r"does not support non-Variable tensors when eager execution is enabled\.$"):
        average.apply([v.read_value()])


def test_optimizers_update_no_values():
    value = tf.constant(1.0)
    with pytest.raises(NotImplementedError) as caught:
        tf.train.GradientDescentOptimizer(0.1).apply_gradients([(value, value)])
    assert caught.value.args[0] == "Trying to update a Tensor " and caught.value.args[1] is value


def test_a_value_that_was_read_does_not_follow_the_variable():
    v = tf.Variable([1.0, 2.0, 3.0])
    read, part = v.read_value(), tf.reshape(v, [3, 1])
    v.assign_add([1.0, 1.0, 1.0])
    v.scatter_update(tf.IndexedSlices(tf.constant([9.0]), tf.constant([0])))
    np.testing.assert_array_equal(read.numpy(), [1, 2, 3])
    np.testing.assert_array_equal(part.numpy(), [[1], [2], [3]])
    np.testing.assert_array_equal(v.numpy(), [9, 3, 4])


def test_updates_are_in_place_where_nobody_looks():
    v = tf.Variable(np.zeros(1000, np.float32))
    buffer = v._ref()._value
    v.assign_add(np.ones(1000, np.float32))
    address = buffer.value.ctypes.data
    for _ in range(3):
        v.assign_add(np.ones(1000, np.float32))
    assert buffer.value.ctypes.data == address


def test_slices_of_a_variable_are_assigned():
    v = tf.Variable(np.zeros((2, 3), np.float32))
    v[1, 1:].assign([5.0, 6.0])
    np.testing.assert_array_equal(v.numpy(), [[0, 0, 0], [0, 5, 6]])


def test_every_slice_of_a_variable_can_be_assigned():
    row = tf.Variable(1)
    for start in (tf.zeros([2, 3]), tf.zeros([2, 3])):
        v = tf.Variable(start)
        tf.assign(v[row, :2], [5.0, 6.0])
        v[0, ::2].assign([1.0, 2.0])
        np.testing.assert_array_equal(v.numpy(), [[1, 0, 2], [5, 6, 0]])
        assert not hasattr(v[v > 1.0], "assign")


def test_get_variable_shares_only_in_a_store():
    def get():
        return tf.get_variable("g", [2], initializer=tf.zeros_initializer())

    assert get() is not get()
    store = tfe.EagerVariableStore()
    with store.as_default():
        assert get() is get()
    with tf.variable_scope("scope"):
        assert get().name == "scope/g:0"
    assert [v.name for v in store.trainable_variables()] == ["g:0"]


def test_collections_hold_what_a_program_adds_and_what_a_store_keeps():
    with new_eager_world().as_default():
        tf.Variable(1.0)
        tf.add_to_collection("mine", 3)
        tf.get_variable("x", [2], regularizer=tf.reduce_sum, collections=["mine"])
        tf.layers.dense(tf.ones([1, 2]), 2, kernel_regularizer=tf.reduce_sum)
        tf.losses.mean_squared_error([1.0], [2.0])
        assert tf.get_collection("mine") == [3] and tf.losses.get_losses() == tf.global_variables() == []
        with tfe.EagerVariableStore().as_default():
            z = tf.get_variable("z", [2], regularizer=tf.reduce_sum, initializer=tf.ones_initializer())
            y = tf.get_variable("y", [2], collections=["mine"])
        assert tf.global_variables() == [z] and tf.trainable_variables() == [z, y]
        assert tf.get_collection("mine") == [3, y]
        assert [loss.numpy() for loss in tf.losses.get_regularization_losses()][1:] == [2]
        step = tf.train.create_global_step()
        assert tf.train.get_global_step() is step and tf.global_variables() == [z]


def test_reuse_is_up_to_the_store():
    store = tfe.EagerVariableStore()
    with tf.variable_scope("scope", reuse=True) as scope:
        assert scope.reuse is tf.AUTO_REUSE
        assert tf.get_variable("g", [2]) is not tf.get_variable("g", [2])
        with store.as_default():
            assert tf.get_variable("h", [2]) is scope.get_variable(store._store, "h", reuse=False)


def test_custom_gradients_have_those_of_the_variables_that_are_read():
    v, x = tf.Variable(2.0), tf.constant(1.5)

    @tf.custom_gradient
    def scaled(x, by=1.0):
        return x * v * by, lambda dy, variables=None: (dy * 10, [dy * 7 for _ in variables])

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    assert [g.numpy() for g in tape.gradient(y, [x, v])] == [10, 7]
    assert scaled(x, by=3.0).numpy() == 9
    with pytest.raises(TypeError, match="must accept a keyword argument 'variables'"):
        tf.custom_gradient(lambda x: (x * v, lambda dy: dy))(x)


@pytest.mark.parametrize(
    ("value", "text"),
    [([1, "a"], "with mixed types"), (2**70, "out-of-range integer"), ({1: 2}, "with an unsupported type")],
)
def test_values_of_no_dtype_are_value_errors(value, text):
    with pytest.raises(ValueError, match=text):
        tf.constant(value)
