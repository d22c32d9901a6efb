"""What batches an epoch has, in graphs and in eager execution, where all data of a compiled model come through datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

X = np.arange(60, dtype=np.float32).reshape(20, 3)
Y = np.where(np.arange(40).reshape(20, 2) < 36, 1.0, 30.0).astype(np.float32)


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


class Sizes(tf.keras.callbacks.Callback):  # type: ignore[misc,name-defined]
    """The size and the loss of each batch that is trained on, and of each that is tested on."""

    def __init__(self) -> None:
        super().__init__()
        self.trained: list[int] = []
        self.tested: list[int] = []
        self.losses: list[float] = []
        self.first_params: dict[str, Any] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        self.first_params = dict(self.params)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.trained.append(logs["size"])

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self.tested.append(logs["size"])
        self.losses.append(logs["loss"])


def nothing_learned() -> Any:
    """A model whose output stays 0, so that the loss of a batch is the mean of its squared targets."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="zeros", input_shape=(3,))])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    return model


def dataset(size: int = 6) -> Any:
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(size)


def fitted(*data: Any, **arguments: Any) -> tuple[Sizes, dict[str, Any]]:
    sizes = Sizes()
    history = nothing_learned().fit(*data, shuffle=False, verbose=0, callbacks=[sizes], **arguments)
    return sizes, history.history


BY_SAMPLES = np.square(Y).mean()
BY_BATCHES = np.mean([np.square(Y[start : start + 6]).mean() for start in range(0, 20, 6)])


def test_steps_cut_arrays_in_eager_execution() -> None:
    with eager_mode():
        sizes, history = fitted(X, Y, steps_per_epoch=2)
        assert (sizes.trained, sizes.first_params["batch_size"], sizes.first_params["samples"]) == ([10, 10], 10, 20)
        np.testing.assert_allclose(history["loss"], [BY_SAMPLES], rtol=1e-6)
        np.testing.assert_array_equal(nothing_learned().predict(X, steps=4), np.zeros((20, 2)))
        with pytest.raises(ValueError, match="The number of samples 20 is not divisible by steps 3"):
            fitted(X, Y, steps_per_epoch=3)
        with pytest.raises(ValueError, match=r"Number of samples 20 is less than samples required for .* 4 and steps 7"):
            fitted(X, Y, steps_per_epoch=7, batch_size=4)
    sizes, history = fitted(X, Y, steps_per_epoch=3, batch_size=4)
    assert (sizes.trained, sizes.first_params["batch_size"], sizes.first_params["samples"]) == ([1, 1, 1], 4, 3)


def test_epochs_of_fewer_steps_go_on_in_the_arrays() -> None:
    with eager_mode():
        sizes, history = fitted(X, Y, steps_per_epoch=3, batch_size=6, epochs=3)
    assert sizes.trained == [6, 6, 6, 2, 6, 6, 6, 2, 6]
    np.testing.assert_allclose(history["loss"], [1.0, (900 * 2 + 12) / 14, (6 + 900 * 2 + 6) / 14], rtol=1e-6)


def test_what_is_tested_on_is_cut_as_what_is_trained_on() -> None:
    with eager_mode():
        assert fitted(X, Y, batch_size=8, validation_data=(X, Y))[0].tested == [8, 8, 4]
        assert fitted(X, Y, batch_size=8, validation_data=(X, Y), validation_steps=2)[0].tested == [8, 8]
        assert fitted(X, Y, steps_per_epoch=2, validation_data=(X, Y))[0].tested == [10, 10]
        assert fitted(dataset(), validation_data=(X, Y), validation_steps=3)[0].tested == [7, 7, 6]
        sizes, _ = fitted(X, Y, validation_data=(X, Y), validation_steps=3, epochs=4)
        assert (sizes.trained, sizes.tested) == ([20], [20])  # too few, which ends training


def generated() -> Iterator[Any]:
    while True:
        yield X[:6], Y[:6]
        yield X[:4], Y[:4]


@pytest.mark.parametrize("eagerly", [False, True])
def test_arrays_tested_on_after_a_generator_are_cut_as_its_last_batch(eagerly: bool) -> None:
    sizes = Sizes()
    with eager_mode() if eagerly else tf.Graph().as_default():
        given = {"validation_data": (X[:18], Y[2:]), "validation_steps": 1}
        history = nothing_learned().fit_generator(generated(), 2, callbacks=[sizes], verbose=0, **given)
    assert (sizes.trained, sizes.tested) == ([6, 4], [4, 4, 4, 4, 2])
    np.testing.assert_allclose(history.history["val_loss"], [np.mean(sizes.losses)], rtol=1e-6)


