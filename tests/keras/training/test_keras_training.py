"""How models are trained: what is printed, masks, kinds of data, what is prepared when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import tfexp as tf
from tfexp.keras import layers as L
from tfexp.runtime.eager import eager_mode

_RANDOM = np.random.RandomState(0)
X = _RANDOM.rand(10, 3)
Y = _RANDOM.rand(10, 2)


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def linear(**compiled: Any) -> Any:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), name="a")])
    model.set_weights([np.ones((3, 2)), np.zeros(2)])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", **compiled)
    return model


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that were drawn, each once for every time it was drawn over, without numbers."""
    text = re.sub(r"\x08+|\r", "\n", capsys.readouterr().out)
    lines = [re.sub(r"\d+(\.\d+)?(e-?\d+)?(s|ms|us)/(sample|step)", r"T/\4", line) for line in text.split("\n")]
    return [re.sub(r" - \d+s", " - 0s", re.sub(r"\d+\.\d{4}", "N", line)).rstrip() for line in lines if line.strip()]


def test_progress_is_drawn_as_tensorflow_draws_it(capsys: pytest.CaptureFixture[str]) -> None:
    model = linear(metrics=["mae"])
    model.fit(X, Y, batch_size=4, epochs=2, validation_split=0.2)
    bar = "[" + "=" * 30 + "]"
    ended = f"8/8 {bar} - 0s T/sample - loss: N - mean_absolute_error: N - val_loss: N - val_mean_absolute_error: N"
    assert [line for line in shown(capsys) if "ETA" not in line] == [
        "Train on 8 samples, validate on 2 samples",
        "Epoch 1/2",
        ended,
        "Epoch 2/2",
        ended,
    ]
    model.fit(X, Y, verbose=2)
    model.evaluate(X, Y)
    model.predict(X, verbose=1)
    model.fit(tf.data.Dataset.from_tensors((X, Y)), verbose=2)
    assert shown(capsys) == [
        "Train on 10 samples",
        "10/10 - 0s - loss: N - mean_absolute_error: N",
        f"10/10 {bar} - 0s T/sample - loss: N - mean_absolute_error: N",
        f"10/10 {bar} - 0s T/sample",
        "Train on 1 steps",
        "1/1 - 0s - loss: N - mean_absolute_error: N",
    ]


def test_data_of_unknown_length_is_gone_through_whole(capsys: pytest.CaptureFixture[str]) -> None:
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5).filter(lambda x, y: True)
    seen: list[Any] = []
    told = tf.keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: seen.append(told.params["steps"]))
    linear().fit(data, epochs=2, callbacks=[told])
    assert seen == [None, 2]
    lines = shown(capsys)
    assert lines[0] == "Train on None steps"
    assert f"2/2 [{'=' * 30}] - 0s T/step - loss: N" in lines


def test_what_a_model_inside_was_compiled_with_is_not_reported() -> None:
    inner = linear(metrics=["mae"])
    outer = tf.keras.Sequential([inner])
    outer.compile("sgd", "mse")
    assert outer.metrics_names == ["loss"]
    assert outer.test_on_batch(X, Y) == pytest.approx(inner.test_on_batch(X, Y)[0])


def test_losses_are_masked_as_weights_of_nothing() -> None:
    steps = _RANDOM.rand(3, 4, 2)
    steps[0, 2:] = steps[2, 1:] = 0.0
    targets = _RANDOM.rand(3, 4, 1)
    model = tf.keras.Sequential([tf.keras.layers.Masking(input_shape=(4, 2)), tf.keras.layers.Dense(1)])
    kernel = np.array([[0.5], [-1.0]])
    model.set_weights([kernel, np.array([0.25])])
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mae"])
    mask = (steps != 0).any(-1)
    error = np.abs(steps @ kernel + 0.25 - targets)[..., 0]
    plain = model.evaluate(steps, targets, verbose=0)
    np.testing.assert_allclose(plain, [(error**2 * mask).sum() / 12, *[error[mask].mean()] * 2], rtol=1e-6)
    weights = np.array([1.0, 2.0, 3.0])
    both = mask * weights[:, np.newaxis]
    weighted = model.evaluate(steps, targets, sample_weight=weights, verbose=0)
    expected = [(error**2 * both).sum() / 12, error[mask].mean(), (error * both).sum() / both.sum()]
    np.testing.assert_allclose(weighted, expected, rtol=1e-6)


