"""`tf.nondifferentiable_batch_function`: a function of rows that concurrent steps call together. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.functions.function import function
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops.batching import batch_function


def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: calls of concurrent `Session.run`s are one call, with their tensors joined along the first dimension.

    A batch is computed when it has `max_batch_size` rows, or `batch_timeout_micros` after its first row came;
    `num_batch_threads` batches are at a time. Where there are `allowed_batch_sizes`, which grow and end with
    `max_batch_size`, batches are filled up with copies of their first row. While `max_enqueued_batches` wait, further calls
    are an UnavailableError. InvalidArgumentError for calls of more rows than a batch has, for scalars and for tensors of
    different numbers of rows; FailedPreconditionError where a result has not as many.

    The function takes tensors and returns one or a list; ValueError for other arguments.
    It has no gradient.
    """

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def decorated(*args: Any) -> Any:
            for arg in args:
                if not isinstance(arg, Tensor):
                    raise ValueError(
                        "All arguments to functions decorated with `batch_function` are supposed to be Tensors; found "
                        f"{arg!r}"
                    )
            specs = [TensorSpec(arg.shape, arg.dtype, str(i)) for i, arg in enumerate(args)]
            traced = function(lambda *rows: fn(*rows), autograph=autograph).get_concrete_function(*specs)
            with name_scope("batch") as name:
                return batch_function(
                    list(args),
                    traced.captured_inputs,
                    f=traced,
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    max_enqueued_batches=max_enqueued_batches,
                    allowed_batch_sizes=list(allowed_batch_sizes or ()),
                    shared_name=name,
                    Tout=[output.dtype for output in traced.outputs],
                )

        return decorated

    return decorator
