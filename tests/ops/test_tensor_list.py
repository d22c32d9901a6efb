"""TensorLists beyond their values (those: tests/golden/programs/tensor_lists.py): shapes that are not known, other types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.stand_ins import list_ops

op = tf.raw_ops


@pytest.fixture(autouse=True)
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def unknown(value: Any, dtype: Any = tf.int32) -> Any:
    """A value that a graph does not know."""
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


def from_rows(rows: Any, shape: Any = -1) -> Any:
    return op.TensorListFromTensor(tensor=np.asarray(rows, np.float32), element_shape=tf.convert_to_tensor(shape, tf.int32))


def test_shapes_as_far_as_they_are_known(session: tf.Session) -> None:
    shapes = {-1: -1, (2, -1): [2, -1], (2, 3): [2, 3]}
    for given, expected in shapes.items():
        made = from_rows(np.ones((4, 2, 3)), given)
        found = session.run(op.TensorListElementShape(input_handle=made, shape_type=tf.int64))
        assert found.tolist() == expected and found.dtype == np.int64
        stacked = op.TensorListStack(input_handle=made, element_shape=tf.constant(-1), element_dtype=tf.float32)
        row = None if given == -1 else [None if size == -1 else size for size in given]
        assert stacked.shape.as_list() == [None, *row] if row else stacked.shape.rank is None
        assert session.run(stacked).shape == (4, 2, 3)


def test_what_a_list_keeps_is_its_own(session: tf.Session) -> None:
    fed = tf.placeholder(tf.float32, [2])
    pushed = op.TensorListPushBack(input_handle=from_rows([[0.0, 0.0]]), tensor=fed * 2.0)
    later = op.TensorListPushBack(input_handle=pushed, tensor=fed * 3.0)
    stacked = op.TensorListStack(input_handle=later, element_shape=[2], element_dtype=tf.float32)
    results = [session.run(stacked, {fed: [n, n + 1]}) for n in range(4)]
    for n, rows in enumerate(results):
        np.testing.assert_array_equal(rows, [[0, 0], [2 * n, 2 * n + 2], [3 * n, 3 * n + 3]])


def test_lists_made_of_one_list_leave_it_and_each_other_as_they_are(session: tf.Session) -> None:
    rows = np.arange(40.0, dtype=np.float32).reshape(20, 2)
    base, row = from_rows(rows, [2]), np.float32([-1.0, -2.0])
    made = [
        base,
        op.TensorListSetItem(input_handle=base, index=7, item=row),
        op.TensorListPushBack(input_handle=base, tensor=row),
        op.TensorListPopBack(input_handle=base, element_shape=[2], element_dtype=tf.float32)[0],
        op.TensorListScatterIntoExistingList(input_handle=base, tensor=np.stack([row, row]), indices=[3, 21]),
        op.TensorListConcatLists(input_a=base, input_b=base, element_dtype=tf.float32),
        op.TensorListResize(input_handle=op.TensorListResize(input_handle=base, size=2), size=3),
        tf.add_n([base, base]),
        tf.zeros_like(base),
    ]
    stacked = [op.TensorListStack(input_handle=one, element_shape=[2], element_dtype=tf.float32) for one in made]
    changed, nothing = rows.copy(), np.zeros_like(rows[:1])
    changed[7] = row
    scattered = np.concatenate([rows, nothing, [row]])
    scattered[3] = row
    expected = [
        rows,
        changed,
        np.concatenate([rows, [row]]),
        rows[:-1],
        scattered,
        np.concatenate([rows, rows]),
        np.concatenate([rows[:2], nothing]),
        2 * rows,
        0 * rows,
    ]
    for order in (slice(None), slice(None, None, -1)):
        for found, wanted in zip(session.run(stacked[order]), expected[order], strict=True):
            np.testing.assert_array_equal(found, wanted)


def item_at(index: int) -> Any:
    return op.TensorListGetItem(input_handle=from_rows([[1.0]]), index=index, element_shape=[1], element_dtype=tf.float32)


def split(tensor: Any, lengths: Any) -> Any:
    parts = op.TensorListSplit(tensor=tensor, element_shape=[-1], lengths=tf.convert_to_tensor(lengths, tf.int64))
    return op.TensorListLength(input_handle=parts)


def empty(most: int = -1) -> Any:
    return op.EmptyTensorList(element_shape=[1], max_num_elements=most, element_dtype=tf.float32)


def hidden(tensor: Any) -> Any:
    """The same, of which nothing is known before the run."""
    return tf.placeholder_with_default(tensor, None)


# What TensorFlow 2.21 refuses, too.
REFUSED = [
    (lambda: item_at(1), "Trying to access element 1 in a list with 1 elements"),
    (lambda: item_at(-1), "Trying to access element -1 in a list"),
    (
        lambda: op.TensorListLength(
            input_handle=op.TensorListSetItem(input_handle=from_rows([[1.0]], [1]), index=0, item=hidden([1.0, 2.0]))
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
    (lambda: op.TensorListLength(input_handle=from_rows([[1.0]], unknown(3))), "scalar shape"),
    (lambda: op.TensorListLength(input_handle=from_rows([[1.0]], hidden([2]))), "Specified a list with shape"),
    (
        lambda: op.TensorListGetItem(
            input_handle=hidden(from_rows([[1.0]])), index=0, element_shape=[1], element_dtype=tf.int32
        ),
        "Invalid data types",
    ),
    (
        lambda: op.TensorListStack(
            input_handle=op.TensorListReserve(element_shape=-1, num_elements=2, element_dtype=tf.float32),
            element_shape=tf.constant(-1),
            element_dtype=tf.float32,
        ),
        "non-fully-defined element_shape: <unknown>",
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
    (lambda: split([1.0, 2.0], [1, 2]), r"Attempting to slice \[1, 3\] from tensor with length 2"),
    (lambda: split([1.0], [-1, 2]), "Invalid value in lengths: -1"),
    (lambda: split([1.0], unknown([[1]], tf.int64)), r"Expected lengths to be a vector, received shape: \[1,1\]"),
    (lambda: split(hidden(1.0), [1]), r"Tensor must be at least a vector, but saw shape: \[\]"),
    (
        lambda: op.TensorListLength(input_handle=op.TensorListSetItem(input_handle=from_rows([[1.0]]), index=3, item=[1.0])),
        "Trying to modify element 3 in a list with 1 elements",
    ),
    (
        lambda: op.TensorListLength(input_handle=op.TensorListPushBack(input_handle=empty(), tensor=[1.0, 2.0])),
        r"Tried to append a tensor with incompatible shape to a list. Op element shape: \[2\] list shape: \[1\]",
    ),
    (
        lambda: op.TensorListConcatV2(
            input_handle=op.TensorListFromTensor(tensor=[1.0], element_shape=tf.constant([], tf.int32)),
            element_shape=-1,
            leading_dims=np.zeros(0, np.int64),
            element_dtype=tf.float32,
        )[0],
        "found scalars instead",
    ),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_refusals(session: tf.Session, build: Any, message: str) -> None:
    node = build()
    with pytest.raises(errors.InvalidArgumentError, match=message):
        session.run(node)


def emptied(shape: Any) -> Any:
    return op.EmptyTensorList(element_shape=tf.constant(shape, tf.int32), max_num_elements=-1, element_dtype=tf.float32)


def elements(handle: Any, shape: Any = -1, dtype: Any = tf.float32) -> Any:
    """The static shape of what is read from a list."""
    item = op.TensorListGetItem(
        input_handle=handle, index=0, element_shape=tf.constant(shape, tf.int32), element_dtype=dtype
    )
    return None if item.shape.rank is None else item.shape.as_list()


def test_what_is_read_has_the_shape_that_the_list_has() -> None:
    known, partly = emptied([2, 3]), emptied([-1, 3])
    item = tf.placeholder(tf.float32, [2, 3])
    assert elements(partly, [2, -1]) == [2, 3]
    assert elements(op.TensorListSetItem(input_handle=partly, index=0, item=item)) == [None, 3]
    assert elements(op.TensorListPushBack(input_handle=partly, tensor=item)) == [None, 3]
    assert elements(op.TensorListConcatLists(input_a=emptied(-1), input_b=known, element_dtype=tf.float32)) == [2, 3]
    assert elements(op.TensorListResize(input_handle=known, size=4)) == [2, 3]
    rest, last = op.TensorListPopBack(input_handle=known, element_shape=-1, element_dtype=tf.float32)
    assert elements(rest) == last.shape.as_list() == [2, 3]
    joined, _ = op.TensorListConcat(input_handle=known, element_dtype=tf.float32)
    assert joined.shape.as_list() == [None, 3]
    shape = op.TensorListElementShape(input_handle=partly, shape_type=tf.int32)
    assert elements(op.TensorListReserve(element_shape=shape, num_elements=1, element_dtype=tf.float32)) == [None, 3]
    gathered = op.TensorListGather(input_handle=known, indices=[0, 1], element_shape=-1, element_dtype=tf.float32)
    assert gathered.shape.as_list() == [2, 2, 3]


def test_what_hands_a_list_on_hands_on_what_is_known_of_it() -> None:
    known, item = emptied([2, 3]), tf.placeholder(tf.float32, [2, 3])
    assert elements(tf.identity(known)) == elements(tf.zeros_like(known)) == [2, 3]
    assert elements(op.Switch(data=known, pred=True)[0]) == [2, 3]
    assert elements(op.Enter(data=known, frame_name="loop")) == [2, 3]
    assert elements(tf.add_n([known, emptied([2, -1])])) == [2, 3]
    assert elements(tf.cond(tf.constant(True), lambda: known, lambda: known)) is None  # nor in TensorFlow

    @tf.function
    def called() -> Any:
        def body(i: Any, values: Any) -> Any:
            assert elements(values) == [2, 3]
            return i + 1, op.TensorListPushBack(input_handle=values, tensor=item)

        return tf.while_loop(lambda i, _: i < 3, body, [0, known])[1]

    assert elements(called()) == [2, 3]


def test_lists_that_cannot_hold_what_is_asked_for() -> None:
    known = emptied([2, 3])
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and 3"):
        elements(known, [3, 3])
    with pytest.raises(ValueError, match="Expected list with element dtype int32 but got list with element dtype float"):
        elements(known, dtype=tf.int32)
    with pytest.raises(ValueError, match="Trying to push to list with wrong element dtype"):
        op.TensorListPushBack(input_handle=known, tensor=1)
    with pytest.raises(ValueError, match="Trying to read from list with wrong element dtype"):
        op.TensorListStack(input_handle=known, element_shape=-1, element_dtype=tf.int32)
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal"):
        op.TensorListSetItem(input_handle=known, index=0, item=np.ones([2, 4], np.float32))


def test_a_batch_of_lists(session: tf.Session) -> None:
    lists = tf.stack([from_rows([[1.0], [2.0]]), empty()])
    longer = op.TensorListPushBackBatch(input_handles=lists, tensor=[[5.0], [7.0]])
    assert longer.shape == [2]
    stacks = [
        op.TensorListStack(input_handle=one, element_shape=[1], element_dtype=tf.float32) for one in tf.unstack(longer)
    ]
    assert [rows.ravel().tolist() for rows in session.run(stacks)] == [[1.0, 2.0, 5.0], [7.0]]
    both = tf.unstack(op.TensorListConcatLists(input_a=lists, input_b=longer, element_dtype=tf.float32))
    assert session.run([op.TensorListLength(input_handle=one) for one in both]) == [5, 1]
    wrong = op.TensorListPushBackBatch(input_handles=tf.placeholder_with_default(lists, None), tensor=[[5.0]])
    with pytest.raises(errors.InvalidArgumentError, match=r"Expected tensor.shape\[0\] == input_handles.size"):
        session.run(wrong.op)


def test_lists_of_shapes_that_are_not_known(session: tf.Session) -> None:
    rows = list_ops.tensor_list_from_tensor([[1.0, 2.0], [3.0, 4.0]], element_shape=tf.TensorShape([None]))
    assert session.run(list_ops.tensor_list_get_item(rows, 1, tf.float32)).tolist() == [3.0, 4.0]
    longer = list_ops.tensor_list_set_item(rows, 3, [5.0], resize_if_index_out_of_bounds=True)
    assert session.run(list_ops.tensor_list_pop_back(longer, tf.float32)[1]).tolist() == [5.0]
    assert session.run(list_ops.tensor_list_concat(rows, tf.float32, element_shape=None)).tolist() == [1.0, 2.0, 3.0, 4.0]
    placed = list_ops.tensor_list_scatter([5.0, 6.0], [2, 0], element_shape=[])
    assert session.run(list_ops.tensor_list_stack(placed, tf.float32, element_shape=[])).tolist() == [6.0, 0.0, 5.0]
    again = list_ops.tensor_list_scatter([7.0], [1], input_handle=placed)
    assert session.run(list_ops.tensor_list_gather(again, [1, 0], tf.float32, [])).tolist() == [7.0, 6.0]
    kept = list_ops.tensor_list_reserve(None, 2, tf.float32)
    with pytest.raises(errors.InvalidArgumentError, match="only contains uninitialized tensors"):
        session.run(list_ops.tensor_list_stack(kept, tf.float32))


def test_gradients_of_lists_of_scalars(session: tf.Session) -> None:
    x = tf.constant([1.0, 2.0])
    rows = list_ops.tensor_list_from_tensor(x, element_shape=[])
    squares = list_ops.tensor_list_stack(rows, tf.float32, element_shape=[]) ** 2
    assert session.run(tf.gradients(squares, x)[0]).tolist() == [2.0, 4.0]


def test_what_has_not_been_set_has_the_shape_of_what_is_read_with_it(session: tf.Session) -> None:
    lists = list_ops.tensor_list_set_item(list_ops.tensor_list_reserve(None, 3, tf.float32), 0, [1.0, 2.0])
    assert session.run(list_ops.tensor_list_gather(lists, [2, 0], tf.float32)).tolist() == [[0.0, 0.0], [1.0, 2.0]]
    assert session.run(list_ops.tensor_list_concat(lists, tf.float32)).tolist() == [1.0, 2.0] + [0.0] * 4
    lengths = {"leading_dims": tf.constant([1, 1, 3], tf.int64), "element_dtype": tf.float32}
    joined = op.TensorListConcatV2(input_handle=lists, element_shape=-1, **lengths)[0]
    assert session.run(joined).tolist() == [1.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    full = list_ops.tensor_list_from_tensor([[1.0], [2.0]], element_shape=[1])
    for refused, message in [
        (list_ops.tensor_list_gather(lists, [1, 2], tf.float32), "not fully defined"),
        (list_ops.tensor_list_pop_back(lists, tf.float32)[1], "not fully defined"),
        (list_ops.tensor_list_concat(full, tf.float32, element_shape=unknown([2])), "Incompatible"),
        (list_ops.tensor_list_concat(list_ops.empty_tensor_list([], tf.float32), tf.float32), "at least vectors"),
        (list_ops.tensor_list_stack(tf.stack([full, full]), tf.float32), r"must be a scalar saw: \[2\]"),
        (op.TensorListConcatLists(input_a=full, input_b=lists, element_dtype=tf.float32), "not identical"),
    ]:
        with pytest.raises(errors.InvalidArgumentError, match=message):
            session.run(refused)
    with pytest.raises(ValueError, match="not '-1'"):
        list_ops.empty_tensor_list(tf.constant(5), tf.float32)
    with pytest.raises(errors.UnimplementedError, match="Cast variant to float"):
        session.run(tf.cast(full, tf.float32))
