"""Rows of concurrent steps that are computed together: Batch, Unbatch, BatchFunction. Source: `batch_ops`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import FailedPreconditionError, invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, as_shape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import own_copies
from tfexp.ops.batching_resource import BatchQueue, Parcels, Task

_NAMES = "container: string = ''; shared_name: string = ''"
_MICRO = 1e-6


def _of_any_rows(shape: InputShape) -> TensorShape:
    known = as_shape(shape).with_rank_at_least(1)
    return known if known.rank is None else TensorShape([None, *known.as_list()[1:]])


# --- in one step, out of others ------------------------------------------------------------------------------------------

batch = define_op(
    "Batch(in_tensors: T) -> (batched_tensors: T, batch_index: int64, id: int64) {num_batch_threads: int; max_batch_size: "
    "int; max_enqueued_batches: int = 10; batch_timeout_micros: int; allowed_batch_sizes: list(int) = []; "
    f"grad_timeout_micros: int; {_NAMES}; batching_queue: string = ''; T: list(type) >= 1}} #stateful"
)
unbatch = define_op(
    "Unbatch(batched_tensor: T, batch_index: int64, id: int64) -> (unbatched_tensor: T) "
    f"{{timeout_micros: int; {_NAMES}; T: type}} #stateful"
)
unbatch_grad = define_op(
    "UnbatchGrad(original_input: T, batch_index: int64, grad: T, id: int64) -> (batched_grad: T) "
    f"{{{_NAMES}; T: type}} #stateful"
)


@batch.shape
def _(in_tensors: Sequence[InputShape]) -> list[TensorShape]:
    return [*map(_of_any_rows, in_tensors), TensorShape([None, 3]), TensorShape([])]


@batch.kernel("CPU", waits=True)
def _(
    ctx: Any,
    in_tensors: Sequence[Any],
    *,
    num_batch_threads: int,
    max_batch_size: int,
    max_enqueued_batches: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int],
    container: str,
    shared_name: str,
    batching_queue: str,
) -> Any:
    """The first of the steps whose rows are together gets all of them; the others get none."""
    queue = ctx.resource(
        container,
        shared_name or ctx.node_name,
        lambda: BatchQueue(
            _to_the_first,
            num_batch_threads,
            max_batch_size,
            max_enqueued_batches,
            batch_timeout_micros * _MICRO,
            allowed_batch_sizes,
        ),
        f"batch {batching_queue}",
    )
    return queue.put(own_copies(in_tensors)).now()


def _to_the_first(tasks: list[Task], joined: list[np.ndarray]) -> None:
    ends = np.cumsum([task.rows for task in tasks])
    index = np.array([[task.number, end - task.rows, end] for task, end in zip(tasks, ends, strict=True)], np.int64)
    for task in tasks[1:]:
        task.keep([*(array[:0] for array in joined), index[:0], np.int64(task.number)])
    tasks[0].keep([*joined, index, np.int64(tasks[0].number)])


@batch.gradient
def _(op: Operation, *grads: Any) -> list[Tensor]:
    """The gradients of a batch are handed out as its rows are."""
    *batched, _, _ = grads
    index, number = op.outputs[-2:]
    timeout = op.get_attr("grad_timeout_micros")
    return [
        unbatch(grad, index, number, timeout_micros=timeout, shared_name=f"batch_gradient_{op.name}_{i}")
        for i, grad in enumerate(batched)
    ]


@unbatch.shape
def _(batched_tensor: InputShape, batch_index: InputShape, id: InputShape) -> TensorShape:
    return _of_any_rows(batched_tensor)


@unbatch.kernel("CPU", waits=True)
def _(
    ctx: Any, batched: Any, batch_index: Any, number: Any, *, timeout_micros: int, container: str, shared_name: str
) -> Any:
    """The step's own rows of what the step that got the batch made of it."""
    if np.ndim(batched) == 0:
        raise invalid("input must have at least one dimension")
    parcels = ctx.resource(container, shared_name or ctx.node_name, Parcels, "unbatch")
    parcels.leave({key: np.array(batched[start:end]) for key, start, end in batch_index.tolist()})
    return parcels.take([int(number)], lambda parts: parts[0], timeout_micros * _MICRO)


