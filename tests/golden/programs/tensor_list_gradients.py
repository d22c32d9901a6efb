"""Gradients of TensorLists, by their ops' own names.

What is read is read from lists of elements of any shape: shapes that lists tell each other are not inferred here.
"""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values


class _Lists:
    """A tensor, a row and the ops on lists with what is always the same filled in."""

    def __init__(self, tf: Any):
        self.tf, self.op = tf, tf.raw_ops
        self.x = tf.placeholder(tf.float32, [3, 2], name="x")
        self.row = tf.placeholder(tf.float32, [2], name="row")
        self.rows = tf.placeholder(tf.float32, [None, 2], name="rows")
        self.given = self.op.TensorListFromTensor(tensor=self.x, element_shape=[2])

    def stack(self, made: Any) -> Any:
        shape = self.tf.constant([2])
        return self.op.TensorListStack(input_handle=made, element_shape=shape, element_dtype=self.tf.float32)

    def gradients(self, results: list[Any]) -> Outcome:
        """A run of the results' squares, so that gradients have values of their own, and of their gradients."""
        squares = [self.tf.square(result) for result in results]
        found = self.tf.gradients(squares, [self.x, self.row, self.rows])
        feeds = {self.x: values("x", 3, 2), self.row: values("row", 2), self.rows: values("rows", 1, 2)}
        return runs(Run([*squares, *(grad for grad in found if grad is not None)], feeds))


@program("issue 4.3: lists that are altered")
def altered(tf: Any) -> Outcome:
    lists = _Lists(tf)
    op, given = lists.op, lists.given
    pushed = op.TensorListPushBack(input_handle=given, tensor=lists.row)
    popped, last = op.TensorListPopBack(input_handle=given, element_shape=[2], element_dtype=tf.float32)
    made = [
        *(pushed, popped, op.TensorListSetItem(input_handle=given, index=1, item=lists.row)),
        op.TensorListScatterIntoExistingList(input_handle=given, tensor=lists.rows, indices=[1]),
        op.TensorListResize(input_handle=given, size=5),
    ]
    return lists.gradients([*map(lists.stack, made), last])


@program("issue 4.3: what is read from lists")
def read(tf: Any) -> Outcome:
    lists = _Lists(tf)
    op, given = lists.op, lists.op.TensorListFromTensor(tensor=lists.x, element_shape=-1)
    item = op.TensorListGetItem(input_handle=given, index=1, element_shape=[2], element_dtype=tf.float32)
    some = op.TensorListGather(input_handle=given, indices=[2, 0], element_shape=[2], element_dtype=tf.float32)
    _, popped = op.TensorListPopBack(input_handle=lists.given, element_shape=[2], element_dtype=tf.float32)
    length = tf.cast(op.TensorListLength(input_handle=given), tf.float32)
    return lists.gradients([item, some, popped, lists.stack(given), length])


@program("issue 4.3: lists of rows and of parts")
def made_of_tensors(tf: Any) -> Outcome:
    lists = _Lists(tf)
    op, x, lengths = lists.op, lists.x, tf.constant([1, 2], tf.int64)
    scattered = op.TensorListScatterV2(tensor=x, indices=[2, 0, 1], element_shape=[2], num_elements=-1)
    older = op.TensorListScatter(tensor=x, indices=[2, 0, 1], element_shape=[2])
    parts = op.TensorListSplit(tensor=x, element_shape=-1, lengths=lengths)
    joined = op.TensorListConcatV2(
        input_handle=parts, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32
    )
    older_joined = op.TensorListConcat(input_handle=parts, element_dtype=tf.float32)
    return lists.gradients([lists.stack(scattered), lists.stack(older), joined[0], older_joined[0]])
