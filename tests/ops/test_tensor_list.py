"""TensorLists beyond their values (those: tests/golden/programs/tensor_lists.py): shapes that are not known, other types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors

op = tf.raw_ops


@pytest.fixture(autouse=True)
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def from_rows(rows: Any, shape: Any = -1) -> Any:
    return op.TensorListFromTensor(tensor=np.asarray(rows, np.float32), element_shape=tf.constant(shape, tf.int32))


def test_shapes_as_far_as_they_are_known(session: tf.Session) -> None:
    shapes = {-1: -1, (2, -1): [2, -1], (2, 3): [2, 3]}
    for given, expected in shapes.items():
        made = from_rows(np.ones((4, 2, 3)), given)
        found = session.run(op.TensorListElementShape(input_handle=made, shape_type=tf.int64))
        assert found.tolist() == expected and found.dtype == np.int64
        stacked = op.TensorListStack(input_handle=made, element_shape=tf.constant(-1), element_dtype=tf.float32)
        assert stacked.shape.rank is None and session.run(stacked).shape == (4, 2, 3)


def test_what_a_list_keeps_is_its_own(session: tf.Session) -> None:
    fed = tf.placeholder(tf.float32, [2])
    pushed = op.TensorListPushBack(input_handle=from_rows([[0.0, 0.0]]), tensor=fed * 2.0)
    later = op.TensorListPushBack(input_handle=pushed, tensor=fed * 3.0)
    stacked = op.TensorListStack(input_handle=later, element_shape=[2], element_dtype=tf.float32)
    results = [session.run(stacked, {fed: [n, n + 1]}) for n in range(4)]
    for n, rows in enumerate(results):
        np.testing.assert_array_equal(rows, [[0, 0], [2 * n, 2 * n + 2], [3 * n, 3 * n + 3]])


def item_at(index: int) -> Any:
    return op.TensorListGetItem(input_handle=from_rows([[1.0]]), index=index, element_shape=[1], element_dtype=tf.float32)


def empty(most: int = -1) -> Any:
    return op.EmptyTensorList(element_shape=[1], max_num_elements=most, element_dtype=tf.float32)


# What TensorFlow 2.21 refuses, too.
REFUSED = [
    (lambda: item_at(1), "Trying to access element 1 in a list with 1 elements"),
    (lambda: item_at(-1), "Trying to access element -1 in a list"),
    (
        lambda: op.TensorListLength(
            input_handle=op.TensorListSetItem(input_handle=from_rows([[1.0]], [1]), index=0, item=[1.0, 2.0])
        ),
        "incompatible shape at a list index",
    ),
    (lambda: op.TensorListLength(input_handle=op.TensorListPushBack(input_handle=empty(0), tensor=[1.0])), "full list"),
    (lambda: op.TensorListPopBack(input_handle=empty(), element_shape=[1], element_dtype=tf.float32)[1], "empty list"),
    (
        lambda: op.TensorListLength(
            input_handle=op.TensorListReserve(element_shape=[1], num_elements=-2, element_dtype=tf.float32)
        ),
        "must be a non negative number",
    ),
    (lambda: op.TensorListLength(input_handle=from_rows([[1.0]], 3)), "scalar shape"),
    (lambda: op.TensorListLength(input_handle=from_rows([[1.0]], [2])), "Specified a list with shape"),
    (
        lambda: op.TensorListGetItem(input_handle=from_rows([[1.0]]), index=0, element_shape=[1], element_dtype=tf.int32),
        "Invalid data types",
    ),
    (
        lambda: op.TensorListStack(
            input_handle=op.TensorListReserve(element_shape=-1, num_elements=2, element_dtype=tf.float32),
            element_shape=tf.constant(-1),
            element_dtype=tf.float32,
        ),
        "not fully defined",
    ),
    (
        lambda: op.TensorListStack(
            input_handle=from_rows([[1.0]]), element_shape=[1], element_dtype=tf.float32, num_elements=2
        ),
        "expected a list with 2 elements but got a list with 1",
    ),
    (lambda: op.TensorListLength(input_handle=tf.add_n([from_rows([[1.0]]), from_rows([[1.0]] * 2)])), "one length"),
    (
        lambda: op.TensorListLength(
            input_handle=op.TensorListSplit(tensor=[1.0, 2.0], element_shape=[-1], lengths=np.array([1], np.int64))
        ),
        "Unused values in tensor",
    ),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_refusals(session: tf.Session, build: Any, message: str) -> None:
    node = build()
    with pytest.raises(errors.InvalidArgumentError, match=message):
        session.run(node)