def test_lists_of_numbers_and_of_lists_are_arrays() -> None:
    model = linear()
    expected = model.predict(X)
    np.testing.assert_array_equal(model.predict([X]), expected)
    np.testing.assert_array_equal(model.predict({"a_input": X}), expected)
    np.testing.assert_array_equal(model.predict_on_batch(X), expected)
    one = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    np.testing.assert_array_equal(one.predict([1.0, 2.0]), [[1.0], [2.0]])


class _Rows:
    """Stands for a matrix of SciPy's, in which rows are looked up by places or ranges."""

    def __init__(self, dense: Any):
        self._dense = dense
        self.shape, self.dtype = dense.shape, dense.dtype

    def tocsr(self) -> Any:
        return self

    tocoo = tocsr

    def toarray(self) -> Any:
        return self._dense

    def __getitem__(self, which: Any) -> Any:
        return _Rows(self._dense[which])


def test_sparse_matrices_become_arrays_where_arrays_are_taken() -> None:
    model = linear()
    expected = [model.evaluate(X, Y, batch_size=4, verbose=0), model.predict(X)]
    assert model.evaluate(_Rows(X), _Rows(Y), batch_size=4, verbose=0) == expected[0]
    np.testing.assert_array_equal(model.predict(_Rows(X), batch_size=3), expected[1])
    np.testing.assert_array_equal(model.predict_on_batch(_Rows(X)), expected[1])
    model.fit(_Rows(X), _Rows(Y), batch_size=4, validation_split=0.5, verbose=0)


def test_sparse_inputs_take_sparse_matrices() -> None:
    given = tf.keras.Input((3,), sparse=True)
    model = tf.keras.Model(given, tf.keras.layers.Dense(2, kernel_initializer="ones")(given))
    model.compile("sgd", "mse")
    rows = sparse.random(8, 3, density=0.4, format="csr", random_state=1)
    np.testing.assert_allclose(model.predict(rows, batch_size=3), rows.toarray() @ np.ones((3, 2)), rtol=1e-6)
    dense = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones", input_shape=(3,))])
    dense.compile("sgd", "mse")
    histories = [one.fit(rows, Y[:8], batch_size=4, epochs=2, shuffle=False, verbose=0).history for one in (model, dense)]
    np.testing.assert_allclose(histories[0]["loss"], histories[1]["loss"], rtol=1e-6)


class _File:
    """Stands for rows in a file, which are read by ranges or by a list of places in increasing order."""

    def __init__(self, rows: Any):
        self._rows = rows
        self.shape, self.dtype = rows.shape, rows.dtype

    def __getitem__(self, which: Any) -> Any:
        assert isinstance(which, slice) or which == sorted(which)
        return self._rows[which]


def test_rows_of_files_are_read_in_order_and_shuffled_then() -> None:
    histories = []
    for data in (X, _File(X)):
        model = linear()
        np.random.seed(2)
        histories.append(model.fit(data, Y, batch_size=4, epochs=2, verbose=0).history["loss"])
    np.testing.assert_allclose(histories[0], histories[1], rtol=1e-6)


def test_what_is_trainable_is_decided_by_compile(caplog: pytest.LogCaptureFixture) -> None:
    model = linear()
    model.layers[0].trainable = False
    before = model.get_weights()
    model.train_on_batch(X, Y)
    assert "Discrepancy between trainable weights and collected trainable weights" in caplog.text
    assert np.abs(model.get_weights()[0] - before[0]).max() > 0
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.train_on_batch(X, Y)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_names_in_the_graph_are_tensorflows() -> None:
    model = linear(metrics=["mae"])
    model.fit(X, Y, sample_weight=np.ones(10), verbose=0)
    names = {operation.name for operation in tf.get_default_graph().get_operations()}
    assert {"a_target", "a_sample_weights", "loss/mul", "training/SGD/iter"} <= names
    assert model.total_loss.name == "loss/mul:0"
    assert model.metrics_names == ["loss", "mean_absolute_error"]


