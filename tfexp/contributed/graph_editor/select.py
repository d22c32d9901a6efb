"""Which operations and tensors are meant: lists of them, by names, and between others.

Source: `tf.contrib.graph_editor`, TF 1.15.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


def _leaves(given: Any, what: str) -> Iterator[Any]:
    if isinstance(given, Graph):
        yield from given.get_operations()
    elif isinstance(given, (list, tuple, set, frozenset)):
        for one in given:
            yield from _leaves(one, what)
    elif hasattr(given, "ops") and hasattr(given, "inputs") and hasattr(given, "outputs"):  # a view
        yield from given.ops
    elif given is not None:
        yield getattr(given, "op", given) if what == "op" and not isinstance(given, (Operation, Tensor)) else given


def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Operation]:
    """The operations of an operation, a list, a graph or a view, each once, in order.

    TypeError for what is no operation (tensors are left out with `ignore_ts`), and for a graph unless `allow_graph`;
    ValueError, with `check_graph`, for operations of different graphs.
    """
    if isinstance(ops, Graph) and not allow_graph:
        raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
    found: dict[Operation, None] = {}
    for one in _leaves(ops, "op"):
        if isinstance(one, Tensor) and ignore_ts:
            continue
        if not isinstance(one, Operation):
            raise TypeError(f"Expected a tf.Operation, got: {one!r} ({type(one).__name__})")
        found[one] = None
    if check_graph:
        get_unique_graph(found)
    return list(found)


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> list[Tensor]:
    """The tensors of a tensor, a list or a graph (all of it), in order. Errors as for `make_list_of_op`."""
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    found = []
    for one in _leaves(ts, "t"):
        if isinstance(one, Operation) and ignore_ops:
            continue
        tensor = one._ref() if hasattr(one, "_ref") else one  # a variable's reference
        if not isinstance(tensor, Tensor):
            raise TypeError(f"Expected a tf.Tensor, got: {one!r} ({type(one).__name__})")
        found.append(tensor)
    if check_graph:
        get_unique_graph(found)
    return found


def get_unique_graph(tops: Iterable[Any], none_if_empty: bool = True) -> Any:
    """The graph of operations or tensors, None of none. ValueError where they are of different ones."""
    graph = None
    for one in tops:
        if graph is not None and one.graph is not graph:
            raise ValueError(f"{one} does not belong to the graph of those before it: {graph} vs {one.graph}")
        graph = one.graph
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph. TypeError for what is none."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph).__name__}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_generating_ops(ts: Any) -> list[Operation]:
    """The operations that make these tensors, each once."""
    return list(dict.fromkeys(tensor.op for tensor in make_list_of_t(ts, allow_graph=False)))


def get_consuming_ops(ts: Any) -> list[Operation]:
    """The operations that take these tensors in, each once."""
    return list(dict.fromkeys(op for tensor in make_list_of_t(ts, allow_graph=False) for op in tensor.consumers()))


# --- by name ------------------------------------------------------------------------------------------------------------


def filter_ops(ops: Any, positive_filter: Callable[[Operation], bool] | None) -> list[Operation]:
    """Those of the operations of which the filter (None: all) says True."""
    return [op for op in make_list_of_op(ops) if positive_filter is None or positive_filter(op)]


def filter_ts(ops: Any, positive_filter: Callable[[Tensor], bool] | None) -> list[Tensor]:
    """Those of the operations' inputs and outputs of which the filter (None: all) says True, each once."""
    all_of_them = dict.fromkeys(t for op in make_list_of_op(ops) for t in (*op.inputs, *op.outputs))
    return [t for t in all_of_them if positive_filter is None or positive_filter(t)]


def _searches(regex: Any) -> Callable[[Any], bool]:
    pattern = re.compile(regex)
    return lambda named: pattern.search(named.name) is not None


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Operation]:
    """Those of the operations in whose names the regular expression is found."""
    return filter_ops(ops, _searches(regex))


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Tensor]:
    """Those of the operations' tensors in whose names the regular expression is found."""
    return filter_ts(ops, _searches(regex))


def get_name_scope_ops(ops: Any, scope: str) -> list[Operation]:
    """Those of the operations that are below a name scope, or have its name."""
    scope = scope.rstrip("/")
    return filter_ops(ops, lambda op: op.name == scope or op.name.startswith(f"{scope}/"))


