"""The state that Keras's layers share: settings, names, the learning phase, sessions and functions."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.graph import Graph
from tfexp.keras import backend as K
from tfexp.keras.backend import config
from tfexp.runtime.eager import eager_mode

ONES = np.ones(2)


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with Graph().as_default():
        yield
    K.set_session(None)


# --- settings ----------------------------------------------------------------------------------------------------------


def test_settings() -> None:
    assert (K.floatx(), K.epsilon(), K.image_data_format(), K.backend()) == ("float32", 1e-7, "channels_last", "tensorflow")
    try:
        K.set_floatx("float64")
        K.set_epsilon(1e-3)
        K.set_image_data_format("channels_first")
        assert K.constant(1).dtype == tf.float64
        assert K.cast_to_floatx([1]).dtype == np.float64
        assert (K.epsilon(), K.image_data_format()) == (1e-3, "channels_first")
    finally:
        K.set_floatx("float32")
        K.set_epsilon(1e-7)
        K.set_image_data_format("channels_last")
    with pytest.raises(ValueError, match="int8"):
        K.set_floatx("int8")
    with pytest.raises(ValueError, match="sideways"):
        K.set_image_data_format("sideways")


def test_the_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_floatx", "_epsilon", "_image_data_format"):
        monkeypatch.setattr(config, name, getattr(config, name))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    config._read_file()  # there is none
    (tmp_path / "keras.json").write_text('{"floatx": "float16", "epsilon": 0.01, "backend": "theano"}')
    config._read_file()
    assert (K.floatx(), K.epsilon(), K.image_data_format()) == ("float16", 0.01, "channels_last")
    (tmp_path / "keras.json").write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        config._read_file()


# --- names -------------------------------------------------------------------------------------------------------------


def test_numbers_of_names() -> None:
    assert [K.get_uid("dense"), K.get_uid("dense"), K.get_uid()] == [1, 2, 1]
    with Graph().as_default():
        assert K.get_uid("dense") == 1
    assert K.get_uid("dense") == 3
    K.reset_uids()
    assert K.get_uid("dense") == 1


def test_unique_names() -> None:
    assert [K.unique_object_name("dense") for _ in range(2)] == ["dense_1", "dense_2"]
    assert [K.unique_object_name("relu", zero_based=True) for _ in range(3)] == ["relu", "relu_1", "relu_2"]
    assert K.unique_object_name("dense", avoid_names={"dense_3"}) == "dense_4"
    assert K.unique_object_name("dense", namespace="inner") == "dense_1"
    assert K.unique_object_name("dense", name_uid_map={}) == "dense_1"


# --- the learning phase ------------------------------------------------------------------------------------------------


def test_the_phase_is_a_placeholder_of_the_graph() -> None:
    with tf.name_scope("inside"):
        phase = K.learning_phase()
    assert phase.name == "keras_learning_phase:0"
    assert phase.dtype == tf.bool
    assert K.learning_phase() is phase
    assert K.fed_learning_phase(tf.get_default_graph()) is phase
    x = K.placeholder((2,))
    run = K.function([x, phase], [K.in_train_phase(x + 1, x - 1), K.in_test_phase(lambda: x * 2, lambda: x * 3)])
    assert [v.tolist() for v in run([ONES, 1])] == [[2, 2], [3, 3]]
    assert [v.tolist() for v in run([ONES, 0])] == [[0, 0], [2, 2]]
    assert K.get_session().run(K.in_train_phase(x + 1, x - 1), {x: ONES}).tolist() == [0, 0]


def test_the_phase_can_be_set() -> None:
    assert K.fed_learning_phase(tf.get_default_graph()) is None
    with K.learning_phase_scope(1):
        assert K.learning_phase() == 1
        assert K.in_train_phase("x", "alt") == "x"
    assert isinstance(K.learning_phase(), tf.Tensor)
    K.set_learning_phase(0)
    assert K.learning_phase() == 0
    assert K.in_train_phase("x", lambda: "alt") == "alt"
    assert K.in_train_phase("x", "alt", training=True) == "x"
    with pytest.raises(ValueError, match="Expected learning phase to be 0 or 1"), K.learning_phase_scope(2):
        pass


def test_the_phase_while_ops_run_at_once() -> None:
    with eager_mode():
        assert K.learning_phase() == 0
        with K.learning_phase_scope(1):
            assert K.learning_phase() == 1
        assert K.learning_phase() == 0


# --- sessions ----------------------------------------------------------------------------------------------------------


def test_variables_are_initialized_once() -> None:
    first = K.variable([1.0, 2.0], name="first")
    assert first.name == "first:0"
    session = K.get_session()
    assert session.graph is tf.get_default_graph()
    assert K.get_value(first).tolist() == [1, 2]
    session.run(first.assign([5.0, 6.0]))
    second = K.variable(3.0)
    assert [np.asarray(v).tolist() for v in K.batch_get_value([first, second])] == [[5, 6], 3]
    assert K.get_session() is session


def test_the_programs_session_comes_first() -> None:
    variable = K.variable(1.0)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        sess.run(variable.assign(7.0))
        assert K.get_session() is sess
        assert K.get_value(variable) == 7
    with tf.Session() as other:
        K.set_session(other)
    assert K.get_session() is not other  # it is closed by now
    with Graph().as_default():
        assert K.get_session().graph is tf.get_default_graph()
    assert K.get_session([variable]).graph is variable.graph


def test_a_device_that_is_not_there() -> None:
    with tf.device("/gpu:7"):
        assert K.get_value(K.variable([1.0, 2.0]) * 2).tolist() == [2, 4]


def test_variables_of_replicas() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})):
        with strategy.scope():
            v = K.variable([1.0, 2.0])
        K.set_value(v, [3, 4])
        assert K.get_value(v).tolist() == [3, 4]
        assert [K.get_value(copy).tolist() for copy in v._every_copy] == [[3, 4]] * 2


def test_manual_initialization() -> None:
    variable = K.variable(1.0)
    K.manual_variable_initialization(True)
    try:
        with pytest.raises(tf.errors.FailedPreconditionError):
            K.get_value(variable)
    finally:
        K.manual_variable_initialization(False)
    assert K.get_value(variable) == 1


def test_setting_values() -> None:
    first, second = K.variable([1.0, 2.0]), K.variable(3, dtype="int32")
    count = len(tf.get_default_graph().get_operations())
    K.get_session()
    K.batch_set_value([(first, [4, 5]), (second, 6)])
    assert K.get_value(first).tolist() == [4, 5]
    K.set_value(second, 8)
    assert K.get_value(second) == 8
    assert len(tf.get_default_graph().get_operations()) == count + 2  # whether the two have values
    with pytest.raises(ValueError, match="shape"):
        K.set_value(first, [1, 2, 3])
    same = tf.constant([0.0, 0.0])
    third, fourth = K.variable(same), K.variable(same)
    K.batch_set_value([(third, [1, 2]), (fourth, [3, 4])])
    assert [v.tolist() for v in K.batch_get_value([third, fourth])] == [[1, 2], [3, 4]]
    K.batch_set_value([])
    assert K.get_value(4) == 4
    assert K.batch_get_value([]) == []


def test_values_while_ops_run_at_once() -> None:
    with eager_mode():
        variable = K.variable([1.0, 2.0])
        K.set_value(variable, [3, 4])
        assert K.get_value(variable).tolist() == [3, 4]
        assert K.batch_get_value([variable])[0].tolist() == [3, 4]
        assert K.eval(variable * 2).tolist() == [6, 8]
        assert not K.placeholder((2,)).graph.is_eager


def test_functions_have_no_session() -> None:
    @tf.function
    def f() -> Any:
        return K.get_session()

    with pytest.raises(RuntimeError, match="Cannot get session inside Tensorflow graph function"):
        f()


def test_clearing() -> None:
    with pytest.raises(AssertionError, match="nested graphs"):
        K.clear_session()

    def elsewhere() -> list[Any]:
        """In a thread of its own, where the default graph is the process's."""
        K.set_learning_phase(1)
        before = [tf.get_default_graph(), K.get_uid("dense"), K.get_session()]
        K.clear_session()
        after = [tf.get_default_graph(), K.get_uid("dense"), K.get_session()]
        return [a is b for a, b in zip(before, after, strict=True)] + [K.learning_phase().op.type]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == [False, True, False, "PlaceholderWithDefault"]