def test_a_model_is_prepared_by_its_first_data() -> None:
    layers = tf.keras.layers

    class Pair(tf.keras.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(2, kernel_initializer="ones")
            self.dropped = layers.Dropout(0.5)

        def call(self, inputs: Any, training: Any = None) -> Any:
            first, second = inputs
            return self.dropped(self.dense(first), training=training), self.dense(second)

    model = Pair()
    model.compile("sgd", ["mse", "mse"])
    assert model.total_loss is None
    assert model.metrics_names == ["loss"]
    with pytest.raises(ValueError, match=r"its first data|needs data"):
        model.fit()
    history = model.fit([X, X], [Y, Y], verbose=0)
    assert list(history.history) == ["loss", "output_1_loss", "output_2_loss"]
    first, second = model.predict([X, X])
    np.testing.assert_array_equal(first, second)  # nothing is dropped now


def test_predictions_need_no_compiling_and_follow_new_weights() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.set_weights([np.ones((3, 2)), np.zeros(2)])
    np.testing.assert_allclose(model.predict(X), X.sum(1, keepdims=True) * [1, 1], rtol=1e-6)
    model.set_weights([np.ones((3, 2)), np.ones(2)])
    np.testing.assert_allclose(model.predict(X), X.sum(1, keepdims=True) * [1, 1] + 1, rtol=1e-6)


def test_optimizers_of_tf_train_take_the_steps() -> None:
    model = linear()
    other = linear()
    other.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    losses = [one.fit(X, Y, epochs=3, shuffle=False, verbose=0).history["loss"] for one in (model, other)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-6)


def test_threads_that_make_batches_end_with_training() -> None:
    ended: list[bool] = []

    def batches() -> Iterator[Any]:
        try:
            while True:
                yield X, Y
        finally:
            ended.append(True)

    class Interrupting(tf.keras.callbacks.Callback):  # type: ignore[misc,name-defined]
        def on_batch_end(self, batch: int, logs: Any = None) -> None:
            raise KeyboardInterrupt

    made = batches()
    with pytest.raises(KeyboardInterrupt):
        linear().fit(made, steps_per_epoch=5, verbose=0, callbacks=[Interrupting()])
    made.close()  # ValueError if a thread were running it still
    assert ended == [True]


def test_a_callback_ends_training_in_the_middle_of_an_epoch() -> None:
    model = linear()
    seen: list[int] = []

    def stop(batch: int, logs: Any) -> None:
        seen.append(batch)
        model.stop_training = batch == 1

    stopping = tf.keras.callbacks.LambdaCallback(on_batch_end=stop)
    history = model.fit(X, Y, batch_size=2, epochs=4, verbose=0, validation_data=(X, Y), callbacks=[stopping])
    assert seen == [0, 1]
    assert list(history.history) == ["loss"]


def test_eager_models_are_trained_on_eager_tensors_and_datasets() -> None:
    with eager_mode():
        model = linear(run_eagerly=True)
        assert model.run_eagerly
        assert model.total_loss is None
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5)
        first = model.evaluate(tf.constant(X, tf.float32), tf.constant(Y, tf.float32), verbose=0)
        np.testing.assert_allclose(model.evaluate(data, verbose=0), first, rtol=1e-6)
        losses = model.fit(data.repeat(), steps_per_epoch=2, epochs=3, verbose=0, validation_data=data).history
        assert losses["val_loss"] == sorted(losses["val_loss"], reverse=True)
        np.testing.assert_array_equal(model.predict(data), model.predict(X))


