"""TensorFlow Lite's files: what is written is read again; what stands where."""

import sys

import numpy as np
import pytest

from tfexp.formats.lite_model import LiteModel, LiteOperator, LiteTensor, Quantization, read_model, type_of, write_model

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")


def model():
    weights = np.arange(-6, 9, dtype=np.int8).reshape(5, 3)
    scales = Quantization(np.array([0.5, 0.25, 2, 3, 5], np.float32), np.zeros(5, np.int64))
    tensors = [
        LiteTensor("x", (2, 3), "FLOAT32"),
        LiteTensor("weights", (5, 3), "INT8", weights, scales),
        LiteTensor("y", (2, 5), "FLOAT32"),
        LiteTensor("z", (2, 5), "FLOAT32"),
    ]
    product = {
        "activation": "RELU6",
        "weights_format": "DEFAULT",
        "keep_num_dims": True,
        "asymmetric_quantize_inputs": False,
    }
    steps = [
        LiteOperator("FULLY_CONNECTED", [0, 1, -1], [2], product, version=3),
        LiteOperator("CUSTOM", [2], [3], {}, custom="Erf"),
    ]
    return LiteModel(tensors, [0], [3], steps, "a model")


def test_what_is_written_is_read():
    expected, got = model(), read_model(write_model(model()))
    assert repr(got) == repr(expected)  # arrays have no single truth value


def test_constants_are_aligned():
    data = write_model(model())
    assert data[4:8] == b"TFL3"
    assert data.index(np.arange(-6, 9, dtype=np.int8).tobytes()) % 16 == 0


def test_the_package_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(ImportError, match=r"`tf.lite.TFLiteConverter` requires flatbuffers: pip install 'tfexp\[lite\]'"):
        write_model(model())


def test_what_is_no_model():
    with pytest.raises(ValueError, match="has model identifier 'efgh', should be 'TFL3'"):
        read_model(b"abcdefgh")
    with pytest.raises(ValueError, match="TensorFlow Lite has no tensors of float64"):
        type_of(np.float64)


def test_scales_along_a_dimension():
    scales = Quantization(np.array([1, 2, 3], np.float32), np.zeros(3, np.int64), dimension=1)
    assert scales.along(4)[0].shape == (1, 3, 1, 1)
