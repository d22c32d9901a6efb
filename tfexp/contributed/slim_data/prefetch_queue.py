"""`tf.contrib.slim.prefetch_queue`: a queue that threads keep full of what a graph computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops.cast import cast
from tfexp.ops.queue import FIFOQueue, PaddingFIFOQueue, QueueBase
from tfexp.ops.summary import scalar
from tfexp.train.queue_runner import QueueRunner, add_queue_runner


def prefetch_queue(
    tensors: Sequence[Any] | Mapping[str, Any],
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of the tensors (a list or a dict), `capacity` times ahead. ValueError where there are none.

    With `dynamic_pad` their shapes may be known in part.
    """
    names = list(tensors) if isinstance(tensors, Mapping) else None
    values = list(tensors.values()) if isinstance(tensors, Mapping) else list(tensors)
    if not values:
        raise ValueError("Must provide at least one tensor")
    with name_scope(name, "prefetch_queue", values) as scope:
        kept = [convert_to_tensor(value) for value in values]
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = kind(
            capacity,
            dtypes=[tensor.dtype for tensor in kept],
            shapes=[tensor.shape for tensor in kept],
            names=names,
            shared_name=shared_name,
        )
        enqueue = queue.enqueue(kept if names is None else dict(zip(names, kept, strict=True)))
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads))
        scalar(f"{scope}fraction_of_{capacity}_full", cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue
