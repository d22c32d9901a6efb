"""Rows of the ops that parse SequenceExamples, against protobuf's own parser."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError


def ints(*values: int) -> Any:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(*values: float) -> Any:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def texts(*values: bytes) -> Any:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def record(context: dict[str, Any], lists: dict[str, list[Any]]) -> bytes:
    steps = {key: tf.train.FeatureList(feature=features) for key, features in lists.items()}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature=context), feature_lists=tf.train.FeatureLists(feature_list=steps)
    ).SerializeToString()


RECORDS = [
    record(
        {"b": ints(3), "a": texts(b"x", b"y"), "c": floats(1, 2, 3)},
        {"d": [ints(1), ints(), ints(2, 300)], "e": [floats(1, 2)], "f": [texts(b"p"), texts(b"q", b"r")]},
    ),
    record({"b": ints(-5), "c": floats(4)}, {"d": [ints(7)], "e": [floats(3, 4), floats(5, 6), floats(7, 8)]}),
    record({}, {"f": [texts(b"s")]}),
]


def strings(*values: bytes) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def values_of(feature: Any) -> list[Any]:
    kind = feature.WhichOneof("kind")
    return list(getattr(feature, kind).value) if kind else []


def indexed(places: list[tuple[int, ...]], rank: int) -> np.ndarray:
    return np.array(places, np.int64).reshape(len(places), rank)


def reference(serialized: np.ndarray, ragged: bool) -> list[Any]:
    """Context: sparse a, dense b (by default 9), ragged c; lists: sparse d, dense e of pairs, ragged f."""
    parsed = [tf.train.SequenceExample.FromString(one) for one in np.atleast_1d(serialized)]
    contexts = [one.context.feature for one in parsed]
    lists = [{k: [values_of(f) for f in v.feature] for k, v in one.feature_lists.feature_list.items()} for one in parsed]
    a = [values_of(c["a"]) if "a" in c else [] for c in contexts]
    places = [(i, j) for i, row in enumerate(a) for j in range(len(row))]
    d = [one.get("d", []) for one in lists]
    steps = [(i, j, k) for i, row in enumerate(d) for j, cell in enumerate(row) for k in range(len(cell))]
    e = [one.get("e", []) for one in lists]
    longest = max(map(len, e))
    dense = np.zeros((len(parsed), longest, 2), np.float32)
    for i, row in enumerate(e):
        for j, cell in enumerate(row):
            dense[i, j] = cell
    drop = 0 if np.ndim(serialized) else 1
    b = np.array([values_of(c["b"])[0] if "b" in c else 9 for c in contexts])
    context = [
        indexed(places, 2)[:, drop:],
        strings(*[x for row in a for x in row]),
        np.array([len(a), max(map(len, a))])[drop:],
        b[0] if drop else b,
    ]
    found = [
        indexed(steps, 3)[:, drop:],
        np.array([x for row in d for cell in row for x in cell], np.int64),
        np.array([len(d), max(map(len, d)), max((len(c) for row in d for c in row), default=0)])[drop:],
        dense[0] if drop else dense,
    ]
    lengths = np.array([len(row) for row in e])
    if not ragged:
        return [*context, *found, lengths]
    c = [values_of(one["c"]) if "c" in one else [] for one in contexts]
    f = [one.get("f", []) for one in lists]
    context += [np.array([x for row in c for x in row], np.float32), np.cumsum([0, *map(len, c)]).astype(np.int32)]
    found += [
        lengths[0] if drop else lengths,
        strings(*[x for row in f for cell in row for x in cell]),
        np.cumsum([0, *map(len, f)]),
        np.cumsum([0, *[len(cell) for row in f for cell in row]]),
    ]
    return [*context, *found]


NAMES = strings()
TYPES = {
    "context_sparse_types": [tf.string],
    "context_dense_shapes": [[]],
    "feature_list_sparse_types": [tf.int64],
    "feature_list_dense_types": [tf.float32],
    "feature_list_dense_shapes": [[2]],
}
V2 = {
    "context_ragged_value_types": [tf.float32],
    "context_ragged_split_types": [tf.int32],
    "feature_list_ragged_value_types": [tf.string],
    "feature_list_ragged_split_types": [tf.int64],
    "Ncontext_sparse": 1,
    "Nfeature_list_sparse": 1,
    "Nfeature_list_dense": 1,
    **TYPES,
}
OLD = {
    "feature_list_dense_missing_assumed_empty": [b"e"],
    "context_sparse_keys": [b"a"],
    "context_dense_keys": [b"b"],
    "feature_list_sparse_keys": [b"d"],
    "feature_list_dense_keys": [b"e"],
    "Ncontext_sparse": 1,
    "Ncontext_dense": 1,
    "Nfeature_list_sparse": 1,
    "Nfeature_list_dense": 1,
    **TYPES,
}


def keys(empty: bool = True) -> list[Any]:
    return [*[strings(key) for key in (b"a", b"b", b"c", b"d", b"e", b"f")], np.array([empty])]


def v2(serialized: Any, empty: bool = True, default: Any = 9, names: Any = NAMES) -> list[Any]:
    return [serialized, names, *keys(empty), [np.int64(default)]]


def one(serialized: bytes) -> Any:
    return np.array(serialized, object)


def refused(context: dict[str, Any], lists: dict[str, list[Any]], text: str, **more: Any) -> Error:
    batch = strings(RECORDS[0], record(context, lists))
    return Error(v2(batch, **more), InvalidArgumentError, text)


V2_STATIC = [[None, 2], [None], [2], [3], [None], [4], [None, 3], [None], [3], [3, None, 2], [3], [None], [4], [None]]
CASES = [
    OpCase(
        "ParseSequenceExampleV2",
        v2(strings(*RECORDS)),
        lambda texts, *others: reference(texts, True),
        V2,
        static_shape=V2_STATIC,
        errors=[
            refused(
                {"b": floats(1)}, {}, "Name: <unknown>, Context feature: b.  Data types don't match. Expected type: int64"
            ),
            refused({"b": ints(1, 2)}, {}, "Inconsistent max number of elements for feature b: expected 1, but found 2"),
            refused({}, {}, "Feature: b (data type: int64) is required but could not be found.", default=[]),
            refused(
                {},
                {},
                "Name: q, Feature list 'e' is required but could not be found",
                empty=False,
                names=strings(b"p", b"q"),
            ),
            refused(
                {},
                {"e": [floats(1, 2), floats(1)]},
                "Name: <unknown>, Key: e, Index: 1.  Number of values != expected.  values size: 1 but output shape: [2]",
            ),
            refused({}, {"d": [floats(1)]}, "Feature list: d, Index: 0.  Data types don't match. Expected type: int64"),
            refused({}, {}, "example_names must be empty or have the correct number of elements", names=strings(b"p")),
            Error(
                v2(strings(RECORDS[0], b"\xff\xff")),
                InvalidArgumentError,
                "Invalid protocol message input, example id: <unknown>",
            ),
            Error(v2(np.full((2, 3), RECORDS[0], object)), ValueError, "Shape must be at most rank 1 but is rank 2"),
        ],
    ),
    OpCase(
        "ParseSequenceExampleV2",
        v2(one(RECORDS[1])),
        lambda texts, *others: reference(texts, True),
        V2,
        label="scalar",
        static_shape=[
            [None, 1],
            [None],
            [1],
            [],
            [None],
            [None],
            [None, 2],
            [None],
            [2],
            [None, 2],
            [],
            [None],
            [None],
            [None],
        ],
    ),
    OpCase(
        "ParseSequenceExample",
        [strings(*RECORDS), NAMES, [np.int64(9)]],
        lambda texts, *others: reference(texts, False),
        OLD,
        static_shape=[[None, 2], [None], [2], [3], [None, 3], [None], [3], [3, None, 2], [3]],
        errors=[Error([one(RECORDS[0]), NAMES, [np.int64(9)]], ValueError, "Shape must be rank 1 but is rank 0")],
    ),
    OpCase(
        "ParseSingleSequenceExample",
        [
            *(one(RECORDS[0]), strings(b"e"), [one(b"a")], [one(b"b")], [one(b"d")], [one(b"e")]),
            *([np.int64(9)], one(b"name")),
        ],
        lambda texts, *others: reference(texts, False)[:-1],
        TYPES,
        static_shape=[[None, 1], [None], [1], [], [None, 2], [None], [2], [None, 2]],
        errors=[
            Error(
                [
                    *(strings(*RECORDS), strings(b"e"), [one(b"a")], [one(b"b")], [one(b"d")], [one(b"e")]),
                    *([np.int64(9)], one(b"name")),
                ],
                ValueError,
                "Shape must be rank 0 but is rank 1",
            )
        ],
    ),
]
test_rows = op_tests(CASES)


def test_no_records_at_all() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        features = {"f": tf.FixedLenSequenceFeature([2], tf.float32), "w": tf.VarLenFeature(tf.int64)}
        found = tf.io.parse_sequence_example(tf.zeros([0], tf.string), {"a": tf.FixedLenFeature([], tf.int64)}, features)
        context, sequences, lengths = session.run(found)
    assert context["a"].shape == lengths["f"].shape == (0,)
    assert sequences["f"].shape == (0, 0, 2)
    assert sequences["w"].dense_shape.tolist() == [0, 0, 0]