@pytest.mark.usefixtures("only_new_garbage")
def test_a_graph_is_forgotten_with_what_is_kept_for_it() -> None:
    with Graph().as_default() as graph:
        K.get_uid("dense")
        K.learning_phase()
        K.get_value(K.variable(1.0))
    K.set_session(None)
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None


# --- functions ---------------------------------------------------------------------------------------------------------


def test_structures_of_inputs_and_outputs() -> None:
    x, y = K.placeholder((2,)), K.placeholder((2,))
    run = K.function([x, y], [x + y, {"product": x * y}])
    total, rest = run([ONES, [3, 4]])
    assert total.tolist() == [4, 5]
    assert rest["product"].tolist() == [3, 4]
    assert K.function(x, x + 1)(ONES).tolist() == [2, 2]
    assert K.function(x, x + 1)([ONES]).tolist() == [2, 2]
    assert K.function({"a": x}, x + 1)({"a": ONES}).tolist() == [2, 2]
    assert K.function([x], [])([ONES]) == []
    assert K.function([x], [x + 1])(ONES)[0].tolist() == [2, 2]
    with pytest.raises(ValueError, match="takes 2 values"):
        run([ONES])


def test_updates_come_after_outputs() -> None:
    x, v, w = K.placeholder((2,)), K.variable([0.0, 1.0]), K.variable(0.0)
    run = K.function([x], [v + x], updates=[(v, v + x), w.assign_add(2.0)])
    assert run([ONES])[0].tolist() == [1, 2]
    assert run([ONES])[0].tolist() == [2, 3]
    assert K.get_value(v).tolist() == [2, 3]
    assert K.get_value(w) == 4


