"""Weights from Keras 1 and of cuDNN's layers, for layers as they are now."""

from typing import Any

import numpy as np
import pytest

from tfexp.api import keras
from tfexp.keras.saving.older_weights import preprocess_weights_for_loading

L = keras.layers


@pytest.fixture(autouse=True)
def session() -> Any:
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def numbers(*shape: int) -> np.ndarray:
    return np.random.RandomState(sum(shape)).uniform(-0.5, 0.5, shape).astype("float32")


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("wrapped", ["alone", "in a model", "Bidirectional"])
def test_cudnns_weights_fit_the_plain_layers_and_back(kind: str, wrapped: str) -> None:
    options = {"recurrent_activation": "sigmoid", **({"reset_after": True} if kind == "GRU" else {})}
    plain, cudnn = getattr(L, kind)(4, **options), getattr(L, f"CuDNN{kind}")(4)
    models = []
    for layer in (plain, cudnn):
        part = L.Bidirectional(layer) if wrapped == "Bidirectional" else layer
        part = keras.Sequential([keras.Input((5, 3)), part]) if wrapped == "in a model" else part
        models.append(keras.Sequential([keras.Input((5, 3)), part]))
    (ours, theirs), rows = models, numbers(2, 5, 3)
    theirs.set_weights([numbers(*weight.shape.as_list()) for weight in theirs.weights])
    ours.set_weights(preprocess_weights_for_loading(ours, theirs.get_weights()))
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-4, atol=1e-6)
    back = preprocess_weights_for_loading(theirs, ours.get_weights())
    theirs.set_weights(back)
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-4, atol=1e-6)


def test_gru_weights_that_cannot_be_others() -> None:
    def weights(biases: tuple[int, ...]) -> list[np.ndarray]:
        return [numbers(3, 6), numbers(2, 6), numbers(*biases)]

    for layer, biases, told in (
        (L.GRU(2), (12,), r"CuDNNGRU is not compatible with GRU\(reset_after=False\)"),
        (L.CuDNNGRU(2), (6,), r"GRU\(reset_after=False\) is not compatible with CuDNNGRU"),
        (L.GRU(2, reset_after=True), (6,), r"GRU\(reset_after=False\) is not compatible with GRU\(reset_after=True\)"),
        (L.GRU(2), (5,), r"Invalid bias shape: \(5,\)"),
        (L.LSTM(2), (5,), r"Invalid bias shape: \(5,\)"),
    ):
        with pytest.raises(ValueError, match=told):
            preprocess_weights_for_loading(layer, weights(biases))


def test_weights_of_keras_1() -> None:
    def arranged(layer: Any, *weights: np.ndarray) -> list[np.ndarray]:
        return preprocess_weights_for_loading(layer, list(weights), original_keras_version="1")

    kernel = numbers(3, 1, 2, 5)
    np.testing.assert_array_equal(arranged(L.Conv1D(5, 3), kernel, numbers(5))[0], kernel[:, 0])
    oldest = kernel.transpose(3, 2, 0, 1)
    np.testing.assert_array_equal(arranged(L.Conv1D(5, 3), oldest, numbers(5))[0], kernel[:, 0])
    image = numbers(7, 2, 3, 5)
    first = {"data_format": "channels_first"}
    np.testing.assert_array_equal(arranged(L.Conv2D(7, (3, 5), **first), image)[0], image.transpose(2, 3, 1, 0))
    np.testing.assert_array_equal(arranged(L.Conv2DTranspose(7, (3, 5)), image)[0], image.transpose(0, 1, 3, 2))
    gates = [part for gate in range(4) for part in (numbers(3, 2) + gate, numbers(2, 2) + gate, numbers(2) + gate)]
    kernel, recurrent, bias = arranged(L.LSTM(2), *gates)
    assert (kernel.shape, recurrent.shape, bias.shape) == ((3, 8), (2, 8), (8,))
    np.testing.assert_array_equal(bias, np.concatenate([gates[2], gates[8], gates[5], gates[11]]))
    assert len(arranged(L.GRU(2), *gates[:9])) == 3


def test_a_layer_may_call_anything_of_its_own_layers(tmp_path: Any) -> None:
    class Stack(L.Layer):
        layers = 2

        def build(self, input_shape: Any) -> None:
            self.dense = [L.Dense(3) for _ in range(self.layers)]
            super().build(input_shape)

        def call(self, inputs: Any) -> Any:
            return self.dense[1](self.dense[0](inputs))

    model = keras.Sequential([Stack(input_shape=(3,))])
    weights = [numbers(*weight.shape.as_list()) for weight in model.weights]
    model.set_weights(weights)
    model.save_weights(str(tmp_path / "of.h5"))
    model.set_weights([0 * weight for weight in weights])
    model.load_weights(str(tmp_path / "of.h5"))
    assert [weight.tolist() for weight in model.get_weights()] == [weight.tolist() for weight in weights]
