"""Ops that only graphs have which are older than 1.0, or optimized for inference: they do what the present ones do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests

COMPLEX = ["complex64"]
X = np.array([-1.3, -0.5, 0, 0.3, 0.77, 2.5, 4])
MARGINS = np.int32([[0, 0], [1, 1], [2, 1], [0, 0]])
SIZE = np.int32([7, 4])
SAME: dict[str, Any] = {"strides": [1, 2, 1, 1], "padding": "SAME"}
WINDOW: dict[str, Any] = {"mode": "SYMMETRIC", **SAME}


def transforms(rank: int) -> list[OpCase]:
    axes = tuple(range(-rank, 0))
    suffix = "" if rank == 1 else f"{rank}D"
    return [
        OpCase(
            f"Batch{name}{suffix}",
            [(2, 3, 5)],
            lambda x, transform=transform: transform(x, axes=axes).astype(np.complex64),
            dtypes=COMPLEX,
            gradient=(),
            static_shape=[None],
        )
        for name, transform in (("FFT", np.fft.fftn), ("IFFT", np.fft.ifftn))
    ]


def contrasted(x: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    mean = x.astype(np.float64).mean((-3, -2), keepdims=True)
    return np.clip((x - mean) * factor + mean, low, high).astype(np.float32)


def convolved(x: np.ndarray, margins: np.ndarray, filters: np.ndarray) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.nn.conv2d(tf.pad(x, margins, "SYMMETRIC"), filters, **SAME))


def resized(x: np.ndarray, size: np.ndarray, margins: np.ndarray, filters: np.ndarray) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        x = session.run(tf.raw_ops.ResizeBilinear(images=x, size=size)).astype(x.dtype)
    return convolved(x, margins, filters)


CASES = [
    *transforms(1),
    *transforms(2),
    *transforms(3),
    OpCase(
        "TileGrad",
        [(4, 9), np.int32([2, 3])],
        lambda x, _: x.reshape(2, 2, 3, 3).sum((0, 2)),
        dtypes=["float32", "int64"],
        gradient=(),
        static_shape=[None],
        errors=[
            Error([(4, 9), np.int32([3, 3])], tf.errors.InvalidArgumentError, "Expected input_dim[0] to be divisible"),
            Error([(4, 9), np.int32([2])], tf.errors.InvalidArgumentError, "a vector of length 2 but got length 1"),
        ],
    ),
    OpCase(
        "MatrixExponential",
        [(2, 3, 3)],
        lambda x: np.stack([expm(m) for m in x]).astype(x.dtype),
        dtypes=["float32", "float64", "float16", "complex64", "complex128"],
        gradient=(),
        tolerance=2e-3,
        errors=[
            Error([(3, 2)], ValueError, "Dimensions must be equal, but are 3 and 2"),
            Error([(3, 2)], tf.errors.InvalidArgumentError, "must be square"),
        ],
    ),
    OpCase("MatrixExponential", [Like([[30.0, 5], [0, 2]])], expm, dtypes=["float64"], gradient=(), label="large"),
    OpCase("MatrixExponential", [(0, 0)], lambda x: x, gradient=(), label="empty"),
    OpCase("QuantizeAndDequantize", [Like(X)], lambda x: np.round(x * 31.75) / np.float32(31.75)),
    OpCase(
        "QuantizeAndDequantize",
        [Like(X)],
        lambda x: np.round(np.clip(x, 0, 2) * 127.5) / np.float32(127.5),
        attrs={"range_given": True, "input_min": 0.0, "input_max": 2.0, "signed_input": False},
        label="of a range",
        errors=[Error([(3,)], tf.errors.InvalidArgumentError, "num_bits is out of range: 0", attrs={"num_bits": 0})],
    ),
    OpCase(
        "AdjustContrast",
        [(2, 5, 3, 3), np.float32(2), np.float32(-1), np.float32(1)],
        contrasted,
        dtypes=["float32", "float64"],
        gradient=(),
        errors=[
            Error([(5, 3), *[np.float32(1)] * 3], ValueError, "Shape must be at least rank 3 but is rank 2"),
            Error([(5, 3), *[np.float32(1)] * 3], tf.errors.InvalidArgumentError, "must be at least 3-D"),
        ],
    ),
    OpCase(
        "AdjustContrast",
        [np.uint8([[[0], [10]], [[200], [255]]]), np.float32(0.5), np.float32(60), np.float32(150)],
        np.float32([[[60], [63.125]], [[150], [150]]]),
        dtypes=["uint8"],
        gradient=(),
        label="of bytes",
    ),
    OpCase("FusedPadConv2D", [(3, 5, 4, 3), MARGINS, (3, 2, 3, 2)], convolved, attrs=WINDOW, gradient=()),
    OpCase(
        "FusedResizeAndPadConv2D",
        [(3, 5, 6, 3), SIZE, MARGINS, (3, 2, 3, 2)],
        resized,
        attrs=WINDOW,
        gradient=(),
        errors=[
            Error([(3, 5, 6, 3), np.int32([7, 4, 3]), MARGINS, (3, 2, 3, 2)], ValueError, "must be equal, but are 3 and 2"),
            Error(
                [(3, 5, 6, 3), np.int32([-1, 4]), MARGINS, (3, 2, 3, 2)],
                tf.errors.InvalidArgumentError,
                "output dimensions must be positive",
            ),
        ],
    ),
]
test_rows = op_tests(CASES)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_random_crop_draws_columns_first() -> None:
    image = np.arange(300, dtype=np.float32).reshape(10, 10, 3)
    size = tf.placeholder(tf.int64, [2])
    crop = tf.raw_ops.RandomCrop(image=image, size=size, seed=3, seed2=4)
    assert crop.shape.as_list() == [None, None, 3]
    assert tf.raw_ops.RandomCrop(image=image, size=np.int64([2, 3])).shape == [2, 3, 3]
    with tf.Session() as session:
        corners = [session.run(crop, {size: [2, 3]})[0, 0, 0] / 3 for _ in range(8)]
        assert corners == [41, 77, 51, 42, 15, 21, 26, 5]  # as TensorFlow 1.15
        with pytest.raises(tf.errors.FailedPreconditionError, match="height = 10, target_height = 11"):
            session.run(crop, {size: [11, 3]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="target_width must be >= 0: -1"):
            session.run(crop, {size: [2, -1]})
    with tf.Session() as session:
        corners = [
            session.run(crop, {size: wanted})[0, 0, 0] / 3 for wanted in ([10, 3], [10, 3], [10, 10], [3, 10], [3, 10])
        ]
        assert corners == [1, 7, 0, 20, 50]  # an axis without a choice takes no word


def test_placeholder_whose_shape_is_as_it_says() -> None:
    scalar = tf.raw_ops.PlaceholderV2(dtype=tf.float32, shape=[])
    assert scalar.shape.ndims == 0
    with tf.Session() as session:
        assert session.run(scalar + 1, {scalar: 2}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor"):
            session.run(scalar)


def test_constant_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "region"
    file.write_bytes(np.arange(6, dtype=np.float32).tobytes())

    def constant(path: Path, shape: Any, dtype: Any = tf.float32) -> Any:
        with tf.Session() as session:
            return session.run(tf.raw_ops.ImmutableConst(dtype=dtype, shape=shape, memory_region_name=str(path)))

    assert constant(file, [2, 2]).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(tf.errors.InternalError, match=r"wrong length \(24\) when allocating 28"):
        constant(file, [7])
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        constant(tmp_path / "other", [2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="no elements of type string"):
        constant(file, [2], tf.string)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has to be known"):
        constant(file, tf.TensorShape(None))


def test_audio_summary_whose_rate_is_an_attribute() -> None:
    sounds = np.float32([[0.5, -0.25, 2]])
    older = tf.raw_ops.AudioSummary(tag="t", tensor=sounds, sample_rate=8000.0, max_outputs=1)
    present = tf.raw_ops.AudioSummaryV2(tag="t", tensor=sounds, sample_rate=8000.0, max_outputs=1)
    with tf.Session() as session:
        assert session.run(older) == session.run(present)


def test_reference_that_is_chosen() -> None:
    variables = [tf.Variable(np.full(2, i, np.float32), use_resource=False) for i in range(3)]
    index = tf.placeholder(tf.int32)
    chosen = tf.raw_ops.RefSelect(index=index, inputs=[v._ref() for v in variables])
    assert chosen.dtype._is_ref_dtype and chosen.shape == [2]
    other = tf.Variable(np.zeros(3, np.float32), use_resource=False)
    assert tf.raw_ops.RefSelect(index=index, inputs=[variables[0]._ref(), other._ref()]).shape.ndims is None
    added = tf.assign_add(chosen, [5.0, 7.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(added, {index: 1}).tolist() == [6, 8]
        assert [v.tolist() for v in session.run(variables)] == [[0, 0], [6, 8], [2, 2]]
        for wrong in (3, -1):
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"in the range \[0, 3\) but got {wrong}"):
                session.run(chosen, {index: wrong})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
            session.run(chosen, {index: [1]})