def select_ops(*args: Any, graph: Graph | None = None, positive_filter: Any = None, restrict_ops_regex: Any = None) -> Any:
    """The operations of `args`: operations, views, lists of them, and regular expressions of names in `graph`.

    A string that starts with "(?#ts)" is about tensors, and is left out. ValueError for strings without `graph`.
    """
    found: dict[Operation, None] = {}
    limit = _searches(restrict_ops_regex) if restrict_ops_regex is not None else (lambda op: True)
    for pattern, ops in _selected(args, graph, "(?#ts)"):
        chosen = filter_ops_from_regex(graph, pattern) if pattern else make_list_of_op(ops, ignore_ts=True)
        for op in chosen:
            if limit(op) and (positive_filter is None or positive_filter(op)):
                found[op] = None
    return list(found)


def select_ts(*args: Any, graph: Graph | None = None, positive_filter: Any = None, restrict_ts_regex: Any = None) -> Any:
    """The tensors of `args`, as `select_ops` selects operations; strings that start with "(?#ops)" are left out."""
    found: dict[Tensor, None] = {}
    limit = _searches(restrict_ts_regex) if restrict_ts_regex is not None else (lambda t: True)
    for pattern, ts in _selected(args, graph, "(?#ops)"):
        chosen = filter_ts_from_regex(graph, pattern) if pattern else make_list_of_t(ts, ignore_ops=True)
        for t in chosen:
            if limit(t) and (positive_filter is None or positive_filter(t)):
                found[t] = None
    return list(found)


def _selected(args: Sequence[Any], graph: Graph | None, of_others: str) -> Iterator[tuple[Any, Any]]:
    """(regular expression, None) or (None, what else it is), of each argument."""
    for arg in args:
        if not isinstance(arg, (str, re.Pattern)):
            yield None, arg
            continue
        if graph is None:
            raise ValueError(f"Use the keyword argument 'graph' to say where {arg!r} is to be found.")
        text = arg if isinstance(arg, str) else arg.pattern
        if not text.startswith(of_others):
            yield arg, None


def select_ops_and_ts(*args: Any, graph: Graph | None = None, **kwargs: Any) -> tuple[list[Operation], list[Tensor]]:
    """(the operations, the tensors) of `args`; strings for tensors have to start with "(?#ts)"."""
    marked = [a for a in args if isinstance(a, str) and a.startswith("(?#ts)")]
    others = [a for a in args if not isinstance(a, str)]
    return select_ops(*args, graph=graph, **kwargs), select_ts(*marked, *others, graph=graph)


# --- by control edges ---------------------------------------------------------------------------------------------------


class ControlOutputs:
    """What waits for an operation of `graph`, as it is now. TypeError for what is no graph."""

    def __init__(self, graph: Graph):
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph

    def update(self) -> ControlOutputs:
        """Itself: it is never out of date."""
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        """For each operation that others wait for, these."""
        return {op: self.get(op) for op in self._graph.get_operations() if op._control_outputs}

    def get(self, op: Operation) -> list[Operation]:
        return list(op._control_outputs)

    @property
    def graph(self) -> Graph:
        return self._graph


def check_cios(
    control_inputs: bool = False, control_outputs: ControlOutputs | None = None, control_ios: ControlOutputs | None = None
) -> tuple[bool, ControlOutputs | None]:
    """(whether to go by control inputs, what to go by to control outputs); `control_ios` stands for both.

    TypeError for what is no ControlOutputs, ValueError for `control_outputs` beside `control_ios`.
    """
    if control_ios is not None and control_outputs is not None:
        raise ValueError("control_outputs should be None when using control_ios.")
    outputs = control_outputs if control_ios is None else control_ios
    if outputs is not None and not isinstance(outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(outputs)}")
    return control_inputs or control_ios is not None, outputs


