"""What the passes work on: a `Draft` of `Node`s and `Value`s, made from a graph for one set of fetches and feeds.

A Draft is private to the planner and is changed from pass to pass; the frozen outcome is `plan.Plan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.kernel import Call, Kernel
from tfexp.core.op import Op
from tfexp.core.shape import TensorShape
from tfexp.plan.primitives import SWITCHES

_STORES = ("Assign", "AssignVariableOp")
_LIGHT_BYTES = 1 << 14


class Value:
    """One value of a step: an output of a node, or a feed (`node` is None).

    `constant` is the array, where it is the same in every run of the plan.
    """

    __slots__ = ("constant", "dtype", "index", "name", "node", "shape")

    def __init__(self, node: Node | None, index: int, name: str, dtype: DType, shape: TensorShape):
        self.node = node
        self.index = index
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.constant: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"<{self.name} {self.dtype.name} {self.shape}>"


class Node:
    """One node of a step. `origin` is the graph's Operation (None for nodes that a pass made).

    `behind`: the nodes that may have to wait (`Kernel.waits`) and that this one cannot run without. `copies`: it reads a
    variable's handle (`Kernel.reads_variable`), and what it gives has to be a copy. `own_thread`: it may block
    (`Kernel.may_block`) while another such node is to run, so it runs in a thread of its own.
    """

    __slots__ = (
        "attrs",
        "behind",
        "call",
        "controls",
        "copies",
        "device",
        "inputs",
        "kernel",
        "loop",
        "name",
        "op",
        "origin",
        "outputs",
        "own_thread",
        "serial",
    )

    def __init__(self, name: str, op: Op, attrs: dict[str, Any], device: str, origin: Any, serial: int):
        self.name = name
        self.op = op
        self.attrs = attrs
        self.inputs: list[Value] = []
        self.controls: list[Node] = []
        self.outputs: list[Value] = []
        self.device = device
        self.origin = origin
        self.serial = serial
        self.call: Call | None = None
        self.kernel: Kernel | None = None
        self.behind: frozenset[Node] = frozenset()
        self.loop: LoopDraft | None = None
        self.copies = False
        self.own_thread = False

    @property
    def type(self) -> str:
        return self.op.name

    @property
    def waits(self) -> bool:
        """Whether it may have to wait for other nodes or steps; a loop, whether anything in it may."""
        if self.own_thread:
            return True
        if self.loop is not None:
            return any(node.waits for part in (self.loop.condition, self.loop.body) for node in part.nodes)
        return self.kernel is not None and self.kernel.waits

    @property
    def may_block(self) -> bool:
        """Whether it, or a node of the loop that it stands for, calls code of the user's."""
        if self.loop is not None:
            return any(node.may_block for part in (self.loop.condition, self.loop.body) for node in part.nodes)
        return self.kernel is not None and self.kernel.may_block

    @property
    def is_view(self) -> bool:
        """Whether what it gives may share memory with what it is given."""
        if self.call is not None:
            return self.call.view
        return self.kernel is not None and self.kernel.view

    @property
    def is_constant(self) -> bool:
        """Whether it has outputs, all of which are known before a step runs."""
        return bool(self.outputs) and all(value.constant is not None for value in self.outputs)

    def ref_inputs(self) -> Iterator[Value]:
        """The inputs that the op takes as references, or as handles of variables."""
        if not self.op.reaches_variables:
            return iter(())
        return (v for v, is_ref in zip(self.inputs, ref_flags(self), strict=True) if is_ref)

    def __repr__(self) -> str:
        return f"<{self.name} = {self.type}>"


class Draft:
    """The working state of the planner. After the `order` pass, `nodes` are in the order in which they run.

    `shares`: whether large element-wise nodes are shared out over the intra-op threads, which BLAS then leaves alone.
    `sections`: where several threads run (see `plan.strands`), in order; the strands of each, one after another, are a
    stretch of `nodes`.
    """

    __slots__ = ("buffer_of", "buffer_sizes", "feeds", "fetches", "nodes", "sections", "shares", "targets")

    def __init__(self, nodes: list[Node], feeds: list[Value], fetches: list[Value], targets: list[Node]):
        self.nodes = nodes
        self.feeds = feeds
        self.fetches = fetches
        self.targets = targets
        self.sections: list[list[list[Node]]] = []
        self.shares = False
        self.buffer_of: dict[Value, int] = {}
        self.buffer_sizes: list[int] = []


class LoopDraft:
    """What one node does that stands for a whole loop (see `plan.loops`).

    The condition is computed from the variables and the constants of the loop (the node's inputs, in this order), the next
    variables from those and what the condition hands on. `results` are positions in (variables, what it hands on).
    """

    __slots__ = ("body", "condition", "original", "results", "variables")

    def __init__(self, variables: int, condition: Draft, body: Draft, results: list[int]):
        self.variables = variables
        self.condition = condition
        self.body = body
        self.results = results
        # What is known of all values, the variables first, before anything is known of the loop's inputs.
        self.original = [
            (value, value.shape, value.constant)
            for draft in (condition, body)
            for value in [*draft.feeds, *(v for node in draft.nodes for v in node.outputs)]
        ]


def drafts_within(draft: Draft) -> Iterator[Draft]:
    """The drafts of all loops in `draft`, inner ones first, and `draft` itself."""
    for node in draft.nodes:
        if node.loop is not None:
            yield from drafts_within(node.loop.condition)
            yield from drafts_within(node.loop.body)
    yield draft


def heavy_values_of_variables(nodes: Iterable[Node]) -> set[Value]:
    """The large values that go into variables, which keep them: kept by the plan as well, they would be there twice."""
    return {node.inputs[1] for node in nodes if node.type in _STORES and not _is_light(node.inputs[1])}


def _is_light(value: Value) -> bool:
    elements = value.shape.num_elements()
    return elements is not None and elements * np.dtype(value.dtype.as_numpy_dtype).itemsize <= _LIGHT_BYTES


def ref_flags(node: Node) -> list[bool]:
    """For each flat input, whether the op takes it as a reference, or as the handle of a variable."""
    if not node.op.reaches_variables:
        return [False] * len(node.inputs)
    flags: list[bool] = []
    for arg in node.op.inputs:
        is_ref = arg.is_ref or (node.op.on_variables and arg.dtype is dtypes.resource)
        flags.extend([is_ref] * arg.count(node.attrs))
    return flags


def is_pure(node: Node) -> bool:
    """Whether equal inputs always give equal outputs, with nothing else happening: such a node may be folded or shared."""
    op = node.op
    if op.is_stateful or op.name in SWITCHES or (node.kernel is not None and (node.kernel.takes_dead or node.kernel.handle)):
        return False
    return not op.has_refs and not takes_or_gives_handles(node)


def takes_or_gives_handles(node: Node) -> bool:
    """Whether an input or an output is a resource or a variant."""
    for values in (node.inputs, node.outputs):
        for value in values:
            base = value.dtype.base_dtype
            if base is dtypes.resource or base is dtypes.variant:
                return True
    return False