def test_feeds_and_fetches_besides() -> None:
    x, y = K.placeholder((2,)), K.placeholder((2,))
    feeds = {y: ONES * 3}
    run = K.function([x], [x + y], feed_dict=feeds, fetches=[x * y])
    seen: list[Any] = []
    run.fetch_callbacks[run.fetches[0]] = seen.append
    assert run([ONES])[0].tolist() == [4, 4]
    feeds[y] = ONES * 5
    assert run([ONES])[0].tolist() == [6, 6]
    assert [v.tolist() for v in seen] == [[3, 3], [5, 5]]
    run.fetches.clear()
    assert run([ONES])[0].tolist() == [6, 6]
    assert len(seen) == 2


def test_run_options() -> None:
    x, metadata = K.placeholder((2,)), tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    run = K.function([x], [x * 2], options=options, run_metadata=metadata)
    run([ONES])
    assert metadata.step_stats.dev_stats


def test_tensors_as_values() -> None:
    x = K.placeholder((2,))
    assert K.function([x], [x * 2])([K.constant([3.0, 4.0])])[0].tolist() == [6, 8]


def test_sparse_values() -> None:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(np.array([[0, 2.0], [3, 0]], np.float32))
    x = K.placeholder((2, 2), sparse=True)
    assert K.is_sparse(x)
    assert K.is_placeholder(x)
    assert K.function([x], [K.to_dense(x)])([matrix])[0].tolist() == [[0, 2], [3, 0]]
    held = K.variable(matrix)
    assert K.eval(held).tolist() == [[0, 2], [3, 0]]
    assert K.eval(K.dot(held, K.constant([[1.0], [1.0]]))).tolist() == [[2], [3]]


def test_a_function_follows_the_session() -> None:
    x, v = K.placeholder((2,)), K.variable(1.0)
    run = K.function([x], [x * v])
    assert run([ONES])[0].tolist() == [1, 1]
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(v.assign(3.0))
        assert run([ONES])[0].tolist() == [3, 3]
    assert run([ONES])[0].tolist() == [1, 1]


# --- variables and placeholders ----------------------------------------------------------------------------------------


