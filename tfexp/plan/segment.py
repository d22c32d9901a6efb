"""The parts of a step that a compiler for arrays takes over: the largest that it can, each as one node.

What is compiled is what the session or the node itself asks for (`Jit`), as far as the op has a kernel for it ("XLA"), every
shape is known and nothing but arrays goes in and out. Updates of variables are part of a segment where no other node of the
step touches the variable: its value can then stay with the compiled code from step to step. Control flow, strings, queues,
random numbers and whatever else acts on the outside stay where they are.

A segment is found by phases: how often the longest way to a node changes between segments and the rest. All nodes of one
phase and one colour (device and scope) make a segment, which runs when the other nodes of its phase have run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.kernel import Call, Kernel
from tfexp.core.op import Op, parse_signature
from tfexp.core.shape import TensorShape
from tfexp.plan.alias import find_roots, writes
from tfexp.plan.dependencies import before
from tfexp.plan.ir import Draft, Node, Value, ref_flags
from tfexp.plan.mortal import find_mortal

SEGMENT = parse_signature(
    "_CompiledSegment(inputs: T, variables: ref V) -> (outputs: U) {T: list(type); V: list(type); U: list(type); "
    "nodes: list(string); seconds: float}"
)
"""What a segment is in a plan; no graph has it."""

_WORTH_COMPILING = 4  # nodes: for less, handing arrays over and back costs what is gained
_VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})


class Spec(NamedTuple):
    """The shape and dtype of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Member:
    """One node of a segment; values are numbers. `reads_through`: inputs that stand for a variable whose array is wanted."""

    name: str
    op: Op
    attrs: dict[str, Any]
    kernel: Kernel
    inputs: tuple[int, ...]
    reads_through: tuple[bool, ...]
    static: tuple[bool, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Variable:
    """A variable that a segment reads or updates. `stays`: no other node of the step touches it."""

    number: int
    spec: Spec
    updated: bool
    stays: bool


@dataclass(frozen=True)
class Segment:
    """What is to be compiled for one device: a function of arrays and variables, in this order, that gives `outputs`."""

    name: str
    device: str
    members: tuple[Member, ...]
    inputs: tuple[tuple[int, Spec], ...]
    constants: tuple[tuple[int, np.ndarray], ...]
    variables: tuple[Variable, ...]
    outputs: tuple[int, ...]
    results: dict[int, Spec]  # what each array that a member makes has to be


Compiler = Callable[[Segment], Callable[..., tuple[Any, ...]]]


@dataclass(frozen=True)
class Jit:
    """What a session wants compiled, and by whom.

    `everywhere`: every node that can be; else those whose graph says so (`_XlaCompile`, `_xla_compile_id`), and those of
    `devices`, which compute nothing themselves.
    """

    compile: Compiler
    everywhere: bool = False
    devices: Collection[str] = ()

    def colour(self, node: Node) -> Hashable:
        """None for a node that is not to be compiled; nodes of different colours are not compiled together."""
        attrs = node.attrs if node.origin is None else node.origin._attrs
        asked = attrs.get("_XlaCompile")
        if "_xla_compile_id" in attrs:
            return node.device, attrs["_xla_compile_id"]
        if asked is None:
            asked = self.everywhere or node.device in self.devices
        return (node.device,) if asked else None


def find_segments(draft: Draft, jit: Jit) -> None:
    """Replace segments of `draft.nodes` by one node each; the order stays one in which the step can run."""
    colours = {node: colour for node in draft.nodes if (colour := jit.colour(node)) is not None}
    if not colours:
        return
    step = _Step(draft, colours)
    segments = step.segments()
    if not segments:
        return
    replaced: dict[Node, Node] = {}
    made = []
    for nodes in segments:
        node = step.node_of(nodes, jit.compile)
        made.append(node)
        replaced.update(dict.fromkeys(nodes, node))
    draft.nodes = step.rearranged(segments, made)
    for node in draft.nodes:
        node.controls = list(dict.fromkeys(replaced.get(c, c) for c in node.controls))
        node.inputs = [step.outside(v, replaced) for v in node.inputs] if node not in made else node.inputs
    draft.fetches = [step.outside(v, replaced) for v in draft.fetches]
    draft.targets = list(dict.fromkeys(replaced.get(t, t) for t in draft.targets))


class _Step:
    """The nodes with what orders them, the variables that they touch, and which of them can be compiled."""

    def __init__(self, draft: Draft, colours: dict[Node, Hashable]):
        self.nodes = draft.nodes
        self.roots = find_roots(draft)
        self.before = before(draft)
        self.fetched = set(draft.fetches)
        self.variables = {
            key: node.outputs[0]
            for node in draft.nodes
            if node.type in _VARIABLES
            for key in self.roots[node.outputs[0]]
            if node.kernel is not None and node.kernel.handle
        }
        self._mortal = find_mortal(draft.nodes)
        self._with_value: set[Hashable] = set()  # the variables that some node before has had to have a value
        self.colours: dict[Node, Hashable] = {}
        for node in draft.nodes:
            if node in colours and self._can_be_compiled(node):
                self.colours[node] = colours[node]
            if not node.op.allows_uninitialized_input and node not in self._mortal:
                self._with_value.update(key for value in node.inputs for key in self.roots[value])
        self.phase: dict[Node, int] = {}
        self.touched_outside: set[Hashable] = set()

    # --- what can be compiled

    def _can_be_compiled(self, node: Node) -> bool:
        kernel = node.op.kernels.get("XLA")
        if kernel is None or node in self._mortal or node.loop is not None or node.is_constant:
            return False
        refs, static = ref_flags(node), static_flags(node.op, node.attrs, kernel)
        if not node.outputs and not any(refs):
            return False
        if node.op.allows_uninitialized_input and not writes(node, self.roots) <= self._with_value:
            return False  # compiled code takes a variable's value, whether it looks at it or not
        for value, is_ref, is_static in zip(node.inputs, refs, static, strict=True):
            if is_ref or value.dtype._is_ref_dtype:
                if self.variable_of(value) is None:
                    return False
            elif (is_static and value.constant is None) or spec_of(value) is None:
                return False
        if not kernel.takes(v.dtype for v, is_static in zip(node.inputs, static, strict=True) if not is_static):
            return False
        return all(v.dtype._is_ref_dtype or spec_of(v) is not None for v in node.outputs)

    def variable_of(self, value: Value) -> Value | None:
        """The handle of the variable that a reference stands for, if its shape and dtype are known."""
        keys = self.roots[value]
        handle = self.variables.get(next(iter(keys))) if len(keys) == 1 else None
        return handle if handle is not None and variable_spec(handle) is not None else None

    # --- segments

    def segments(self) -> list[list[Node]]:
        """The segments, in the order in which they run; those that are not worth it are given up for good."""
        while True:
            self._keep_shared_updates_out()
            self._find_phases()
            groups: dict[tuple[int, Hashable], list[Node]] = defaultdict(list)
            for node in self.nodes:
                if node in self.colours:
                    groups[self.phase[node], self.colours[node]].append(node)
            small = [nodes for nodes in groups.values() if len(nodes) < _WORTH_COMPILING]
            if not small:
                return [groups[key] for key in sorted(groups, key=lambda key: key[0])]
            for nodes in small:
                for node in nodes:
                    del self.colours[node]

    def _keep_shared_updates_out(self) -> None:
        """Leave updates of variables that other nodes touch to those, until nothing changes any more."""
        while True:
            self.touched_outside = {
                key for node in self.nodes if node not in self.colours for v in node.inputs for key in self.roots[v]
            }
            shared = [n for n in self.colours if not writes(n, self.roots).isdisjoint(self.touched_outside)]
            if not shared:
                return
            for node in shared:
                del self.colours[node]

    def _find_phases(self) -> None:
        for node in self.nodes:
            colour = self.colours.get(node)
            self.phase[node] = max((self._phase_after(other, colour) for other in self.before[node]), default=0)

    def _phase_after(self, node: Node, colour: Hashable) -> int:
        own = self.colours.get(node)
        return self.phase[node] + (own is not None and own != colour)

    def rearranged(self, segments: Sequence[list[Node]], made: Sequence[Node]) -> list[Node]:
        """The nodes phase by phase: first those that stay, in their order, then the phase's segments."""
        phases: dict[int, list[Node]] = defaultdict(list)
        for node in self.nodes:
            if node not in self.colours:
                phases[self.phase[node]].append(node)
        for nodes, node in zip(segments, made, strict=True):
            phases[self.phase[nodes[0]]].append(node)
        return [node for phase in sorted(phases) for node in phases[phase]]

    def outside(self, value: Value, replaced: dict[Node, Node]) -> Value:
        """What stands for a value once its node may be in a segment: of a reference, the variable's own handle."""
        if value.node in replaced and value.dtype._is_ref_dtype:
            handle = self.variable_of(value)
            assert handle is not None
            return handle
        return value

    # --- the node of a segment

    def node_of(self, nodes: list[Node], compiler: Compiler) -> Node:
        """One node for `nodes`, which are in the order in which they run."""
        inside = set(nodes)
        taken = list(dict.fromkeys(v for node in nodes for v in node.inputs if v.node not in inside and v.constant is None))
        arrays = [v for v in taken if not self._is_reference(v)]
        handles = list(dict.fromkeys(h for n in nodes for v in n.inputs if (h := self._handle_of(v)) is not None))
        used_outside = {v for n in self.nodes if n not in inside for v in n.inputs} | self.fetched
        outputs = [v for n in nodes for v in n.outputs if v in used_outside and not v.dtype._is_ref_dtype]
        last = nodes[-1]
        attrs = {
            "T": [v.dtype.base_dtype for v in arrays],
            "V": [h.dtype for h in handles],
            "U": [v.dtype.base_dtype for v in outputs],
            "nodes": [node.name for node in nodes],
            "seconds": 0.0,  # its threads are the compiled code's own business
        }
        function = compiler(self._segment(nodes, arrays, handles, outputs))
        segment = Node(last.name, SEGMENT, attrs, last.device, last.origin, last.serial)
        segment.inputs, segment.outputs = [*arrays, *handles], outputs
        for index, value in enumerate(outputs):
            value.node, value.index = segment, index
        segment.controls = list(dict.fromkeys(c for node in nodes for c in node.controls if c not in inside))
        segment.behind = frozenset().union(*(node.behind for node in nodes))
        segment.call = Call(function)
        segment.kernel = Kernel(lambda ctx, arrays, refs: function(*arrays, *refs), ())
        return segment

    def _is_reference(self, value: Value) -> bool:
        return value.dtype._is_ref_dtype or value in self.variables.values()

    def _handle_of(self, value: Value) -> Value | None:
        return self.variable_of(value) if self._is_reference(value) else None

    def _segment(self, nodes: list[Node], arrays: list[Value], handles: list[Value], outputs: list[Value]) -> Segment:
        number: dict[Value, int] = {}
        for value in (*arrays, *handles, *(v for n in nodes for v in (*n.inputs, *n.outputs))):
            # What an update returns is the variable, whatever name it goes by.
            own = self._handle_of(value) or value
            number.setdefault(value, number.setdefault(own, len(number)))
        updated = frozenset().union(*(writes(node, self.roots) for node in nodes))
        return Segment(
            name=nodes[-1].name,
            device=nodes[0].device,
            members=tuple(_member(node, number) for node in nodes),
            inputs=tuple((number[v], known_spec(v)) for v in arrays),
            constants=tuple(
                (number[v], v.constant) for v in dict.fromkeys(v for n in nodes for v in n.inputs) if v.constant is not None
            ),
            variables=tuple(self._variable(handle, number[handle], updated) for handle in handles),
            outputs=tuple(number[v] for v in outputs),
            results={number[v]: known_spec(v) for n in nodes for v in n.outputs if not v.dtype._is_ref_dtype},
        )

    def _variable(self, handle: Value, number: int, updated: Collection[Hashable]) -> Variable:
        spec, keys = variable_spec(handle), self.roots[handle]
        assert spec is not None
        return Variable(number, spec, not keys.isdisjoint(updated), keys.isdisjoint(self.touched_outside))


def _member(node: Node, number: dict[Value, int]) -> Member:
    kernel = node.op.kernels["XLA"]
    return Member(
        name=node.name,
        op=node.op,
        attrs=node.attrs,
        kernel=kernel,
        inputs=tuple(number[v] for v in node.inputs),
        reads_through=tuple(
            v.dtype._is_ref_dtype and not is_ref for v, is_ref in zip(node.inputs, ref_flags(node), strict=True)
        ),
        static=static_flags(node.op, node.attrs, kernel),
        outputs=tuple(number[v] for v in node.outputs),
    )


def static_flags(op: Op, attrs: Mapping[str, Any], kernel: Kernel) -> tuple[bool, ...]:
    """For each flat input, whether the kernel has to know its value when it is compiled."""
    return tuple([arg.name in kernel.static for arg in op.inputs for _ in range(arg.count(attrs))])


_KINDS = frozenset("biufc")


def can_hold(dtype: DType) -> bool:
    """Whether compiled code has arrays of this type: numbers, of TensorFlow's types those that are NumPy's."""
    kind = np.dtype(dtype.base_dtype.as_numpy_dtype)
    return not dtype.base_dtype.is_quantized and (kind.kind in _KINDS or kind.name == "bfloat16")


def _spec(shape: TensorShape, dtype: DType) -> Spec | None:
    dims = shape.known_dims
    if dims is None or None in dims or not can_hold(dtype):
        return None
    return Spec(dims, np.dtype(dtype.base_dtype.as_numpy_dtype))  # type: ignore[arg-type]  # all are known


def spec_of(value: Value) -> Spec | None:
    """The shape and dtype of a value, if it is an array of numbers of a known shape."""
    return _spec(value.shape, value.dtype)


def known_spec(value: Value) -> Spec:
    spec = spec_of(value)
    assert spec is not None
    return spec


def variable_spec(handle: Value) -> Spec | None:
    """The same of the variable that a handle stands for; a reference's shape is unknown where an Assign may change it."""
    assert handle.node is not None
    return _spec(handle.shape if handle.dtype._is_ref_dtype else handle.node.attrs["shape"], handle.node.attrs["dtype"])
