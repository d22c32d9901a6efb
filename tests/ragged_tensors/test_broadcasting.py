"""Broadcasting of ragged tensors, against what their nested lists say, and what they are made of refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ragged_tensors.dynamic_shape import RaggedTensorDynamicShape as Shape
from tfexp.ragged_tensors.dynamic_shape import broadcast_dynamic_shape, broadcast_to

ROWS = [[1, 2], [3]]
DEEP = [[[1, 2]], [[3, 4], [5]]]
EVEN = [[[1, 2]], [[3, 4], [5, 6]]]


def ragged(rows: Any, **options: Any) -> Any:
    return tf.ragged.constant(rows, **options)


def lists(value: Any) -> Any:
    with tf.Session() as session:
        found = session.run(value)
    return found.to_list() if isinstance(found, tf.ragged.RaggedTensorValue) else np.asarray(found).tolist()


REPEATED: dict[str, tuple[Callable[[], Any], Any]] = {
    "a number": (lambda: ragged(ROWS) + 10, [[11, 12], [13]]),
    "a vector of one": (lambda: ragged(ROWS) * [10], [[10, 20], [30]]),
    "on the left": (lambda: [10] - ragged(ROWS), [[9, 8], [7]]),
    "a column": (lambda: ragged(ROWS) * [[10], [20]], [[10, 20], [60]]),
    "a column, by the function": (lambda: tf.add([[10], [20]], ragged(ROWS)), [[11, 12], [23]]),
    "by keywords": (lambda: tf.add(y=ragged(ROWS), x=[[10], [20]]), [[11, 12], [23]]),
    "a column of deeper rows": (lambda: ragged(DEEP) * [[[10]], [[20]]], [[[10, 20]], [[60, 80], [100]]]),
    "the inner dimension": (lambda: ragged(EVEN, ragged_rank=1) * [10, 20], [[[10, 40]], [[30, 80], [50, 120]]]),
    "a column before an even one": (
        lambda: ragged(EVEN, ragged_rank=1) * [[[10]], [[20]]],
        [[[10, 20]], [[60, 80], [100, 120]]],
    ),
    "one row for all": (
        lambda: ragged([[[1, 2], [3]], [[4, 5], [6]]]) + ragged([[[10, 20], [30]]]),
        [[[11, 22], [33]], [[14, 25], [36]]],
    ),
    "a smaller rank": (
        lambda: ragged([[[1, 2], [3]], [[4, 5], [6]]]) + ragged([[10, 20], [30]]),
        [[[11, 22], [33]], [[14, 25], [36]]],
    ),
}


@pytest.mark.parametrize("name", REPEATED)
def test_sizes_of_one_are_repeated(name: str) -> None:
    make, expected = REPEATED[name]
    assert lists(make()) == expected


@pytest.mark.parametrize("other", [[10, 20], [[1, 2], [3, 4]]])
def test_sizes_that_do_not_fit_fail_in_the_run(other: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension size mismatch in dimension"):
        lists(ragged(ROWS) + other)


def test_rows_of_different_lengths_fail_in_the_run() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        lists(ragged(ROWS) * ragged([[1], [3]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        lists(tf.stack([ragged(ROWS), ragged([[4], [5, 6]])], axis=2))


def test_row_splits_of_two_types_are_refused() -> None:
    with pytest.raises(ValueError, match="mismatched row_splits dtypes"):
        ragged(ROWS) + ragged(ROWS, row_splits_dtype=tf.int32)


def test_a_shape_has_partitioned_and_inner_dimensions() -> None:
    shape = Shape.from_dim_sizes([2, [1, 2], 3, 4])
    assert (shape.rank, shape.num_partitioned_dimensions, shape.num_inner_dimensions) == (4, 2, 2)
    assert [shape.is_ragged(axis) for axis in range(4)] == [False, True, False, False]
    assert lists([shape.dimension_size(1), shape.dimension_size(3)][0]) == [1, 2]
    assert lists(shape.inner_dim_sizes) == [3, 4]
    of_tensor = Shape.from_tensor(ragged(EVEN, ragged_rank=1))
    assert [lists(size) for size in of_tensor.partitioned_dim_sizes] == [2, [1, 2]]
    assert lists(of_tensor.inner_dim_sizes) == [2]
    assert of_tensor.with_dim_size_dtype(tf.int32).dim_size_dtype == tf.int32
    assert lists(of_tensor.broadcast_to_rank(5).dimension_size(2)) == 2


def test_shapes_are_broadcast_to_the_sizes_of_both() -> None:
    x = Shape.from_tensor(ragged(ROWS))
    both = broadcast_dynamic_shape(x, Shape.from_dim_sizes([3, 1, 1]))
    assert [lists(size) for size in both.partitioned_dim_sizes] == [3, 2, [2, 1, 2, 1, 2, 1]]
    wide = x.broadcast_dimension(0, 2)
    assert [lists(size) for size in wide.partitioned_dim_sizes] == [2, [2, 1]]
    assert lists(Shape.from_dim_sizes([1, 3]).broadcast_dimension(0, 4).inner_dim_sizes) == [4, 3]


def test_values_are_broadcast_to_a_shape() -> None:
    shape = Shape.from_dim_sizes([2, [1, 3]])
    assert lists(broadcast_to([[1], [2]], shape)) == [[1], [2, 2, 2]]
    assert lists(broadcast_to(7, shape)) == [[7], [7, 7, 7]]
    assert lists(broadcast_to([7], Shape.from_dim_sizes([2, 3]))) == [[7] * 3] * 2
    inner = Shape.from_dim_sizes([2, [1, 2], 2])
    assert lists(broadcast_to([[[1]], [[2]]], inner)) == [[[1, 1]], [[2, 2], [2, 2]]]
    assert lists(broadcast_to(ragged([[[1]], [[2], [3]]], ragged_rank=1), inner)) == [[[1, 1]], [[2, 2], [3, 3]]]


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "an outermost ragged dimension": (lambda: Shape([[1, 2]], [1]), ValueError, "outermost partitioned"),
    "an innermost uniform one": (lambda: Shape([2, [1, 1], 2], [1]), ValueError, "innermost partitioned"),
    "sizes that are no list": (lambda: Shape(3, [1]), TypeError, "should be a list"),
    "sizes of a matrix": (lambda: Shape.from_dim_sizes([2, [[1]]]), ValueError, "a scalar or a vector"),
    "an axis below 0 to repeat": (lambda: Shape([2, [1, 2]], []).broadcast_dimension(-1, 3), ValueError, "Negative axis"),
    "rows for an even shape": (
        lambda: broadcast_to(ragged(ROWS), Shape.from_dim_sizes([2, 1])),
        ValueError,
        "is ragged, and",
    ),
    "a constructor's call": (lambda: tf.RaggedTensor(tf.constant([1]), tf.constant([0, 1])), ValueError, "private"),
    "empty splits": (lambda: tf.RaggedTensor.from_row_splits([1], []), ValueError, "may not be empty"),
    "lists of depths": (lambda: ragged([[1], [[2]]]), ValueError, "same nesting depth"),
    "a ragged rank as deep as the lists": (lambda: ragged([[1]], ragged_rank=2), ValueError, "depth greater than 2"),
    "values of different lengths": (lambda: ragged([[[1], [2, 3]]], ragged_rank=1), ValueError, "inconsistent shape"),
    "an inner shape of another depth": (
        lambda: ragged([[1, 2]], ragged_rank=1, inner_shape=(2,)),
        ValueError,
        "ragged_rank=1 and dim(inner_shape)=1",
    ),
    "a default of a row's rank": (lambda: ragged(ROWS).to_tensor([9]), ValueError, "rank at most 0"),
    "an axis outside": (lambda: ragged(ROWS).row_lengths(axis=2), ValueError, "expected -2<=axis<2"),
    "an axis that is no int": (lambda: tf.reduce_sum(ragged(ROWS), axis="a"), TypeError, "must be an int; got str"),
    "ranks that differ": (lambda: tf.concat([ragged(ROWS), ragged(DEEP)], 0), ValueError, "must have rank 2"),
    "numbers of rows that differ": (lambda: tf.concat([ragged(ROWS), ragged([[1]])], 1), ValueError, "incompatible"),
    "nothing to stack": (lambda: tf.ragged.stack([]), ValueError, "may not be empty"),
    "a mask of another shape": (lambda: tf.ragged.boolean_mask([1, 2], [[True]]), ValueError, "incompatible"),
    "one tensor of splits": (
        lambda: tf.RaggedTensor.from_nested_row_splits([1], tf.constant([0, 1])),
        TypeError,
        "nested_row_splits must be a list",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name: str) -> None:
    make, error, words = REFUSED[name]
    with pytest.raises(error, match=re.escape(words)):
        make()


MADE: dict[str, tuple[Callable[[], Any], Any]] = {
    "lengths of the innermost": (lambda: ragged(DEEP).row_lengths(axis=-1), [[2], [2, 1]]),
    "lengths of an even dimension": (lambda: ragged(EVEN, ragged_rank=1).row_lengths(axis=2), [[2], [2, 2]]),
    "strings joined along rows": (
        lambda: tf.reduce_join(ragged([["a", "b"], ["c"]]), axis=1, separator="-"),
        [b"a-b", b"c"],
    ),
    "strings joined across rows": (lambda: tf.strings.reduce_join(ragged([["a", "b"], ["c"]]), axis=0), [b"ac", b"b"]),
    "one hot": (
        lambda: tf.one_hot(ragged([[0, 1], [2]]), 3, on_value=5, off_value=6),
        [[[5, 6, 6], [6, 5, 6]], [[6, 6, 5]]],
    ),
    "clipped to a type": (lambda: tf.saturate_cast(ragged([[1], [300]]), tf.uint8), [[1], [255]]),
    "every second row": (lambda: ragged([[1], [2, 3], [4]])[::2], [[1], [4]]),
    "arrays in a list": (lambda: ragged([np.array([1, 2]), np.array([3])]), ROWS),
    "all axes": (lambda: tf.reduce_sum(ragged(ROWS), axis=[0, 1]), 6),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_is_what_the_lists_say(name: str) -> None:
    make, expected = MADE[name]
    assert lists(make()) == expected


def test_static_shapes_and_types_are_known() -> None:
    assert ragged(ROWS)[::2].shape.as_list() == [1, None]
    assert tf.concat([ragged(ROWS), ragged(ROWS)], axis=1).shape.as_list() == [2, None]
    assert tf.tile(ragged(ROWS), [2, 1]).shape.as_list() == [4, None]
    assert ragged([[]]).dtype == tf.float32
    parted = tf.ragged.stack_dynamic_partitions(["a", "b"], [1, 0], 2)
    assert parted.row_splits.dtype == tf.int32


@pytest.mark.parametrize(("axis", "slices"), [(-1, 1), (0, 2), (1, 4), (2, 16)])
def test_slices_are_counted(axis, slices):
    shape = Shape.from_dim_sizes([2, [3, 1], 4])
    with tf.Session() as session:
        assert session.run(shape.num_slices_in_dimension(axis)) == slices
    with pytest.raises(ValueError, match="Expected axis=3 < rank=3"):
        shape.num_slices_in_dimension(3)
