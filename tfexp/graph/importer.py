"""A GraphDef's nodes become operations of a graph; all are checked before any is added. `graphdef` has the public form."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import re
from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto import graph_pb2, node_def_pb2, versions_pb2

from tfexp.core import dtypes
from tfexp.core.device import canonical_name
from tfexp.core.dtypes import DType
from tfexp.core.errors import NotFoundError
from tfexp.core.op import Op, find_op, output_types
from tfexp.graph import attrs as attr_codec
from tfexp.graph.calls import called_by_node
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import add_with_scopes
from tfexp.graph.tensor import Tensor
from tfexp.graph.versions import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_PRODUCER, VERSION

_LOOP_BACK = "NextIteration"
_NODE_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.\\/>-]*")


def import_nodes(graph: Graph, graph_def: graph_pb2.GraphDef) -> None:
    """Add the nodes under their own names to `graph`, whose library has the functions that they call."""
    importer = Importer(graph, graph_def, "", {})
    importer.check([], into_functions=False)
    importer.add_all()


def parse_input(text: str) -> tuple[str, int]:
    """(node, output index) of `node`, `node:1`; index -1 for `^node`."""
    if text.startswith("^"):
        return text[1:], -1
    node, _, index = text.rpartition(":")
    if node and index.isdigit():
        return node, int(index)
    return text, 0


def _type_text(dtype: DType, is_ref: bool = False) -> str:
    return (dtype._as_ref if is_ref else dtype)._proto_name


class Importer:
    def __init__(self, graph: Graph, graph_def: graph_pb2.GraphDef, scope: str, mapped: dict[str, Any]):
        self.graph = graph
        self.nodes = list(graph_def.node)
        self.index = {node.name: i for i, node in enumerate(self.nodes)}
        self.scope = scope
        self.mapped = {parse_input(key): value for key, value in mapped.items()}
        self.used: set[tuple[str, int]] = set()
        self.ops: dict[str, Operation] = {}
        self.names: dict[str, str] = {}

    # --- checks, before anything is added ----------------------------------------------------------------------------

    def check(self, return_elements: Iterable[str], into_functions: bool = True) -> None:
        """ValueError for what is wrong with nodes, NotFoundError for unknown op types (in functions, too, if asked)."""
        if len(self.index) != len(self.nodes):
            seen: set[str] = set()
            twice = [n.name for n in self.nodes if n.name in seen or seen.add(n.name)]  # type: ignore[func-returns-value]
            raise ValueError(
                f"graph_def is invalid: Node {twice[0]!r} is not unique: more than one node is called "
                f"{', '.join(map(repr, twice))}"
            )
        if unknown := self._unknown_ops(into_functions):
            listed = "; ".join(f"{op!r} (nodes {', '.join(map(repr, names))})" for op, names in sorted(unknown.items()))
            raise NotFoundError(
                None, None, f"Op type not registered {', '.join(map(repr, sorted(unknown)))}: the graph uses {listed}"
            )
        for node in self.nodes:
            if not _NODE_NAME.fullmatch(node.name):
                raise ValueError(f"Node {node.name!r}: Node name contains invalid characters")
            controls = [text.startswith("^") for text in node.input]
            if controls != sorted(controls):
                raise ValueError(f"Node {node.name!r}: Control dependencies must come after regular dependencies")
            for text in node.input:
                before, index = parse_input(text)
                if (before, index) in self.mapped:
                    self.used.add((before, index))
                elif before not in self.index:
                    raise ValueError(f"Node {node.name!r}: Unknown input node {text!r}")
        unused = [key for key in self.mapped if key not in self.used and not self._has(key)]
        if unused:
            names = ", ".join(f"^{n}" if i < 0 else f"{n}:{i}" for n, i in unused)
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{names}]")
        for element in return_elements:
            node_name, *output = element.split(":")
            if len(output) > 1 or (output and not output[0].isdecimal()):
                raise ValueError(f"Cannot convert {element!r} to a tensor name.")
            if node_name not in self.index:
                what = "tensor" if output else "node"
                raise ValueError(f"Requested return {what} {element!r} not found in graph def")

    def _has(self, key: tuple[str, int]) -> bool:
        """Whether there is such a node, with such an output: it may be mapped, though nothing takes it."""
        name, index = key
        if name not in self.index:
            return False
        node = self.nodes[self.index[name]]
        return index < len(output_types(self._op(node), _native_attrs(self._op(node), node)))

    def check_versions(self, versions: versions_pb2.VersionDef) -> None:
        """ValueError for a graph that is too new or too old."""
        if versions.min_consumer > GRAPH_DEF_VERSION:
            raise ValueError(
                f"GraphDef min consumer version {versions.min_consumer} above current version {GRAPH_DEF_VERSION} for "
                f"TensorFlow {VERSION}.  Please upgrade TensorFlow."
            )
        if versions.producer < GRAPH_DEF_VERSION_MIN_PRODUCER:
            raise ValueError(
                f"GraphDef producer version {versions.producer} below min producer {GRAPH_DEF_VERSION_MIN_PRODUCER} "
                f"supported by TensorFlow {VERSION}.  Please regenerate your graph."
            )

        if GRAPH_DEF_VERSION in versions.bad_consumers:
            raise ValueError(
                f"GraphDef disallows consumer version {GRAPH_DEF_VERSION}.  Please upgrade TensorFlow: this version is "
                "likely buggy."
            )

    def check_colocation(self) -> None:
        """ValueError for nodes that are to be with a node that is not there."""
        for node in self.nodes:
            for group in node.attr["_class"].list.s if "_class" in node.attr else ():
                name = attr_codec.as_text(group).removeprefix("loc:@")
                if name not in self.index:
                    raise ValueError(f"Node {node.name!r} expects to be colocated with unknown node {name!r}")

    def _unknown_ops(self, into_functions: bool) -> dict[str, list[str]]:
        """The op types that are neither here nor in the library, each with its nodes; also those in functions in use."""
        unknown: dict[str, list[str]] = {}
        functions = self.graph._functions if into_functions else {}
        seen: set[str] = set()
        pending: list[tuple[str, Any]] = [("", node) for node in self.nodes]
        while pending:
            prefix, node = pending.pop(0)
            if find_op(node.op) is None:
                unknown.setdefault(node.op, []).append(prefix + node.name)
            for name in called_by_node(node):
                if name in functions and name not in seen:
                    seen.add(name)
                    pending.extend((f"{name}/", inner) for inner in functions[name].definition.node_def)
        return unknown

    # --- adding --------------------------------------------------------------------------------------------------

    def _inputs_of(self, node: node_def_pb2.NodeDef) -> Iterable[tuple[str, int]]:
        return (key for key in map(parse_input, node.input) if key not in self.mapped)

    def _order(self) -> list[node_def_pb2.NodeDef]:
        """Inputs before their consumers, otherwise in the order of the GraphDef; loops' back edges do not count."""
        waiting = [0] * len(self.nodes)
        consumers: list[list[int]] = [[] for _ in self.nodes]
        for i, node in enumerate(self.nodes):
            for before, _ in self._inputs_of(node):
                j = self.index[before]
                if not (node.op in ("Merge", "RefMerge") and self.nodes[j].op.endswith(_LOOP_BACK)):
                    waiting[i] += 1
                    consumers[j].append(i)
        ready = [i for i, count in enumerate(waiting) if count == 0]
        heapq.heapify(ready)
        order: list[node_def_pb2.NodeDef] = []
        while ready:
            i = heapq.heappop(ready)
            order.append(self.nodes[i])
            for j in consumers[i]:
                waiting[j] -= 1
                if waiting[j] == 0:
                    heapq.heappush(ready, j)
        if len(order) != len(self.nodes):
            stuck = [self.nodes[i].name for i, count in enumerate(waiting) if count]
            names = ", ".join(map(repr, stuck[:20]))
            raise ValueError(f"graph_def is invalid: {len(stuck)} nodes in a cycle: a cycle goes through the nodes {names}")
        return order

    def add_all(self) -> None:
        order = self._order()
        natives = {node.name: _native_attrs(self._op(node), node) for node in order}
        self._check_inputs(order, natives)
        self._name()
        back_edges: list[tuple[Operation, int, tuple[str, int]]] = []
        before_all = len(self.graph._operations)
        try:
            for node in order:
                self._add(node, natives[node.name], back_edges)
        except Exception as error:
            self.graph._discard_from(before_all)
            if not isinstance(error, ValueError | TypeError | LookupError | ArithmeticError):
                raise
            kind = "" if isinstance(error, ValueError) else f" at node {node.name!r} (op {node.op}): {type(error).__name__}"
            raise ValueError(f"graph_def is invalid{kind}: {error}") from None
        self._place_colocated(order)
        for op, position, (before, index) in back_edges:
            op._update_input(position, self.ops[before].outputs[index])

    def _op(self, node: node_def_pb2.NodeDef) -> Op:
        op = find_op(node.op)
        assert op is not None
        return op

    def _name(self) -> None:
        """Names for all nodes: their own unless a node of the graph, or a scope with nodes in it, is called so.

        Scopes without nodes do not count, nor what differs in upper and lower case.
        """
        taken, avoided = self.graph.names_and_scopes(), set[str]()
        for name in self.index:
            add_with_scopes(name, avoided)
        for node in self.nodes:
            name = wanted = self.scope + node.name
            if wanted in taken:
                others = (f"{wanted}_{i}" for i in itertools.count(1))
                name = next(other for other in others if other not in taken and other not in avoided)
            avoided.add(name)
            self.names[node.name] = name
            self.graph._names_in_use.setdefault(name.lower(), 1)

    def _check_inputs(self, order: list[node_def_pb2.NodeDef], natives: dict[str, dict[str, Any]]) -> None:
        """Every node gets the number and types of inputs that its signature wants."""
        out_types = {node.name: output_types(self._op(node), natives[node.name]) for node in order}
        for node in order:
            expected = input_types(self._op(node), natives[node.name])
            data = [text for text in node.input if not text.startswith("^")]
            if len(data) != len(expected):
                types = ", ".join(_type_text(wanted, is_ref) for wanted, is_ref in expected)
                raise ValueError(
                    f"NodeDef expected inputs {types!r} do not match {len(data)} inputs specified; Op {node.op}; NodeDef: "
                    f"{{{{node {self.scope}{node.name}}}}}"
                )
            for i, (text, (wanted, is_ref)) in enumerate(zip(data, expected, strict=True)):
                key = parse_input(text)
                if key in self.mapped:
                    given, source = self.mapped[key].dtype, getattr(self.mapped[key], "name", "a value")
                else:
                    found, source = out_types[key[0]], f"{self.scope}{key[0]}:{key[1]}"
                    if key[1] >= len(found):
                        raise ValueError(
                            f"Node {node.name!r}: Connecting to invalid output {key[1]} of source node {key[0]} which has "
                            f"{len(found)} outputs."
                        )
                    given = found[key[1]]
                if given.base_dtype is not wanted or (is_ref and not given._is_ref_dtype):
                    raise ValueError(
                        f"Input {i} of node {self.scope}{node.name} was passed {_type_text(given)} from {source} "
                        f"incompatible with expected {_type_text(wanted, is_ref)}."
                    )

    def _add(self, node: node_def_pb2.NodeDef, attrs: dict[str, Any], back_edges: list[Any]) -> None:
        inputs: list[Tensor] = []
        controls: list[Operation] = []
        for text in node.input:
            key = parse_input(text)
            if key in self.mapped:
                target = self.mapped[key]
                if key[1] < 0:
                    controls.append(target if isinstance(target, Operation) else target.op)
                else:
                    inputs.append(target)
            elif key[1] < 0:
                controls.append(self.ops[key[0]])
            elif key[0] in self.ops:
                inputs.append(self.ops[key[0]].outputs[key[1]])
            else:
                # The loop's value is not there yet: the first input holds its place.
                back_edges.append((node.name, len(inputs), key))
                inputs.append(inputs[0])
        if "_class" in attrs:
            attrs["_class"] = [self._colocation(group) for group in attrs["_class"]]
        hints = attrs.pop("_output_shapes", None)
        # Each node waits for what is around the import, also where an input of it does so already.
        controls += [op for around in self.graph._control_stack for op in around.ops]
        with_others = self._others_of_colocation(node)
        # What is around the import, and its own device, do not say where a node is that has to be where others are.
        around = self.graph.colocate_with(None, ignore_existing=True) if with_others else contextlib.nullcontext()
        with around:
            op = self.graph.add_node(
                node.op,
                inputs,
                attrs,
                name=f"{self.names[node.name]}/",
                device="" if with_others else canonical_name(node.device),
                control_inputs=list(dict.fromkeys(controls)),
            )
        for i, (owner, position, key) in enumerate(back_edges):
            if owner == node.name:
                back_edges[i] = (op, position, key)
        for tensor, hint in zip(op.outputs, hints or [], strict=False):
            tensor.set_shape(hint)
        self.ops[node.name] = op

    def _others_of_colocation(self, node: node_def_pb2.NodeDef) -> list[str]:
        """The nodes that this one has to be with."""
        groups = node.attr["_class"].list.s if "_class" in node.attr else ()
        names = [group.decode().removeprefix("loc:@") for group in groups if group.startswith(b"loc:@")]
        return [name for name in names if name != node.name]

    def _place_colocated(self, order: list[node_def_pb2.NodeDef]) -> None:
        """Nodes that have to be with others get the device of the first of these that has one."""
        for node in order:
            others = (self.ops[name].device for name in self._others_of_colocation(node) if name in self.ops)
            if device := next(filter(None, others), None):
                self.ops[node.name]._set_device(device)

    def _colocation(self, group: str) -> str:
        name = group.removeprefix("loc:@")
        return f"loc:@{self.names[name]}" if name in self.names else group

    def element(self, text: str) -> Any:
        name, _, index = text.rpartition(":")
        if name and index.isdigit():
            outputs = self.ops[name].outputs
            if int(index) >= len(outputs):
                raise ValueError(f"Invalid return output {index} of node {name!r}, which has {len(outputs)} output(s)")
            return outputs[int(index)]
        return self.ops[text]


