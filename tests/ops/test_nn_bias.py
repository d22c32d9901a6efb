"""Rows of biases, and the layers of one line around them."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

NUMBERS = ["float32", "float64", "int32"]

CASES = [
    OpCase(
        "BiasAdd",
        [(2, 3, 5), (5,)],
        lambda x, b: np.stack([row + b for row in x]),
        dtypes=NUMBERS,
        errors=[
            Error([(2, 3), (5,)], ValueError, "Dimensions must be equal, but are 3 and 5"),
            Error([(3,), (3,)], ValueError, "Shape must be at least rank 2 but is rank 1"),
            Error([(2, 3), (1,)], InvalidArgumentError, "Must provide as many biases as the last dimension"),
            Error([(3,), (3,)], InvalidArgumentError, "Input tensor must be at least 2D: [3]"),
            Error([(2, 3), (2, 3)], InvalidArgumentError, "Biases must be 1D: [2,3]"),
        ],
    ),
    OpCase(
        "BiasAdd",
        [(2, 3, 5, 7), (3,)],
        lambda x, b: np.moveaxis(np.moveaxis(x, 1, -1) + b, -1, 1),
        attrs={"data_format": "NCHW"},
        label="NCHW",
    ),
    OpCase(
        "BiasAddGrad",
        [(2, 3, 5)],
        lambda g: np.array([g[:, :, i].sum() for i in range(5)]).astype(g.dtype),
        dtypes=NUMBERS,
        tolerance=1e-5,
        errors=[Error([(3,)], InvalidArgumentError, "Input tensor must be at least 2D: [3]")],
    ),
    OpCase(
        "BiasAddGrad",
        [(2, 3, 5, 7)],
        lambda g: np.array([g[:, i].sum() for i in range(3)], g.dtype),
        attrs={"data_format": "NCHW"},
        label="NCHW",
        tolerance=1e-5,
    ),
]
test_rows = op_tests(CASES)


def test_layers() -> None:
    x, w, b = np.float32([[1, -2]]), np.float32([[3, 1, 0], [1, 2, 4]]), np.float32([0, 1, 2])
    with tf.Graph().as_default(), tf.Session() as session:
        plain, rectified = session.run([tf.nn.xw_plus_b(x, w, b), tf.nn.relu_layer(x, w, b)])
    assert plain.tolist() == [[1, -2, -6]]
    assert rectified.tolist() == [[1, 0, 0]]


def test_data_formats() -> None:
    with tf.Graph().as_default():
        x = tf.zeros([2, 3, 5])
        assert tf.nn.bias_add(x, [1.0] * 3, data_format="NCW").op.get_attr("data_format") == b"NCHW"
        assert tf.nn.bias_add(x, [1.0] * 5, data_format="NWC").op.get_attr("data_format") == b"NHWC"
        with pytest.raises(ValueError, match=r"data_format must be of the form `N\.\.\.C` or `NC\.\.\.`"):
            tf.nn.bias_add(x, [1.0] * 5, data_format="CN")