def test_who_runs_eagerly() -> None:
    model = tf.keras.Sequential([L.Dense(1, input_dim=2)])
    model.run_eagerly = True
    with pytest.raises(ValueError, match="if eager execution is enabled"):
        _ = model.run_eagerly
    with eager_mode():
        assert model.run_eagerly is True
        dynamic = tf.keras.Sequential([L.Dense(1, dynamic=True)])
        assert dynamic.run_eagerly is True
        with pytest.raises(ValueError, match="You cannot set `run_eagerly=False`"):
            dynamic.compile("sgd", "mse", run_eagerly=False)
        with pytest.raises(ValueError, match="target_tensors argument is not supported"):
            model.compile("sgd", "mse", target_tensors=[tf.constant([[1.0]])], run_eagerly=True)
        model = tf.keras.Sequential([L.Dense(1, input_dim=2)])
        assert model.run_eagerly is False
        with pytest.raises(ValueError, match="cannot be compiled because it has no loss to optimize"):
            model.compile("sgd")
        model.compile("sgd", run_eagerly=True)  # its calls may leave losses
        assert model.predict(np.ones((3, 2))).shape == (3, 1)
        with pytest.raises(ValueError, match="cannot be run because it has no loss to optimize"):
            model.train_on_batch(np.ones((3, 2)))


