"""Parts of graphs copied, within a graph or to another. Source: `tf.contrib.graph_editor`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.contributed.graph_editor import select
from tfexp.contributed.graph_editor.view import SubGraphView, make_view
from tfexp.contributed.graph_editor.wiring import make_placeholder_from_tensor
from tfexp.core import nest
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor


class TransformerInfo:
    """What became of what: `transformed` of an original, `original` of a copy; operations, tensors or their names."""

    def __init__(self, graph: Graph, graph_: Graph, scope: str, scope_: str):
        self.graph, self.graph_, self.scope, self.scope_ = graph, graph_, scope, scope_
        self.transformed_ops: dict[Operation, Operation] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The copy of an operation or tensor, or of a structure of them; None, or what `missing_fn` says, without one."""
        return nest.map_structure(lambda one: self._other(one, self.graph, False, missing_fn), original)

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The other way round."""
        return nest.map_structure(lambda one: self._other(one, self.graph_, True, missing_fn), transformed)

    def _other(self, one: Any, graph: Graph, back: bool, missing_fn: Callable[[Any], Any] | None) -> Any:
        element = graph.as_graph_element(one)
        found: dict[Any, Any] = dict(self.transformed_ts if isinstance(element, Tensor) else self.transformed_ops)
        if back:
            found = {copy: source for source, copy in found.items()}
        if element in found:
            return found[element]
        return None if missing_fn is None else missing_fn(element)

    def __str__(self) -> str:
        pairs = [f"  {op.name} -> {copy.name}" for op, copy in self.transformed_ops.items()]
        return "\n".join(["Transformer result info:", *pairs])


def _in_order(ops: list[Operation]) -> list[Operation]:
    """Each after those of which it takes outputs in, but for what closes a loop: a NextIteration comes after its Merge."""
    inside, placed = set(ops), dict[Operation, None]()
    for start in ops:
        stack = [start]
        while stack:
            before = [t.op for t in stack[-1].inputs if t.op in inside and t.op not in placed and not _closes_loop(t.op)]
            if before:
                stack += before
            else:
                placed[stack.pop()] = None
    return list(placed)


def _closes_loop(op: Operation) -> bool:
    return op.type in ("NextIteration", "RefNextIteration")


def _copied(
    view: SubGraphView,
    input_of: Callable[[Tensor, TransformerInfo], Tensor],
    graph: Graph,
    dst_scope: str,
    src_scope: str,
    reuse: bool,
) -> tuple[SubGraphView, TransformerInfo]:
    if view.graph is None:
        raise ValueError("there is nothing to copy: the view is empty")
    src_scope = f"{src_scope.rstrip('/')}/" if src_scope else ""
    dst_scope = dst_scope.rstrip("/")
    if dst_scope and not reuse:
        dst_scope = graph.unique_name(dst_scope)
    info = TransformerInfo(view.graph, graph, src_scope, dst_scope)
    for op in view.ops:
        if not op.name.startswith(src_scope):
            raise ValueError(f"{op.name} is not below src_scope {src_scope!r}")
    unclosed: list[Operation] = []
    with graph.as_default(), control_dependencies(None):
        inside = set(view.ops)
        for tensor in view.inputs:
            info.transformed_ts[tensor] = input_of(tensor, info)
        for op in _in_order(view.ops):
            known = [info.transformed_ts.get(t) for t in op.inputs]
            if None in known:  # a loop's Merge: the first input, of the same type, stands for the one that is not there yet
                unclosed.append(op)
            name = op.name.removeprefix(src_scope)
            made = graph.add_node(
                op.type,
                [t if t is not None else known[0] for t in known],  # type: ignore[misc]
                {key: value for key, value in op.attrs.items() if key != "_class"},
                f"{dst_scope}/{name}" if dst_scope else name,
                [t.dtype for t in op.outputs],
            )
            made._set_device(op.device)
            info.transformed_ops[op] = made
            info.transformed_ts |= dict(zip(op.outputs, made.outputs, strict=True))
        for op in unclosed:
            for index, tensor in enumerate(op.inputs):
                info.transformed_ops[op]._update_input(index, info.transformed_ts[tensor])
        for op, made in info.transformed_ops.items():
            made._add_control_inputs([info.transformed_ops[c] for c in op.control_inputs if c in inside])
            groups = _groups_of_copy(op, info)
            if groups:
                made._set_attr("_class", groups)
    copied = SubGraphView(list(info.transformed_ops.values()))
    inputs = [info.transformed_ts[t] for t in view.inputs]
    return copied._with(inputs, [info.transformed_ts[t] for t in view.outputs]), info


def _groups_of_copy(op: Operation, info: TransformerInfo) -> list[str]:
    """Beside whom the copy is to stand: the copies of those that the operation stands beside, or in one graph them."""
    founders = [group.removeprefix("loc:@") for group in op.attrs.get("_class", []) if group.startswith("loc:@")]
    copies = {source.name: made.name for source, made in info.transformed_ops.items()}
    kept = [copies.get(name, name) for name in founders if name in copies or info.graph_ is info.graph]
    return [f"loc:@{name}" for name in kept]


def copy(
    sgv: Any, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> tuple[SubGraphView, TransformerInfo]:
    """(the copy of a view, what became of what).

    The copy takes in what the view does or, in another graph, placeholders. Names are those of the view, relative to
    `src_scope`, below `dst_scope`, which is made unique unless `reuse_dst_scope`. ValueError for an empty view.
    """
    return copy_with_input_replacements(sgv, {}, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def _kept_or_placed(tensor: Tensor, info: TransformerInfo) -> Tensor:
    if info.graph_ is info.graph:
        return tensor
    scope = tensor.op.name.rpartition("/")[0].removeprefix(info.scope)
    return make_placeholder_from_tensor(tensor, "/".join(part for part in (info.scope_, scope) if part))


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Mapping[Tensor, Any],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """As `copy`, with some inputs replaced by other tensors."""
    view = make_view(sgv)
    graph = dst_graph or view.graph
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph).__name__}")
    replacements = {key: _tensor(value) for key, value in replacement_ts.items()}

    def replaced(tensor: Tensor, info: TransformerInfo) -> Tensor:
        return replacements[tensor] if tensor in replacements else _kept_or_placed(tensor, info)

    return _copied(view, replaced, graph, dst_scope, src_scope, reuse_dst_scope)


def _tensor(value: Any) -> Tensor:
    return select.make_list_of_t(value, allow_graph=False)[0]


def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[Any, Any],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """What `target_ts` (a tensor or a structure) would be with some tensors replaced: copies of all between those and it.

    ValueError where no target depends on what is replaced.
    """
    replacements = {_tensor(key): _tensor(value) for key, value in replacement_ts.items()}
    targets = [_tensor(t) for t in nest.flatten(target_ts)]
    between = select.get_walks_intersection_ops(
        list(dict.fromkeys(op for t in replacements for op in t.consumers())), [t.op for t in targets]
    )
    if not between and not any(t in replacements for t in targets):
        raise ValueError("Targets and replacements are not connected!")
    found = dict(replacements)
    if between:
        view = SubGraphView(between)
        _, info = copy_with_input_replacements(view, replacements, None, dst_scope, src_scope, reuse_dst_scope)
        found = {**info.transformed_ts, **replacements}
    return nest.pack_sequence_as(target_ts, [found.get(t, t) for t in targets])
