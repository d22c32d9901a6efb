"""Ops of TensorFlow Lite's that our converter does not write, by what they compute."""

import numpy as np
import pytest

from tests.lite.lite_models import random_values, run_model
from tfexp.formats.lite_model import LiteModel, LiteOperator, LiteTensor, Quantization, type_of, write_model

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")


def run_op(op, inputs, outputs, options=None, quantizations=None):
    """The outputs, of these shapes, of one op; `inputs` are arrays, `quantizations` say what those by number stand for."""
    given = [LiteTensor(f"in{place}", value.shape, type_of(value.dtype)) for place, value in enumerate(inputs)]
    for place, quantization in (quantizations or {}).items():
        given[place].quantization = quantization
    made = [LiteTensor(f"out{place}", shape, "FLOAT32") for place, shape in enumerate(outputs)]
    numbers = list(range(len(given))), list(range(len(given), len(given) + len(made)))
    step = LiteOperator(op, *numbers, options or {})
    return run_model(write_model(LiteModel([*given, *made], *numbers, [step])), *inputs)


X, ALPHA = random_values((2, 3, 5), (5,))
ELEMENTS = {
    "HARD_SWISH": ([X * 4], X * 4 * np.clip(X * 4 + 3, 0, 6) / 6),
    "L2_NORMALIZATION": ([X], X / np.sqrt(np.sum(X**2, -1, keepdims=True))),
    "PRELU": ([X, ALPHA], np.where(X > 0, X, X * ALPHA)),
    "RELU_N1_TO_1": ([X], np.clip(X, -1, 1)),
    "EMBEDDING_LOOKUP": ([np.array([1, 0, 1], np.int32), X], X[[1, 0, 1]]),
}


@pytest.mark.parametrize("op", ELEMENTS)
def test_an_op_of_elements(op):
    inputs, expected = ELEMENTS[op]
    np.testing.assert_allclose(run_op(op, inputs, [expected.shape])[0], expected, rtol=1e-5, atol=1e-6)


def test_a_mean_of_squares():
    (images,) = random_values((1, 4, 6, 3))
    options = {
        "padding": "VALID",
        "stride_h": 2,
        "stride_w": 3,
        "filter_height": 2,
        "filter_width": 3,
        "activation": "RELU6",
    }
    expected = np.sqrt(np.mean(np.square(images).reshape(1, 2, 2, 2, 3, 3), (2, 4)))
    np.testing.assert_allclose(run_op("L2_POOL_2D", [images], [expected.shape], options)[0], expected, rtol=1e-5)


def test_a_cell():
    x, h, weights, bias, c = random_values((2, 3), (2, 4), (16, 7), (16,), (2, 4))
    entering, new, forget, out = np.split(np.concatenate([x, h], 1) @ weights.T + bias, 4, 1)

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    state = sigmoid(forget) * c + sigmoid(entering) * np.tanh(new)
    options = {"kernel_type": "BASIC", "activation": "TANH"}
    activation, new_state, _, gates = run_op("LSTM", [x, h, weights, bias, c], [(2, 4), (2, 4), (2, 7), (2, 16)], options)
    np.testing.assert_allclose(new_state, state, rtol=1e-5)
    np.testing.assert_allclose(activation, sigmoid(out) * np.tanh(state), rtol=1e-5)
    assert gates.shape == (2, 16)


def test_rounded_weights_for_rows_in_rows():
    whole = np.random.RandomState(4).randint(-127, 128, (2, 3, 5)).astype(np.float32)
    whole[:, :, 0] = 127  # the largest, so that nothing is rounded
    weights = np.random.RandomState(5).randint(-127, 128, (7, 5)).astype(np.int8)
    scales = Quantization(np.array([0.5], np.float32), np.zeros(1, np.int64))
    options = {"keep_num_dims": True, "activation": "NONE"}
    (made,) = run_op("FULLY_CONNECTED", [whole, weights], [(2, 3, 7)], options, {1: scales})
    np.testing.assert_allclose(made, whole @ (0.5 * weights.T), rtol=1e-6)


def test_an_op_that_does_not_run_here():
    with pytest.raises(RuntimeError, match="Didn't find op for builtin opcode 'SVDF'"):
        run_op("SVDF", [X], [X.shape])
