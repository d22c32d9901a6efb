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
from tfexp.ops.calls import call_and_record, finish_function, forget_function, function_name
from tfexp.ops.dataset_lift import lifted_tensors
from tfexp.ops.functional import map_fn


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """`fn` of each row of the tensors in `elems`, its results stacked, as `tf.map_fn` gives them.

    The nodes of `fn` compute all rows at once where each of them can; with one that cannot (random numbers, say), it is
    `tf.map_fn`. ValueError for tensors without a first dimension.
    """
    with name_scope(None, "vectorized_map", nest.flatten(elems)):
        rows = nest.map_structure(convert_to_tensor, elems, expand_composites=True)
        if any(tensor.shape.rank == 0 for tensor in nest.flatten(rows, expand_composites=True)):
            raise ValueError(f"tf.vectorized_map: elems must have a first dimension, got {elems}")
        return _called(fn, rows) if get_default_graph().is_eager else _mapped(fn, rows)


def _mapped(fn: Callable[[Any], Any], elems: Any) -> Any:
    """In a graph: the nodes of one row are made, and those for all rows after their pattern.

    Those of the row are in the graph itself, so that `fn` can differentiate what has been computed there before.
    """
    tensors = [identity(tensor) for tensor in nest.flatten(elems, expand_composites=True)]
    graph = get_default_graph()
    with name_scope("loop_body"):
        ops = [graph.add_node("Placeholder", [], {"dtype": t.dtype, "shape": t.shape[1:]}, name="row") for t in tensors]
        row = [op.outputs[0] for op in ops]
        results = Results(fn(nest.pack_sequence_as(elems, row, expand_composites=True)))
        outputs = [identity(tensor) for tensor in results.tensors]
    lifted = lifted_tensors(outputs, dict(zip(row, tensors, strict=True)))
    if lifted is None:
        return map_fn(fn, elems, dtype=results.map(lambda tensor: tensor.dtype))
    count = shape(tensors[0])[:1]
    return results.pack([value.tensor if value.many else _repeated(value.tensor, count) for value in lifted])


def _called(fn: Callable[[Any], Any], elems: Any) -> Any:
    """In eager execution: as a function that is called once."""
    tensors = nest.flatten(elems, expand_composites=True)
    outer = get_default_graph()
    graph = FunctionGraph(function_name("vectorized_map"), outer)
    with graph.as_default():
        inputs = [graph.argument(t.dtype, t.shape, f"rows_{i}") for i, t in enumerate(tensors)]
        results = Results(_mapped(fn, nest.pack_sequence_as(elems, inputs, expand_composites=True)))
        outputs = [graph.capture(tensor) for tensor in results.tensors]
    function, captured = finish_function(graph, inputs, outputs)
    call = call_and_record(function, [*tensors, *captured])
    call.lease = _Lease()
    weakref.finalize(call.lease, forget_function, outer._functions, function)
    return results.pack(call.outputs[: len(outputs)])


class _Lease:
    """Held by the tapes that have recorded the call."""


def _repeated(value: Tensor, count: Any) -> Tensor:
    result: Tensor = broadcast_to(value, concat([count, shape(value)], 0))
    return result