def input_types(op: Op, attrs: dict[str, Any]) -> list[tuple[dtypes.DType, bool]]:
    """(type, whether it is a reference) of each input of a node with these attributes."""
    types: list[tuple[dtypes.DType, bool]] = []
    for arg in op.inputs:
        if arg.type_list_attr:
            types.extend((t, arg.is_ref) for t in attrs[arg.type_list_attr])
            continue
        one = arg.dtype if arg.dtype is not None else attrs[arg.type_attr]  # type: ignore[index]
        types.extend([(one, arg.is_ref)] * arg.count(attrs))
    return types


def _native_attrs(op: Op, node: node_def_pb2.NodeDef) -> dict[str, Any]:
    """A NodeDef's attributes as native values, defaults filled in; ValueError when one is missing or of a wrong kind."""
    attrs: dict[str, Any] = {}
    for key, proto in node.attr.items():
        try:
            kind, value = attr_codec.from_proto(proto)
        except ValueError as error:
            raise ValueError(f"graph_def is invalid at node {node.name!r}: attr {key!r}: {error}") from None
        declared = op.attrs.get(key)
        if declared is None:
            if key.startswith("_") or key in _NEWER_ATTRS:
                attrs[key] = value
                continue
            raise ValueError(
                f"graph_def is invalid at node {node.name!r}: NodeDef mentions attr {key!r} not in Op {node.op}"
            )
        is_empty_list = kind == "list(int)" and value == [] and declared.kind.startswith("list(")
        if kind != declared.kind and not is_empty_list:
            raise ValueError(
                f"graph_def is invalid at node {node.name!r}: AttrValue had value with type {kind!r} when {declared.kind!r} "
                f"expected for attr {key!r}"
            )
        attrs[key] = value
    for key, declared in op.attrs.items():
        if key not in attrs:
            if not declared.has_default:
                raise ValueError(
                    f"graph_def is invalid at node {node.name!r}: NodeDef missing attr {key!r} from Op<name={node.op}>"
                )
            attrs[key] = list(declared.default) if isinstance(declared.default, list) else declared.default
    try:
        _check_sizes(op, node, attrs)
        _check_choices(op, attrs)
    except ValueError as error:
        raise ValueError(f"graph_def is invalid at node {node.name!r}: {error}") from None
    return attrs


