"""Examples parsed: rows, errors in TensorFlow's words, and the public functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tests.ops.test_string_text import text, texts
from tfexp.core import errors

Bad = errors.InvalidArgumentError
FLOATS, INTS = np.array([], np.float32), np.array([], np.int64)
NOTHING = np.array([], object)


def example(**features: Any) -> bytes:
    """A serialized Example; None for a feature without values."""
    made = tf.train.Example()
    for key, values in features.items():
        feature = made.features.feature[key]
        if values is not None:
            kind = {bytes: feature.bytes_list, float: feature.float_list, int: feature.int64_list}[type(values[0])]
            kind.value.extend(values)
    serialized: bytes = made.SerializeToString(deterministic=True)
    return serialized


RECORDS = texts(
    example(a=[1.0, 2.0], b=[1, -2, 300], c=[b"x"]),
    example(a=[3.0, 4.0], b=None, c=[b"longer"]),
    example(a=[5.0, 6.0], b=[7], c=[b""], z=[1.0]),
)
DENSE = {"Tdense": [tf.float32, tf.string], "dense_shapes": [[2], []]}
SPARSE = [np.array([[0, 0], [0, 1], [0, 2], [2, 0]]), np.array([1, -2, 300, 7]), np.array([3, 3])]
VALUES = [np.array([[1, 2], [3, 4], [5, 6]], np.float32), texts("x", "longer", "")]
SHAPES = [(None, 2), (None,), (2,), (3, 2), (3,)]
V2 = {"num_sparse": 1, "sparse_types": [tf.int64], "ragged_value_types": [], "ragged_split_types": [], **DENSE}


def v2(records: np.ndarray, sparse: np.ndarray, dense: np.ndarray, *defaults: Any, names: np.ndarray = NOTHING) -> list[Any]:
    return [records, names, sparse, dense, NOTHING, list(defaults)]


CASES = [
    OpCase(
        "ParseExampleV2",
        v2(RECORDS, texts("b"), texts("a", "c"), FLOATS, NOTHING),
        [*SPARSE, *VALUES],
        V2,
        static_shape=SHAPES,
        errors=[
            Error(
                v2(RECORDS, texts("b"), texts("q", "c"), FLOATS, NOTHING, names=texts("A", "B", "C")),
                Bad,
                "Name: A, Feature: q (data type: float) is required but could not be found.",
            ),
            Error(
                v2(RECORDS, texts("b"), texts("b", "c"), FLOATS, NOTHING),
                Bad,
                "Name: <unknown>, Key: b, Index: 0.  Data types don't match. Data type: int64 but expected type: float",
            ),
            Error(
                v2(RECORDS, texts("a"), texts("a", "c"), FLOATS, NOTHING),
                Bad,
                "Name: <unknown>, Key: a, Index: 0.  Data types don't match. Expected type: int64, Actual type: float",
            ),
            Error(
                v2(RECORDS, texts("b"), texts("a", "c"), FLOATS, NOTHING),
                Bad,
                "Number of float values != expected.  Values size: 2 but output shape: [3]",
                {"dense_shapes": [[3], []]},
            ),
            Error(
                v2(RECORDS, texts("b"), texts("a", "c"), FLOATS, NOTHING),
                Bad,
                "Number of float values is not a multiple of stride length. Saw 2 values but output shape is: [?,3]",
                {"dense_shapes": [[None, 3], []]},
            ),
            Error(
                v2(texts(b"\n\5a"), texts("b"), texts("a", "c"), FLOATS, NOTHING),
                Bad,
                "Could not parse example input, value: '",
            ),
            Error(
                v2(RECORDS, texts("b"), texts("a", "c"), FLOATS, NOTHING, names=texts("n")),
                Bad,
                "Expected names have the same shape as serialized: name.shape=[1], serialized.shape=[3]",
            ),
        ],
    ),
    OpCase(
        "ParseExampleV2",
        v2(np.array(RECORDS[0], object), texts("b"), texts("a", "c"), FLOATS, NOTHING),
        [np.array([[0], [1], [2]]), np.array([1, -2, 300]), np.array([3]), np.array([1, 2], np.float32), text("x")],
        V2,
        label="one",
        static_shape=[(None, 1), (None,), (1,), (2,), ()],
        errors=[
            Error(
                v2(np.array(RECORDS[0], object), texts("b"), texts("q", "c"), FLOATS, NOTHING),
                Bad,
                "Feature: q (data type: float) is required but could not be found.",
            )
        ],
    ),
    OpCase(
        "ParseExampleV2",
        v2(RECORDS, NOTHING, texts("b", "z", "a"), np.array(-1), np.array([9], np.float32), FLOATS),
        [np.array([[1, -2, 300], [-1, -1, -1], [7, -1, -1]]), np.array([[9], [9], [1]], np.float32), VALUES[0][:, None]],
        V2
        | {
            "num_sparse": 0,
            "sparse_types": [],
            "Tdense": [tf.int64, tf.float32, tf.float32],
            "dense_shapes": [[None], [1], [None, 2]],
        },
        label="filled up",
        static_shape=[(3, None), (3, 1), (3, None, 2)],
    ),
    OpCase(
        "ParseExampleV2",
        [RECORDS, NOTHING, NOTHING, NOTHING, texts("b"), []],
        [np.array([1, -2, 300, 7]), np.array([0, 3, 3, 4], np.int32)],
        {
            **{"num_sparse": 0, "sparse_types": [], "Tdense": [], "dense_shapes": []},
            **{"ragged_value_types": [tf.int64], "ragged_split_types": [tf.int32]},
        },
        label="ragged",
        static_shape=[(None,), (4,)],
    ),
    OpCase(
        "ParseExample",
        [RECORDS, NOTHING, [text("b")], [text("a"), text("c")], [FLOATS, NOTHING]],
        [*SPARSE, *VALUES],
        {"sparse_types": [tf.int64], **DENSE},
        static_shape=SHAPES,
    ),
    OpCase(
        "ParseSingleExample",
        [np.array(RECORDS[0], object), [FLOATS, NOTHING]],
        [np.array([[0], [1], [2]]), np.array([1, -2, 300]), np.array([3]), np.array([1, 2], np.float32), text("x")],
        {"num_sparse": 1, "sparse_keys": ["b"], "dense_keys": ["a", "c"], "sparse_types": [tf.int64], **DENSE},
        static_shape=[(None, 1), (None,), (1,), (2,), ()],
        errors=[Error([RECORDS, [FLOATS, NOTHING]], ValueError, "Shape must be rank 0 but is rank 1")],
    ),
]
test_rows = op_tests(CASES)


def run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


def test_examples_that_are_alike_are_read_as_those_that_are_not() -> None:
    random = np.random.default_rng(3)
    numbers = random.integers(-(1 << 62), 1 << 62, (40, 3)) >> random.integers(0, 62, (40, 3))
    records = [
        example(a=random.random(2).tolist(), b=row.tolist()[: 1 + i % 3], c=[b"s" * (i % 5)])
        for i, row in enumerate(numbers)
    ]
    features = {
        "a": tf.FixedLenFeature([2], tf.float32),
        "b": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "c": tf.io.FixedLenFeature([], tf.string),
    }
    together = run(tf.parse_example(records + records[::-1], features))
    for i, record in enumerate(records + records[::-1]):
        alone = run(tf.parse_single_example(record, features))
        np.testing.assert_array_equal(together["a"][i], alone["a"])
        np.testing.assert_array_equal(together["b"][i][: len(alone["b"])], alone["b"])
        assert together["c"][i] == alone["c"] == b"s" * (min(i, 79 - i) % 5)


def test_lists_that_are_not_packed_and_keys_that_come_twice() -> None:
    floats = b"\x0d\0\0\x80\x3f\x0d\0\0\0\x40"
    ints = b"\x08\x05\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x0a\x02\x07\x08"

    def entry(key: bytes, tag: int, values: bytes) -> bytes:
        feature = bytes([tag, len(values)]) + values
        body = b"\n" + bytes([len(key)]) + key + b"\x12" + bytes([len(feature)]) + feature
        return b"\n" + bytes([len(body)]) + body

    body = entry(b"a", 18, b"") + entry(b"a", 18, floats) + entry(b"b", 26, ints) + b"\x18\x05"
    record = b"\n" + bytes([len(body)]) + body
    features = {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.FixedLenFeature([4], tf.int64)}
    for records in ([record], [record] * 7):
        parsed = run(tf.parse_example(records, features))
        assert parsed["a"].tolist() == [[1, 2]] * len(records)
        assert parsed["b"].tolist() == [[5, -1, 7, 8]] * len(records)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({}, "Missing: features was {}."),
        ({"a": tf.float32}, "Invalid feature a:"),
        ({"a": tf.VarLenFeature(None)}, "Missing type for feature a"),
        ({"a": tf.FixedLenFeature(None, tf.float32)}, "Missing shape for feature a"),
        ({"a": tf.FixedLenFeature([None], tf.float32)}, "First dimension of shape for feature a unknown"),
        ({"a": tf.FixedLenSequenceFeature([], tf.float32)}, "FixedLenSequenceFeature requires allow_missing to be True"),
    ],
)
def test_features_that_cannot_be(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.parse_example(["a"], features)


def test_one_example_is_a_scalar() -> None:
    with pytest.raises(ValueError, match="Input serialized must be a scalar"):
        tf.parse_single_example(RECORDS, {"a": tf.FixedLenFeature([2], tf.float32)})


def test_a_constant_example_tells_its_shapes() -> None:
    parsed = tf.parse_single_example(example(a=[1.0, 2.0, 3.0]), {"a": tf.VarLenFeature(tf.float32)})
    assert tf.sparse_tensor_to_dense(parsed["a"]).shape.as_list() == [3]


def test_a_map_of_examples_runs_on_blocks() -> None:
    features = {"a": tf.FixedLenFeature([2], tf.float32), "n": tf.FixedLenFeature([], tf.int64, 4)}
    data = tf.data.Dataset.from_tensor_slices(RECORDS.tolist()).map(lambda record: tf.parse_single_example(record, features))
    batch = run(tf.data.make_one_shot_iterator(data.batch(3)).get_next())
    np.testing.assert_array_equal(batch["a"], VALUES[0])
    assert batch["n"].tolist() == [4, 4, 4]


def test_sparse_features_that_cannot_be() -> None:
    with tf.Graph().as_default():
        for feature, text in (
            (tf.SparseFeature("", "v", tf.float32, 5), "Missing index_key for SparseFeature x"),
            (tf.SparseFeature("i", "", tf.float32, 5), "Missing value_key for SparseFeature x"),
            (tf.SparseFeature("i", "v", None, 5), "Missing type for SparseFeature x"),
            (tf.SparseFeature("v", "v", tf.float32, 5), "Conflicting type .* for feature v"),
        ):
            with pytest.raises(ValueError, match=text):
                tf.parse_example([b""], {"x": feature})
