"""Rows of the ops that cross features, against loops over rows; TensorFlow's hashes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

PLACES = [np.int64([[0, 0], [2, 0], [2, 1]]), np.int64([[0, 0], [1, 0], [2, 1], [2, 2]])]
VALUES = [np.array([b"a", b"b", b"c"], object), np.int64([5, 6, -7, 8])]
DIMS = [np.int64([3, 2]), np.int64([3, 3])]
DENSE = [np.array([[b"d", b"q"], [b"e", b"r"], [b"f", b"s"]], object)]


def text(value):
    return value if isinstance(value, bytes) else b"%d" % value


def crossed(separator):
    def reference(indices, values, shapes, dense, *rest):
        places, found, widest = [], [], 0
        for row in range(3):
            columns = [[v for i, v in zip(p, x, strict=True) if i[0] == row] for p, x in zip(indices, values, strict=True)]
            columns += [list(d[row]) for d in dense]
            combinations = [separator.join(map(text, each)) for each in itertools.product(*columns)]
            places += [(row, i) for i in range(len(combinations))]
            found += combinations
            widest = max(widest, len(combinations))
        return np.int64(places), np.array(found, object), np.int64([3, widest])

    return reference


# Of TensorFlow 2.21, for these inputs, 47 buckets and a key of 0.
TF_HASHES = np.int64([11, 5, 40, 10, 37, 22, 39, 4, 31, 5])
ATTRS = {"hashed_output": False, "num_buckets": 0, "hash_key": 0, "out_type": tf.string, "internal_type": tf.string}
ERRORS = [
    ([[PLACES[0][:, :1]], VALUES[:1], DIMS[:1], DENSE], "Expected D2 of index to be 2 got 1 at position 0"),
    ([PLACES, VALUES, [DIMS[0], np.int64([4, 3])], DENSE], "Expected batch size 3 got 4 at position 1"),
    ([PLACES, VALUES, DIMS, [DENSE[0][:2]]], "Expected batch size 3 got 2 at dense tensor 0"),
    ([[PLACES[0] + 1], VALUES[:1], DIMS[:1], DENSE], "Expected rows in [0, 3) got 3 at position 0"),
    ([[PLACES[0]], [VALUES[0][:2]], DIMS[:1], DENSE], "Expected size of values to be 3 got [2] at position 0"),
]
CASES = [
    OpCase(
        "SparseCross",
        [PLACES, VALUES, DIMS, DENSE],
        crossed(b"_X_"),
        attrs=ATTRS,
        errors=[Error(inputs, InvalidArgumentError, said) for inputs, said in ERRORS],
        static_shape=[[None, 2], [None], [2]],
    ),
    OpCase(
        "SparseCross",
        [PLACES, VALUES, DIMS, DENSE],
        lambda i, v, s, d: (crossed(b"")(i, v, s, d)[0], TF_HASHES, np.int64([3, 8])),
        attrs={**ATTRS, "hashed_output": True, "num_buckets": 47, "out_type": tf.int64, "internal_type": tf.int64},
        static_shape=[[None, 2], [None], [2]],
        label="hashed",
    ),
    OpCase(
        "SparseCrossV2",
        [PLACES, VALUES, DIMS, DENSE, np.array(b"-", object)],
        crossed(b"-"),
        static_shape=[[None, 2], [None], [2]],
    ),
]
test_rows = op_tests(CASES)


def test_functions() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        words = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
        dense = tf.constant([[7], [8]])
        assert session.run(tf.sparse.cross([dense, words])).values.tolist() == [b"a_X_7", b"b_X_8", b"c_X_8"]
        # TensorFlow's numbers.
        assert session.run(tf.sparse.cross_hashed([words])).values.tolist() == [
            3550520439517529108,
            5701958020731327761,
            5287514571041673476,
        ]
        with pytest.raises(TypeError, match="Inputs must be a list"):
            tf.sparse.cross(words)