def test_the_loss_on_a_dataset_is_the_mean_over_samples_where_training_is_eager() -> None:
    with eager_mode():
        sizes, history = fitted(dataset(), validation_data=dataset())
        assert (sizes.trained, sizes.tested) == ([6, 6, 6, 2], [6, 6, 6, 2])
        assert sizes.first_params["samples"] is None
        np.testing.assert_allclose([history["loss"][0], history["val_loss"][0]], BY_SAMPLES, rtol=1e-6)
        np.testing.assert_allclose(nothing_learned().evaluate(dataset(), verbose=0), BY_BATCHES, rtol=1e-6)
        np.testing.assert_allclose(nothing_learned().evaluate(X, Y, batch_size=6, verbose=0), BY_SAMPLES, rtol=1e-6)
    sizes, history = fitted(dataset(), validation_data=dataset())
    assert (sizes.trained, sizes.first_params["samples"]) == ([1, 1, 1, 1], 4)
    np.testing.assert_allclose([history["loss"][0], history["val_loss"][0]], BY_BATCHES, rtol=1e-6)


@pytest.mark.parametrize("eagerly", [False, True])
def test_training_ends_with_the_data_of_validation(eagerly: bool) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        sizes, history = fitted(X, Y, validation_data=dataset(), validation_steps=9, epochs=3)
    assert len(history["val_loss"]) == 1
    assert len(sizes.tested) == 4


@pytest.mark.parametrize("eagerly", [False, True])
def test_without_any_batch_there_is_nothing_to_report(eagerly: bool) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        model = nothing_learned()
        for call in (model.fit, model.evaluate):
            with pytest.raises(ValueError, match="Empty training data"):
                call(X[:0], Y[:0], verbose=0)
            with pytest.raises(ValueError, match="Empty training data"):
                call(dataset().take(0), verbose=0)
        with pytest.raises(ValueError, match="nothing to predict from"):
            model.predict(X[:0])


def test_eager_training_says_what_is_known_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    def announced(*data: Any, **arguments: Any) -> str:
        nothing_learned().fit(*data, verbose=2, **arguments)
        return capsys.readouterr().out.split("\n")[0]

    with eager_mode():
        endless = dataset().repeat()
        assert announced(X, Y, validation_split=0.2) == "Train on 16 samples, validate on 4 samples"
        told = announced(endless, steps_per_epoch=3, validation_data=endless, validation_steps=2)
        assert told == "Train for 3 steps, validate for 2 steps"
        assert announced(endless, steps_per_epoch=3, validation_data=(X, Y)) == "Train for 3 steps, validate on 20 samples"
        assert announced(dataset()).startswith("4/4 - ")
    assert announced(dataset(), steps_per_epoch=3) == "Train on 3 steps"


def test_a_model_of_a_fixed_batch_size_predicts_for_a_smaller_last_batch() -> None:
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones", activation="relu", batch_input_shape=(6, 3))
    model = tf.keras.Sequential([layer, tf.keras.layers.BatchNormalization(epsilon=0.0)])
    np.testing.assert_allclose(model.predict(X), np.tile(X.sum(axis=1, keepdims=True), 2), rtol=1e-6)
    assert model.predict_on_batch(X).shape == (20, 2)


def test_a_generator_may_be_an_iterator_over_a_dataset_in_eager_execution() -> None:
    with eager_mode():
        data = tf.data.Dataset.from_tensors((X, Y)).repeat(3)
        model = nothing_learned()
        found = model.fit_generator(iter(data), steps_per_epoch=3, verbose=0, workers=0).history
        assert found == {"loss": [pytest.approx(BY_SAMPLES)]}
        with pytest.raises(ValueError, match="pass in the original `Dataset` object"):
            model.fit(iter(data), steps_per_epoch=3, verbose=0)


@pytest.mark.parametrize("eagerly", [False, True])
def test_a_model_without_weights_to_train_takes_no_steps_in_eager_execution(
    eagerly: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.ReLU(input_shape=X.shape[1:])])
        model.compile("sgd", "mse")
        model.fit(X, np.maximum(X, 0), batch_size=4, verbose=0)
        steps = -(-len(X) // 4)
        assert tf.keras.backend.get_value(model.optimizer.iterations) == (0 if eagerly else steps)
        assert caplog.text.count("The list of trainable weights is empty") == eagerly


@pytest.mark.parametrize("eagerly", [False, True])
def test_arrays_of_inputs_without_a_second_dimension_stay_as_they_are(eagerly: bool) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        inputs = tf.keras.Input(batch_shape=(None,))
        model = tf.keras.Model(inputs, tf.keras.layers.Lambda(lambda x: x * 2)(inputs))
        model.compile("sgd", "mse")
        assert model.predict(X[:, 1]).tolist() == (X[:, 1] * 2).tolist()
        assert model.predict_on_batch(X[:, 1]).shape == (len(X),)
        model.train_on_batch(X[:, 1], X[:, 2])


@pytest.mark.parametrize("eagerly", [False, True])
def test_losses_of_each_sample_stay_in_their_own_type(eagerly: bool) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        model.compile("sgd", tf.keras.losses.MeanSquaredError(reduction="none"))
        assert model.evaluate(X, Y, batch_size=10, verbose=0).dtype == np.float32


def test_eager_execution_has_no_arguments_of_sessions() -> None:
    with eager_mode():
        nothing_learned().compile("sgd", "mse", options=None, another=3)