def _check_sizes(op: Op, node: node_def_pb2.NodeDef, attrs: dict[str, Any]) -> None:
    """Attrs reach their minimum, and those that count inputs and outputs do not ask for more than can be."""
    for key, declared in op.attrs.items():
        size = len(attrs[key]) if declared.kind.startswith("list(") else attrs[key]
        if declared.minimum is not None and size < declared.minimum:
            raise ValueError(f"Value for attr {key!r} of {size} must be at least minimum {declared.minimum}")
    for args, limit, have in (
        (op.inputs, len(node.input), f"there are {len(node.input)}"),
        (op.outputs, _MAX_OUTPUTS, f"a node has {_MAX_OUTPUTS} at most"),
    ):
        for arg in args:
            if arg.number_attr and attrs[arg.number_attr] > limit:
                what = "inputs" if args is op.inputs else "outputs"
                raise ValueError(f"attr {arg.number_attr!r} asks for {attrs[arg.number_attr]} {what}, but {have}")


def _check_choices(op: Op, attrs: dict[str, Any]) -> None:
    for key, declared in op.attrs.items():
        for value in attrs[key] if declared.kind.startswith("list(") else [attrs[key]]:
            if isinstance(value, dtypes.DType) and value._is_ref_dtype:
                raise ValueError(f"AttrValue must not have reference type value of {value.name} for attr {key!r}")
            if declared.allowed is None:
                continue
            given = attr_codec.as_text(value) if isinstance(value, bytes) else value
            if given not in declared.allowed:
                name, choices = getattr(given, "name", given), [getattr(one, "name", one) for one in declared.allowed]
                raise ValueError(f"Value for attr {key!r} of {name} is not in the list of allowed values: {choices}")


# Each output costs memory before anything is computed; nobody splits a tensor into so many.
_MAX_OUTPUTS = 1 << 16


# Attributes of TensorFlow 2 that say nothing which matters here; dropping them would lose them on the way back.
_NEWER_ATTRS = frozenset({"grad_a", "grad_b"})
