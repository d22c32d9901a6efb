"""`tf.vectorized_map`: a map over the first dimension as one computation on all of it. Source: TF 1.15."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.results import Results
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import broadcast_to
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.calls import add_function, call_and_record, finish_function, forget_function, function_name
from tfexp.ops.dataset_lift import lifted_function
from tfexp.ops.functional import map_fn


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """`fn` of each row of the tensors in `elems`, its results stacked, as `tf.map_fn` gives them.

    The nodes of `fn` compute all rows at once where each of them can; with one that cannot (random numbers, say), it is
    `tf.map_fn`. ValueError for tensors without a first dimension.
    """
    with name_scope(None, "vectorized_map", nest.flatten(elems)):
        rows = nest.map_structure(convert_to_tensor, elems, expand_composites=True)
        tensors = nest.flatten(rows, expand_composites=True)
        if any(tensor.shape.rank == 0 for tensor in tensors):
            raise ValueError(f"tf.vectorized_map: elems must have a first dimension, got {elems}")
        outer = get_default_graph()
        graph = FunctionGraph(function_name("vectorized_map"), outer)
        with graph.as_default():
            inputs = [graph.argument(t.dtype, t.shape[1:], f"row_{i}") for i, t in enumerate(tensors)]
            results = Results(fn(nest.pack_sequence_as(rows, inputs, expand_composites=True)))
            outputs = [identity(graph.capture(tensor)) for tensor in results.tensors]
        function, captured = finish_function(graph, inputs, outputs)
        lifted = lifted_function(function, len(captured))
        forget_function(outer._functions, function)
        if lifted is None:
            dtypes = results.map(lambda tensor: tensor.dtype)
            return map_fn(fn, rows, dtype=dtypes)
        of_rows, many = lifted
        add_function(outer, of_rows)
        call = call_and_record(of_rows, [*tensors, *captured])
        if outer.is_eager:
            call.lease = _Lease()
            weakref.finalize(call.lease, forget_function, outer._functions, of_rows)
        count = shape(tensors[0])[:1]
        return results.pack(
            [value if is_many else _repeated(value, count) for value, is_many in zip(call.outputs, many, strict=False)]
        )


class _Lease:
    """Held by the tapes that have recorded the call."""


def _repeated(value: Tensor, count: Any) -> Tensor:
    result: Tensor = broadcast_to(value, concat([count, shape(value)], 0))
    return result