def test_what_tensors_are() -> None:
    x = K.placeholder((2, None), name="x")
    assert (x.name, K.dtype(x), K.ndim(x), K.int_shape(x)) == ("x:0", "float32", 2, (2, None))
    assert K.int_shape(K.placeholder()) is None
    assert K.ndim(K.placeholder()) is None
    assert K.int_shape(np.ones((2, 3))) == (2, 3)
    assert K.int_shape(K.placeholder(ndim=2)) == (None, None)
    assert K.count_params(K.zeros((2, 3))) == 6
    assert not K.is_keras_tensor(x)
    assert K.placeholder((2, None), ragged=True).ragged_rank == 1
    with pytest.raises(ValueError, match="both sparse and ragged"):
        K.placeholder((2,), sparse=True, ragged=True)


def test_zeros_of_unknown_size_are_no_variable() -> None:
    assert isinstance(K.zeros((2,)), tf.Variable)
    assert isinstance(K.ones((K.placeholder((), dtype="int32"), 2)), tf.Tensor)


def test_random_numbers_follow_numpys_seed() -> None:
    def drawn() -> list[float]:
        np.random.seed(3)
        with Graph().as_default():
            tensors = [K.random_uniform((2,)), K.random_normal((2,)), K.random_binomial((2,), 0.5), K.truncated_normal((2,))]
            variables = [K.random_uniform_variable((2,), 1, 2), K.random_normal_variable((2,), 0, 1)]
            return [number for tensor in [*tensors, *variables] for number in K.eval(tensor).tolist()]

    first = drawn()
    assert drawn() == first
    # What TensorFlow's Keras draws.
    np.testing.assert_allclose(first[:4], [0.6614479, 0.2976079, -0.6071766, -1.2791483], rtol=1e-5)


def test_updates_of_variables() -> None:
    v = K.variable([1.0])
    session = K.get_session()
    assert session.run(K.update(v, [2.0])).tolist() == [2]
    assert session.run(K.update_add(v, [2.0])).tolist() == [4]
    assert session.run(K.update_sub(v, [1.0])).tolist() == [3]
    average = K.moving_average_update(v, K.constant([2.0]), 0.9)
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(average), [2], rtol=1e-5)  # as if it had started without a bias


def test_printing(capfd: pytest.CaptureFixture[str]) -> None:
    assert K.eval(K.print_tensor(K.constant([1.0, 2.0]), "here:")).tolist() == [1, 2]
    assert capfd.readouterr().out == "here: [1 2]\n"


def test_gradients() -> None:
    x = K.constant([1.0, 2.0])
    assert K.eval(K.gradients(K.sum(x * x), [x])[0]).tolist() == [2, 4]
    assert K.gradients(K.sum(K.stop_gradient(x)), [x]) == [None]


def test_slots_of_an_optimizer_are_initialized_too() -> None:
    class Wrapper:
        optimizer = tf.train.AdamOptimizer()

    wrapper, v = Wrapper(), K.variable([1.0, 2.0])
    K.track_tf_optimizer(wrapper)
    step = wrapper.optimizer.minimize(K.sum(v * v), var_list=[v])
    K.get_session().run(step)
    assert (K.get_value(v) < [1, 2]).all()


def test_functions_while_ops_run_at_once() -> None:
    with eager_mode():
        x = tf.keras.Input((3,))
        hidden = tf.keras.layers.Dense(2, kernel_initializer="ones")(x)
        out = tf.keras.layers.Dropout(0.5)(hidden)
        assert [v.tolist() for v in K.function([x], [hidden, out])([np.ones((1, 3))])] == [[[3, 3]], [[3, 3]]]
        assert K.function(x, {"h": hidden})(np.ones((1, 3)))["h"].tolist() == [[3, 3]]
        with pytest.raises(ValueError, match="not supported during eager execution"):
            K.function([x], [out], updates=[out])


def test_a_function_takes_what_the_graph_did_not_foresee() -> None:
    with tf.Graph().as_default():
        x = K.placeholder((None, 2))
        doubled = K.function([x], [x * 2.0, tf.shape(x)])([np.ones((3, 5))])
        assert [one.tolist() for one in doubled] == [[[2.0] * 5] * 3, [3, 5]]
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            K.get_session().make_callable(x, [x])(np.ones((3, 5)))
