"""TensorLists, by their ops' own names: the lists that loops of TensorFlow 2 keep their values in."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("O7: TensorLists made, altered and read")
def tensor_lists(tf: Any) -> Outcome:
    op = tf.raw_ops
    rows = values("rows", 3, 2)
    kind = tf.float32

    def get(made: Any, index: int) -> Any:
        return op.TensorListGetItem(input_handle=made, index=index, element_shape=[2], element_dtype=kind)

    def stack(made: Any, shape: Any = (2,), **attrs: Any) -> Any:
        return op.TensorListStack(input_handle=made, element_shape=tf.constant(shape, tf.int32), element_dtype=kind, **attrs)

    reserved = op.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=kind)
    one_set = op.TensorListSetItem(input_handle=reserved, index=1, item=rows[0])
    whole = op.TensorListFromTensor(tensor=rows, element_shape=[2])
    empty = op.EmptyTensorList(element_shape=[2], max_num_elements=2, element_dtype=kind)
    pushed = op.TensorListPushBack(input_handle=op.TensorListPushBack(input_handle=empty, tensor=rows[0]), tensor=rows[1])
    popped, last = op.TensorListPopBack(input_handle=pushed, element_shape=[2], element_dtype=kind)
    grown = op.TensorListResize(input_handle=whole, size=5)
    scattered = op.TensorListScatterV2(tensor=rows, indices=[4, 0, 2], element_shape=[2], num_elements=-1)
    older = op.TensorListScatter(tensor=rows, indices=[1, 0, 2], element_shape=[2])
    into = op.TensorListScatterIntoExistingList(input_handle=whole, tensor=rows[:1], indices=[3])
    split = op.TensorListSplit(tensor=rows, element_shape=[-1, 2], lengths=tf.constant([1, 2], tf.int64))
    both = op.TensorListConcatLists(input_a=whole, input_b=pushed, element_dtype=kind)
    joined = op.TensorListConcatV2(
        input_handle=split, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), element_dtype=kind
    )
    fetches = [
        *(stack(x) for x in (one_set, whole, popped, scattered, older, into, both)),
        stack(grown, num_elements=5),
        get(one_set, 0),
        get(one_set, 1),
        last,
        op.TensorListGather(input_handle=whole, indices=[2, 0, 2], element_shape=[2], element_dtype=kind),
        *joined,
        *(op.TensorListLength(input_handle=x) for x in (reserved, popped, grown, into)),
        stack(tf.add_n([one_set, whole])),
        stack(tf.raw_ops.ZerosLike(x=whole)),
    ]
    return runs(Run(fetches))