@unbatch.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    batched, index, number = op.inputs
    return [unbatch_grad(batched, index, grad, number, shared_name=f"unbatch_gradient_{op.name}"), None, None]


@unbatch_grad.shape
def _(original_input: InputShape, batch_index: InputShape, grad: InputShape, id: InputShape) -> TensorShape:
    return _of_any_rows(grad)


@unbatch_grad.kernel("CPU", waits=True)
def _(ctx: Any, original_input: Any, batch_index: Any, grad: Any, number: Any, *, container: str, shared_name: str) -> Any:
    """All gradients for the step that got the batch, with zeros for rows that filled it up; none for the others."""
    parcels = ctx.resource(container, shared_name or ctx.node_name, Parcels, "gradients of unbatch")
    parcels.leave({int(number): np.array(grad)})
    if not len(batch_index):
        return np.zeros_like(original_input[:0])

    def joined(parts: list[np.ndarray]) -> np.ndarray:
        whole = np.zeros_like(original_input)
        for (_, start, end), part in zip(batch_index.tolist(), parts, strict=True):
            whole[start:end] = part
        return whole

    return parcels.take(batch_index[:, 0].tolist(), joined)


# --- a function of the rows ----------------------------------------------------------------------------------------------

batch_function = define_op(
    "BatchFunction(in_tensors: Tin, captured_tensors: Tcaptured) -> (out_tensors: Tout) {f: func; num_batch_threads: int; "
    "max_batch_size: int; batch_timeout_micros: int; max_enqueued_batches: int = 10; allowed_batch_sizes: list(int) = []; "
    f"{_NAMES}; batching_queue: string = ''; Tin: list(type) >= 1; Tcaptured: list(type) >= 0; Tout: list(type) >= 1}} "
    "#stateful"
)


@batch_function.shape
def _(in_tensors: Any, captured_tensors: Any, *, Tout: list[DType]) -> list[TensorShape]:
    return [TensorShape(None)] * len(Tout)


@batch_function.kernel("CPU", waits=True)
def _(
    ctx: Any,
    in_tensors: Sequence[Any],
    captured_tensors: Sequence[Any],
    *,
    f: Any,
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    max_enqueued_batches: int,
    allowed_batch_sizes: Sequence[int],
    container: str,
    shared_name: str,
    batching_queue: str,
) -> Any:
    function = ctx.function(f)
    queue = ctx.resource(
        container,
        shared_name or ctx.node_name,
        lambda: BatchQueue(
            lambda tasks, joined: _apply(function, tasks, joined),
            num_batch_threads,
            max_batch_size,
            max_enqueued_batches,
            batch_timeout_micros * _MICRO,
            allowed_batch_sizes,
        ),
        f"batch function {batching_queue}",
    )
    return queue.put(own_copies(in_tensors), captured_tensors).now()


def _apply(function: Any, tasks: list[Task], joined: list[np.ndarray]) -> None:
    """Run the function once, and cut what it gives into the tasks' rows."""
    results = function([*joined, *tasks[0].captured])
    rows = joined[0].shape[0]
    for result in results:
        if np.ndim(result) == 0:
            raise FailedPreconditionError(None, None, "Batched output tensor has 0 dimensions")
        if result.shape[0] != rows:
            raise FailedPreconditionError(
                None,
                None,
                "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input "
                f"tensors: {result.shape[0]} and {rows}",
            )
    ends = np.cumsum([task.rows for task in tasks])
    for task, end in zip(tasks, ends, strict=True):
        task.keep([result[end - task.rows : end] for result in results])