def get_ops_ios(
    ops: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations that these take tensors from or give them to, and by control edges as `check_cios` has it."""
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    found: dict[Operation, None] = {}
    for op in make_list_of_op(ops):
        found |= dict.fromkeys(tensor.op for tensor in op.inputs)
        found |= dict.fromkeys(taking for tensor in op.outputs for taking in tensor.consumers())
        if before:
            found |= dict.fromkeys(op.control_inputs)
        if after is not None:
            found |= dict.fromkeys(after.get(op))
    return list(found)


# --- between others -----------------------------------------------------------------------------------------------------


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Any = (),
    control_outputs: ControlOutputs | None = None,
) -> list[Operation]:
    """The operations that depend on these (or on the operations that take these tensors in), nearest first.

    inclusive: with the seeds. within_ops, within_ops_fn: only through those; seeds that are not in `within_ops` are none.
    stop_at_ts: not through these tensors. control_outputs: by control edges, too.
    """
    check_cios(False, control_outputs)

    def onwards(op: Operation, stops: set[Tensor]) -> Iterator[Operation]:
        for tensor in op.outputs:
            if tensor not in stops:
                yield from tensor.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op)

    return _walk(seed_ops, get_consuming_ops, onwards, inclusive, within_ops, within_ops_fn, stop_at_ts)


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[Operation]:
    """The operations that these depend on (or that make these tensors), nearest first; see `get_forward_walk_ops`."""

    def back(op: Operation, stops: set[Tensor]) -> Iterator[Operation]:
        yield from (tensor.op for tensor in op.inputs if tensor not in stops)
        if control_inputs:
            yield from op.control_inputs

    return _walk(seed_ops, get_generating_ops, back, inclusive, within_ops, within_ops_fn, stop_at_ts)


def _walk(
    seeds: Any,
    of_tensors: Callable[[Any], list[Operation]],
    neighbours: Callable[[Operation, set[Tensor]], Iterator[Operation]],
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Callable[[Operation], bool] | None,
    stop_at_ts: Any,
) -> list[Operation]:
    flat = list(nest.flatten(list(seeds) if isinstance(seeds, (set, frozenset)) else seeds))
    tensors = bool(flat) and not isinstance(flat[0], Operation)
    start = of_tensors(flat) if tensors else make_list_of_op(flat, allow_graph=False)
    allowed = None if within_ops is None else set(make_list_of_op(within_ops))
    start = [op for op in start if allowed is None or op in allowed]
    stops = set(make_list_of_t(stop_at_ts))

    def is_within(op: Operation) -> bool:
        return (allowed is None or op in allowed) and (within_ops_fn is None or within_ops_fn(op))

    found: dict[Operation, None] = dict.fromkeys(start)
    wave = list(start)
    while wave:
        following = dict.fromkeys(n for op in wave for n in neighbours(op, stops) if n not in found and is_within(n))
        found |= following
        wave = list(following)
    return list(found) if inclusive else [op for op in found if op not in set(start)]


def _both_walks(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[list[Operation], list[Operation]]:
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    within = {"within_ops": within_ops, "within_ops_fn": within_ops_fn}
    return (
        get_forward_walk_ops(forward_seed_ops, forward_inclusive, control_outputs=after, **within),
        get_backward_walk_ops(backward_seed_ops, backward_inclusive, control_inputs=before, **within),
    )


def get_walks_union_ops(forward_seed_ops: Any, backward_seed_ops: Any, **walk: Any) -> list[Operation]:
    """The operations that depend on the ones or that the others depend on; `walk`: see `get_forward_walk_ops`."""
    forward, backward = _both_walks(forward_seed_ops, backward_seed_ops, **walk)
    return list(dict.fromkeys([*forward, *backward]))


def get_walks_intersection_ops(forward_seed_ops: Any, backward_seed_ops: Any, **walk: Any) -> list[Operation]:
    """The operations on a way from the ones to the others; `walk`: see `get_forward_walk_ops`."""
    forward, backward = _both_walks(forward_seed_ops, backward_seed_ops, **walk)
    reached = set(backward)
    return [op for op in forward if op in reached]


def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[Operation]:
    """Those of `ops` that are connected with the seeds otherwise than through `boundary_ops`, which count if `inclusive`.

    By control edges as `check_cios` has it. ValueError for a seed in the boundary.
    """
    before, after = check_cios(control_inputs, control_outputs, control_ios)
    wave, boundary = make_list_of_op(seed_ops, allow_graph=False), set(make_list_of_op(boundary_ops))
    found = set(wave)
    if boundary & found:
        raise ValueError("Boundary is intersecting with the seeds.")
    while wave:
        around = [op for op in get_ops_ios(wave, before, after) if op not in found]
        wave = [op for op in around if op not in boundary]
        found.update(around if inclusive else wave)
    return [op for op in make_list_of_op(ops) if op in found]


def compute_boundary_ts(ops: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """(what comes into the operations, what leaves them, what is taken in where it is made).

    What nobody takes in leaves them; a tensor may be both taken in inside and leave.
    """
    listed = make_list_of_op(ops)
    inside = set(listed)
    made = [t for op in listed for t in op.outputs]
    coming = dict.fromkeys(t for op in listed for t in op.inputs if t.op not in inside)
    leaving = [t for t in made if not t.consumers() or any(op not in inside for op in t.consumers())]
    return list(coming), leaving, [t for t in made if any(op in inside for op in t.consumers())]