def test_what_is_held_out_weighs_as_its_classes() -> None:
    x, y = np.ones((4, 2), np.float32), np.array([[0.0], [0.0], [0.0], [1.0]], np.float32)
    model = tf.keras.Sequential([L.Dense(1, input_dim=2, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    history = model.fit(x, y, class_weight={0: 1.0, 1: 3.0}, validation_split=0.25, verbose=0).history
    assert history["val_loss"] == [3.0]


def test_targets_are_checked_where_the_shapes_are_known() -> None:
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    model = tf.keras.Sequential([L.Dense(3)])
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)  # which broadcasts
    model = tf.keras.Sequential([L.Dense(3, input_dim=2)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="was passed for an output of shape"):
        model.fit(x, y, verbose=0)


def test_nested_lists_of_numbers_are_arrays_in_eager_execution() -> None:
    rows, targets = X.tolist(), Y.tolist()
    with eager_mode():
        model = linear()
        assert model.evaluate(rows, targets, verbose=0) == model.evaluate(X, Y, verbose=0)
        np.testing.assert_array_equal(model.predict(rows), model.predict(X))
        history = model.fit(rows, targets, validation_data=(rows, targets), verbose=0).history
        assert history["val_loss"] == pytest.approx([model.evaluate(X, Y, verbose=0)])
        with pytest.raises(ValueError, match="is not the size the model expected"):
            model.evaluate(rows, Y, verbose=0)
    with pytest.raises(ValueError, match="is not the size the model expected"):
        linear().predict(rows)


def test_a_model_has_the_tensors_of_announced_weights() -> None:
    assert linear().sample_weights == [None]
    given = tf.keras.Input((2, 3))
    model = tf.keras.Model(given, [tf.keras.layers.Dense(1, name="b")(given), tf.keras.layers.Dense(1, name="c")(given)])
    model.compile("sgd", "mse", sample_weight_mode={"b": None, "c": "temporal"})
    none, weights = model.sample_weights
    assert none is None and weights.op.name == "c_sample_weights"
    with eager_mode():
        assert linear().sample_weights == [None]


@pytest.mark.parametrize("eagerly", [None, True])
def test_what_was_trainable_when_a_model_was_compiled_is_trained(eagerly: bool | None) -> None:
    with eager_mode():
        model = tf.keras.Sequential([L.Dense(1, input_shape=(2,)), L.Dense(1)])
        model.layers[1].trainable = False
        model.compile("sgd", "mse", run_eagerly=eagerly)
        model.trainable = False
        model.layers[1].trainable = True
        model.set_weights([np.ones((2, 1)), np.zeros(1), np.ones((1, 1)), np.zeros(1)])
        model.fit(np.ones((1, 2)), np.zeros((1, 1)), verbose=0)
        assert [float(values.max()) for values in model.get_weights()] == pytest.approx([0.96, -0.04, 1, 0])
        assert not model.layers[0].trainable and model.layers[1].trainable


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("kind", ["dataset", "generator", "sequence"])
def test_a_model_without_known_inputs_reports_its_metrics_from_the_first_epoch_on(kind: str, eagerly: bool) -> None:
    class Batches(tf.keras.utils.Sequence):  # type: ignore[misc,name-defined]
        def __len__(self) -> int:
            return 2

        def __getitem__(self, number: int) -> Any:
            return X[number * 5 : number * 5 + 5], Y[number * 5 : number * 5 + 5]

    class Told(tf.keras.callbacks.Callback):  # type: ignore[misc,name-defined]
        def on_train_begin(self, logs: Any = None) -> None:
            self.names = self.params["metrics"]

    with eager_mode() if eagerly else tf.Graph().as_default():
        model, told = tf.keras.Sequential([L.Dense(2, kernel_initializer="ones")]), Told()
        model.compile(tf.keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
        data = {
            "dataset": lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(5),
            "generator": lambda: (Batches()[number % 2] for number in range(4)),
            "sequence": Batches,
        }[kind]()
        history = model.fit(data, steps_per_epoch=2, epochs=2 if kind != "dataset" else 1, verbose=0, callbacks=[told])
        name = model.metrics_names[1]
        assert told.names == ["loss", name]
        expected = np.abs(X.sum(1, keepdims=True) - Y).mean()
        np.testing.assert_allclose(history.history[name], [expected] * len(history.history["loss"]), rtol=1e-5)


def test_steps_of_validation_without_data_are_refused_in_a_graph() -> None:
    with pytest.raises(ValueError, match="`validation_steps` should not be specified if `validation_data` is None"):
        linear().fit(X, Y, validation_steps=3, verbose=0)
    linear().fit(X, Y, validation_split=0.5, validation_steps=1, verbose=0)


def test_data_without_a_batch_end_before_the_first_step(capsys: pytest.CaptureFixture[str]) -> None:
    model = tf.keras.Sequential([L.Dense(2)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="Empty training data"):
        model.fit(iter(()), steps_per_epoch=2, verbose=0)
    with pytest.raises(ValueError, match="1 or 2 or 3 elements"):
        model.fit(iter([(1, 2, 3, 4)]), steps_per_epoch=2, verbose=0)


def test_a_batch_of_a_dataset_is_its_first_and_of_an_iterator_its_next() -> None:
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    first, second = linear(), linear()
    losses = [first.train_on_batch(data) for _ in range(2)]
    assert losses == [second.train_on_batch(X[:4], Y[:4]) for _ in range(2)]
    assert first.test_on_batch(data) == second.test_on_batch(X[:4], Y[:4])
    iterator = tf.data.make_one_shot_iterator(data)
    for rows in (slice(0, 4), slice(4, 8)):
        np.testing.assert_array_equal(first.predict_on_batch(iterator), second.predict_on_batch(X[rows]))
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        first.test_on_batch(tf.data.make_one_shot_iterator(data.take(0)))
    with pytest.raises(ValueError, match="should not specify a target"):
        first.train_on_batch(data, Y)


def test_a_sequence_without_workers_is_not_told_of_epochs() -> None:
    class Batches(tf.keras.utils.Sequence):  # type: ignore[misc,name-defined]
        def __len__(self) -> int:
            return 2

        def __getitem__(self, number: int) -> Any:
            return X[number * 5 : number * 5 + 5], Y[number * 5 : number * 5 + 5]

        def on_epoch_end(self) -> None:
            raise AssertionError("as it would be by those who make batches ahead")

    with tf.Graph().as_default():
        model = tf.keras.Sequential([L.Dense(2, input_shape=(3,))])
        model.compile("sgd", "mse")
        assert len(model.fit(Batches(), epochs=3, workers=0, verbose=0).epoch) == 3
