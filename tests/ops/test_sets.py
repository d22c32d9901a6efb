"""Rows of the set ops, against Python's sets."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.sets import set_difference, set_intersection, set_size

OPERATIONS = {"a-b": set.difference, "b-a": lambda a, b: b - a, "intersection": set.intersection, "union": set.union}
DENSE1 = np.int64([[[1, 2, 2], [3, 4, 5]], [[6, 6, 6], [7, 8, -9]]])
DENSE2 = np.int64([[[2, 9], [3, 3]], [[1, 2], [-9, 8]]])
INDICES = np.int64([[0, 0, 1], [0, 1, 0], [0, 1, 4], [1, 1, 0]])
ELEMENTS = np.int64([2, 3, 3, 8])
DIMS = np.int64([2, 2, 5])
OTHER = (np.int64([[0, 0, 0], [0, 1, 0], [1, 0, 1]]), np.int64([2, 9, 6]), np.int64([2, 2, 3]))


def of_dense(array):
    return {place: set(array[place].tolist()) for place in np.ndindex(*array.shape[:-1])}


def of_sparse(indices, values, dims):
    sets = {place: set() for place in np.ndindex(*dims[:-1])}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        sets[tuple(index[:-1])].add(value)
    return sets


def combined(a, b, operation, outer, dtype):
    results = {place: sorted(OPERATIONS[operation](a[place], b[place])) for place in a}
    indices = [(*place, i) for place, found in results.items() for i in range(len(found))]
    values = [value for found in results.values() for value in found]
    longest = max(map(len, results.values()))
    return np.int64(indices).reshape(-1, len(outer) + 1), np.array(values, dtype), np.int64([*outer, longest])


def words(array):
    return np.vectorize(lambda v: b"w%d" % v, otypes=[object])(array)


def test_without_validation_the_order_does_not_matter() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 1])
        assert session.run(set_difference([[1], [2]], x, validate_indices=False)).values.tolist() == [1, 2]
        assert session.run(set_size(x, validate_indices=False)).tolist() == [1, 1]


def test_integers_far_apart() -> None:
    ends = [[-(2**63), 2**63 - 1, 0]]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(set_intersection(tf.constant(ends, tf.int64), tf.constant([[5, 2**63 - 1]], tf.int64)))
    assert found.values.tolist() == [2**63 - 1]


def test_types_that_sets_are_not_made_of() -> None:
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="'a' has invalid dtype"):
            set_intersection([[1.0]], [[1.0]])
        with pytest.raises(TypeError, match="Types don't match"):
            set_difference([[1]], tf.constant([[1.0]]))
        with pytest.raises(TypeError, match="Expected `SparseTensor`"):
            set_size([[1]])


UNSORTED = "indices[1] = [0,0,0] is out of order. Many sparse ops require sorted indices."
BAD_PLACES = [
    (np.int64([[1, 0, 0], [0, 0, 0]]), UNSORTED),
    (np.int64([[0, 0, 0], [0, 0, 0]]), "indices[1] = [0,0,0] is repeated"),
    (np.int64([[0, 0, 0], [0, 0, 7]]), "indices[1] = [0,0,7] is out of bounds: need 0 <= index < [2,2,5]"),
]
CASES = [
    OpCase(
        "DenseToDenseSetOperation",
        [cast(DENSE1), cast(DENSE2)],
        lambda a, b, op=operation: combined(of_dense(a), of_dense(b), op, (2, 2), a.dtype),
        attrs={"set_operation": operation},
        dtypes=["int64"],
        label=f"{operation} {kind}",
        errors=[
            Error([np.int32([[1]]), np.int32([[1], [2]])], InvalidArgumentError, "Mismatched shapes [1] vs [2]"),
            Error([np.int32([1]), np.int32([1])], InvalidArgumentError, "Invalid rank 1"),
            Error([np.int32([1]), np.int32([[1]])], ValueError, "Shape must be at least rank 2 but is rank 1"),
            Error([np.int32([[1]]), np.int32([[1], [2]])], ValueError, "must be equal, but are 1 and 2"),
            Error([DENSE1, DENSE2], InvalidArgumentError, "Invalid set_operation x", attrs={"set_operation": "x"}),
        ],
    )
    for operation in OPERATIONS
    for kind, cast in (("int64", np.int64), ("int16", np.int16), ("string", words))
]
CASES += [
    OpCase(
        "DenseToSparseSetOperation",
        [DENSE1, INDICES, ELEMENTS, DIMS],
        lambda a, i, v, s, op=operation: combined(of_dense(a), of_sparse(i, v, s), op, (2, 2), a.dtype),
        attrs={"set_operation": operation},
        label=operation,
        static_shape=[[None, 3], [None], [3]],
        errors=[
            *[Error([DENSE1, bad, ELEMENTS[:2], DIMS], InvalidArgumentError, text) for bad, text in BAD_PLACES],
            Error([DENSE1, INDICES, ELEMENTS[:2], DIMS], ValueError, "and values (2) do not match."),
            Error([DENSE1[0], INDICES, ELEMENTS, DIMS], ValueError, "Shape must be rank 3 but is rank 2"),
        ],
    )
    for operation in OPERATIONS
]
CASES += [
    OpCase(
        "SparseToSparseSetOperation",
        [INDICES, ELEMENTS, DIMS, *OTHER],
        lambda i, v, s, j, w, t, op=operation: combined(of_sparse(i, v, s), of_sparse(j, w, t), op, (2, 2), v.dtype),
        attrs={"set_operation": operation},
        label=operation,
        static_shape=[[None, 3], [None], [3]],
        errors=[
            Error(
                [INDICES, ELEMENTS, DIMS, *OTHER[:2], np.int64([2, 3, 3])],
                InvalidArgumentError,
                "Mismatched shapes [2,2] vs [2,3]",
            ),
            Error([INDICES, ELEMENTS, DIMS[:2], *OTHER], ValueError, "Index rank (3) and shape rank (2) do not match."),
            Error([INDICES[:, :1], ELEMENTS, DIMS[:1], *OTHER], ValueError, "a tensor of at least two, not of 1"),
        ],
    )
    for operation in OPERATIONS
]
CASES += [
    OpCase(
        "SetSize",
        [INDICES, ELEMENTS, DIMS],
        np.int32([[1, 1], [0, 1]]),
        static_shape=[None],
        errors=[
            *[Error([bad, ELEMENTS[:2], DIMS], InvalidArgumentError, text) for bad, text in BAD_PLACES],
            Error([np.int64([[0]]), ELEMENTS[:1], np.int64([3])], InvalidArgumentError, "Invalid rank 1"),
        ],
    ),
]
test_rows = op_tests(CASES)
