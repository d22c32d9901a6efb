"""Copies of parts of graphs, in which handlers say what becomes of what. Source: `tf.contrib.graph_editor`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.contributed.graph_editor.view import SubGraphView, make_view
from tfexp.contributed.graph_editor.wiring import make_placeholder_from_tensor
from tfexp.core import nest
from tfexp.graph import attrs as attr_codec
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor

_KNOWN_COLLECTIONS = frozenset(value for key, value in vars(GraphKeys).items() if not key.startswith("_"))


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


class Transformation(TransformerInfo):
    """What handlers are told: beside what became of what, the view `sgv` and the collections of its graph."""

    def __init__(self, sgv: SubGraphView, graph: Graph, graph_: Graph, scope: str, scope_: str):
        super().__init__(graph, graph_, scope, scope_)
        self.sgv = sgv
        self.collections = {key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()}

    def new_name(self, name: str) -> str:
        """A name in the place of the copies. ValueError for one that is not below the scope of the originals."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}")
        return f"{self.scope_}/{name.removeprefix(self.scope)}" if self.scope_ else name.removeprefix(self.scope)


# --- handlers -----------------------------------------------------------------------------------------------------------


def replace_t_with_placeholder_handler(info: Transformation, t: Tensor) -> Tensor:
    """A placeholder for a tensor from outside."""
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, info.scope_)


def keep_t_if_possible_handler(info: Transformation, t: Tensor) -> Tensor:
    """In one graph a tensor from outside itself; in another one a placeholder."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def transform_op_if_inside_handler(info: Transformation, op: Operation, keep_if_possible: bool = True) -> Operation | None:
    """The copy; of an operation outside, in one graph, itself (unless not `keep_if_possible`), and otherwise None."""
    if op in info.transformed_ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def assign_renamed_collections_handler(info: Transformation, elem: Any, elem_: Any) -> None:
    """Puts the copy of an operation or tensor into the collections of the original.

    Those that are not TensorFlow's own are named anew as operations are: ValueError for one outside of the source scope.
    """
    for name, kept in info.collections.items():
        if any(elem is one for one in kept):
            info.graph_.add_to_collection(name if name in _KNOWN_COLLECTIONS else info.new_name(name), elem_)


def copy_op_handler(
    info: Transformation,
    op: Operation,
    new_inputs: Sequence[Tensor],
    copy_shape: bool = False,
    nodedef_fn: Callable[[Any], Any] | None = None,
) -> tuple[Operation, list[Tensor]]:
    """(a copy of the operation with other inputs, its outputs).

    copy_shape: with the shapes of the original's outputs. nodedef_fn: from the NodeDef of the copy to another one.
    """
    attrs, name, device = op.attrs, info.new_name(op.name), op.device
    if nodedef_fn is not None:
        node = op.node_def
        node.name = name
        node = nodedef_fn(node)
        attrs = {key: attr_codec.from_proto(value)[1] for key, value in node.attr.items()}
        name, device = node.name, node.device
    plain = {key: value for key, value in attrs.items() if key != "_class"}
    made = info.graph_.add_node(op.type, list(new_inputs), plain, name, [t.dtype for t in op.outputs])
    made._set_device(device)
    if copy_shape:
        for source, copied in zip(op.outputs, made.outputs, strict=True):
            copied.set_shape(source.shape)
    return made, list(made.outputs)


# --- the transformer ----------------------------------------------------------------------------------------------------


class Transformer:
    """Copies a view; what its handlers are may be changed.

    transform_op_handler(info, op, new_inputs): (copy, its outputs). assign_collections_handler(info, original, copy): of
    operations and tensors. transform_external_input_handler(info, tensor) and transform_external_hidden_input_handler: what
    an input of the view, or one from outside that is none of those, becomes. transform_control_input_handler(info, op): the
    control input of the copy, or None. transform_original_op_handler: not used, for operations here have no originals.
    Source: `tf.contrib.graph_editor.Transformer`.
    """

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Callable[..., Any] = keep_t_if_possible_handler
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler

    def __call__(
        self, sgv: Any, dst_graph: Graph, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False
    ) -> tuple[SubGraphView, TransformerInfo]:
        """(the copy of a view, what became of what).

        Names are those of the view, relative to `src_scope`, below `dst_scope`, which is made unique unless
        `reuse_dst_scope`. TypeError for what is no graph; ValueError for an empty view, for an operation that is not below
        `src_scope`, and for one that is its own copy.
        """
        view = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph).__name__}")
        if view.graph is None:
            raise ValueError("there is nothing to copy: the view is empty")
        scope = f"{src_scope.rstrip('/')}/" if src_scope else ""
        scope_ = dst_scope.rstrip("/")
        if scope_ and not reuse_dst_scope:
            scope_ = dst_graph.unique_name(scope_)
        info = Transformation(view, view.graph, dst_graph, scope, scope_)
        with dst_graph.as_default(), control_dependencies(None):
            self._copy(info)
            for op, made in info.transformed_ops.items():
                wanted = (self.transform_control_input_handler(info, before) for before in op.control_inputs)
                made._add_control_inputs([before for before in wanted if before is not None])
                groups = _groups_of_copy(op, info)
                if groups:
                    made._set_attr("_class", groups)
        copied = SubGraphView(list(info.transformed_ops.values()))
        inputs = [info.transformed_ts[t] for t in view.inputs]
        outputs = [info.transformed_ts[t] for t in view.outputs]
        return copied._with(_among(inputs, copied.inputs), _among(outputs, copied.outputs)), info

    def _copy(self, info: Transformation) -> None:
        inside = set(info.sgv.ops)
        for tensor in info.sgv.inputs:
            info.transformed_ts[tensor] = self.transform_external_input_handler(info, tensor)
        unclosed: list[Operation] = []
        for op in _in_order(list(info.sgv.ops)):
            for tensor in op.inputs:
                if tensor not in info.transformed_ts and tensor.op not in inside:
                    info.transformed_ts[tensor] = self.transform_external_hidden_input_handler(info, tensor)
            known = [info.transformed_ts.get(t) for t in op.inputs]
            if None in known:  # a loop's Merge: the first input, of the same type, stands for the one that is not there yet
                unclosed.append(op)
            made, outputs = self.transform_op_handler(info, op, [known[0] if t is None else t for t in known])
            if made is op:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = made
            info.transformed_ts |= dict(zip(op.outputs, outputs, strict=True))
            for original, copy in ((op, made), *zip(op.outputs, outputs, strict=True)):
                self.assign_collections_handler(info, original, copy)
        for op in unclosed:
            for index, tensor in enumerate(op.inputs):
                info.transformed_ops[op]._update_input(index, info.transformed_ts[tensor])


def _among(wanted: Sequence[Tensor], known: Sequence[Tensor]) -> list[Tensor]:
    """Those that are there: a handler may have put others in their places."""
    return [tensor for tensor in wanted if tensor in known]


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


def _groups_of_copy(op: Operation, info: TransformerInfo) -> list[str]:
    """Beside whom the copy is to stand: the copies of those that the operation stands beside, or in one graph them."""
    founders = [group.removeprefix("loc:@") for group in op.attrs.get("_class", []) if group.startswith("loc:@")]
    copies = {source.name: made.name for source, made in info.transformed_ops.items()}
    kept = [copies.get(name, name) for name in founders if name in copies or info.graph_ is info.graph]
    return [f"loc:@{name}" for name in kept]
