"""Functions: where a node calls one, the function's nodes take its place.

After this pass there are no calls left, so that all others (constants, sharing, buffers, generated code) see through them.
What `If`, `Case` and `While` decide becomes Switch, Merge and the five kinds of nodes of a loop, as in graphs that were
written with `tf.cond` and `tf.while_loop`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, type_text
from tfexp.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.function import Function
from tfexp.graph.function_gradient import gradient_of
from tfexp.graph.operation import Operation
from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.prune import prune

# Functions within functions; a function that calls itself never ends.
_MAX_DEPTH = 64
# Nodes that the functions of one step come to: a few that call each other twice come to 2^n.
_MAX_NODES = 1 << 16

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_GRADIENTS = frozenset({"SymbolicGradient"})
_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_LOOPS = frozenset({"While", "StatelessWhile"})
_OWN = _CALLS | _GRADIENTS | _BRANCHES | _LOOPS


def expand_functions(draft: Draft, library: Mapping[str, Function]) -> None:
    """Put the bodies of all functions that are called in place of the calls; InvalidArgumentError for endless recursion."""
    if not library or not any(_is_call(node, library) for node in draft.nodes):
        return
    expansion = _Expansion(library)
    draft.nodes = expansion.expanded(draft.nodes, 0)
    for node in draft.nodes:
        node.inputs = [expansion.value(v) for v in node.inputs]
        node.controls = list(dict.fromkeys(expansion.after.get(c, c) for c in node.controls))
    draft.fetches = [expansion.value(v) for v in draft.fetches]
    draft.targets = list(dict.fromkeys(expansion.after.get(t, t) for t in draft.targets))
    for serial, node in enumerate(draft.nodes):
        node.serial = serial


def _is_call(node: Node, library: Mapping[str, Function]) -> bool:
    return node.type in _OWN or node.type in library


# What a part of a call comes to: its values, and the nodes that have its effects.
Outcome = tuple[list[Value], list[Node]]
# A branch: what it makes of its arguments, after a node that it waits for.
Side = Callable[[list[Value], Node], Outcome]


class _Expansion:
    """What the calls' outputs became (`instead`), and which node to wait for in place of a call (`after`)."""

    def __init__(self, library: Mapping[str, Function]):
        self.library = library
        self.instead: dict[Value, Value] = {}
        self.after: dict[Node, Node] = {}
        self.count = 0  # nodes that took the place of calls
        self._effects: dict[Function, list[Operation]] = {}

    def effects_of(self, function: Function) -> list[Operation]:
        """`function.effects`, found once for all calls of it."""
        found = self._effects.get(function)
        if found is None:
            found = self._effects[function] = function.effects
        return found

    def value(self, value: Value) -> Value:
        while value in self.instead:
            value = self.instead[value]
        return value

    def expanded(self, nodes: Iterable[Node], depth: int) -> list[Node]:
        result: list[Node] = []
        for node in nodes:
            if not _is_call(node, self.library):
                result.append(node)
                continue
            if depth > _MAX_DEPTH:
                raise InvalidArgumentError(
                    None,
                    node.origin,
                    f"Functions call each other without end, at last in the node {node.name} ({node.type})",
                )
            call = _Expanded(self, node)
            call.expand()
            self.count += len(call.nodes)
            if self.count > _MAX_NODES:
                raise ResourceExhaustedError(
                    None,
                    node.origin,
                    f"The functions that the step calls come to over {_MAX_NODES} nodes, at last in the node {node.name}",
                )
            result.extend(self.expanded(call.nodes, depth + 1))
        return result


class _Expanded:
    """The nodes that take the place of one call."""

    def __init__(self, expansion: _Expansion, call: Node):
        self.expansion = expansion
        self.call = call
        self.nodes: list[Node] = []

    def expand(self) -> None:
        call = self.call
        if call.type in _LOOPS:
            self._loop()
        elif call.type in _BRANCHES:
            self._branches()
        else:
            is_own = call.type in _CALLS or call.type in _GRADIENTS
            function = self._function(call.attrs.get("f") if is_own else NameAttrList(name=call.type))
            if call.type in _GRADIENTS:
                function = gradient_of(function)
            start = self._node("NoOp", "start", controls=[*call.controls, *_makers(call.inputs)])
            outputs, done = self._body(function, call.inputs, start)
            if len(outputs) != len(call.outputs):
                counts = f"expects to return {len(call.outputs)} tensor(s), but get {len(outputs)} tensor(s) instead."
                raise InvalidArgumentError(None, call.origin, f"SymGrad {counts}")
            self._finish(outputs, [start, *done, *_makers(outputs)])

    # --- pieces --------------------------------------------------------------------------------------------------

    def _function(self, named: Any) -> Function:
        function = self.expansion.library.get(named.name)
        if function is None:
            raise InvalidArgumentError(
                None,
                self.call.origin,
                f"Function {named.name} is not defined, but the node {self.call.name} ({self.call.type}) calls it",
            )
        attrs = dict(named.attr)
        if self.call.type == named.name and self.call.origin is not None:
            attrs.update(self.call.origin.node_def.attr)
        return function.instance(attrs)

    def _node(
        self,
        op: str,
        name: str,
        inputs: Sequence[Value] = (),
        outputs: Sequence[tuple[DType, TensorShape]] = (),
        attrs: Mapping[str, Any] | None = None,
        controls: Sequence[Node] = (),
    ) -> Node:
        call = self.call
        node = Node(f"{call.name}/{name}", get_op(op), dict(attrs or {}), call.device, call.origin, call.serial)
        node.inputs = list(inputs)
        node.controls = list(dict.fromkeys(controls))
        node.outputs = [Value(node, i, f"{node.name}:{i}", *kind) for i, kind in enumerate(outputs)]
        self.nodes.append(node)
        return node

    def _copy(self, op: str, name: str, value: Value, controls: Sequence[Node] = (), **attrs: Any) -> Node:
        """A node of one input and one output of the same type (Identity, Enter, Exit …)."""
        attrs["T"] = value.dtype.base_dtype
        return self._node(op, name, [value], [(value.dtype.base_dtype, value.shape)], attrs, controls)

    def _body(self, function: Function, inputs: Sequence[Value], start: Node, part: str = "") -> Outcome:
        """Add the function's nodes.

        Nodes that wait for nothing wait for `start`: so they run when, and only if, the call does.
        """
        if len(inputs) != len(function.inputs):
            raise InvalidArgumentError(
                None,
                self.call.origin,
                f"Expects {len(function.inputs)} arguments, but {len(inputs)} is provided: the node {self.call.name} calls "
                f"{function.name}",
            )
        self._check_types([argument.dtype for argument in function.inputs], inputs)
        effects = self.expansion.effects_of(function)
        draft = prune(function.outputs, effects, function.inputs, [v.shape for v in inputs])
        given = dict(zip(draft.feeds, inputs, strict=True))
        passed = set(inputs)
        prefix = f"{self.call.name}/{part}/" if part else f"{self.call.name}/"
        for node in draft.nodes:
            node.name = prefix + node.name
            node.device = node.device or self.call.device
            node.inputs = [given.get(v, v) for v in node.inputs]
            if not node.controls and all(v in passed for v in node.inputs):
                node.controls.append(start)
            self.nodes.append(node)
        return [given.get(v, v) for v in draft.fetches], list(draft.targets)

    def _check_types(self, wanted: Sequence[DType], given: Sequence[Value]) -> None:
        for i, (dtype, value) in enumerate(zip(wanted, given, strict=True)):
            if dtype.base_dtype is not value.dtype.base_dtype:
                texts = type_text(dtype.base_dtype), type_text(value.dtype.base_dtype)
                text = f"Expects arg[{i}] to be {texts[0]} but {texts[1]} is provided"
                raise InvalidArgumentError(None, self.call.origin, text)

    def _finish(self, outputs: Sequence[Value], done: Sequence[Node]) -> None:
        end = self._node("NoOp", "end", controls=done)
        self.expansion.after[self.call] = end
        self.expansion.instead.update(zip(self.call.outputs, outputs, strict=True))

    # --- If, Case ------------------------------------------------------------------------------------------------

    def _branches(self) -> None:
        call = self.call
        decided, *inputs = call.inputs
        start = self._node("NoOp", "start", controls=[*call.controls, *_makers([decided])])
        if call.type.endswith("If"):
            then, otherwise = (
                functools.partial(self._body, self._function(call.attrs[name]), part=name)
                for name in ("then_branch", "else_branch")
            )
            outputs, done = self._either("if", self._decision(decided, "pred"), inputs, then, otherwise)
        else:
            outputs, done = self._choice(list(call.attrs["branches"]), 0, call.inputs, start)
        self._finish(outputs, [start, *done])

    def _either(self, name: str, condition: Value, inputs: Sequence[Value], yes: Side, no: Side) -> Outcome:
        """Both ways to go on from `condition`, and where they meet."""
        pivot = self._switch(f"{name}/pivot", condition, condition)
        switches = [self._switch(f"{name}/switch_{i}", value, condition) for i, value in enumerate(inputs)]
        sides: list[tuple[list[Value], Value]] = []
        for index, side in ((0, no), (1, yes)):
            start = self._copy("Identity", f"{name}/start_{index}", pivot.outputs[index])
            outputs, done = side([switch.outputs[index] for switch in switches], start)
            end = self._copy("Identity", f"{name}/end_{index}", start.outputs[0], [*done, *_makers(outputs)])
            sides.append((outputs, end.outputs[0]))
        (if_not, not_end), (if_so, so_end) = sides
        if len(if_not) != len(if_so):
            text = f"The branches of {self.call.name} ({self.call.type}) return {len(if_so)} and {len(if_not)} values"
            raise InvalidArgumentError(None, self.call.origin, text)
        merged = [
            self._merge(f"{name}/merge_{i}", *values).outputs[0] for i, values in enumerate(zip(if_not, if_so, strict=True))
        ]
        return merged, [self._merge(f"{name}/end", not_end, so_end)]

    def _choice(self, branches: Sequence[Any], number: int, index_and_inputs: Sequence[Value], start: Node) -> Outcome:
        """Branch `number`, or one of those after it; an index that names no branch takes the last."""
        index, *inputs = index_and_inputs
        first = functools.partial(self._body, self._function(branches[0]), part=f"branch_{number}")
        if len(branches) == 1:
            return first(inputs, start)
        name = f"branch_{number}_or_later"
        constant = self._constant(number, index.dtype.base_dtype, f"{name}/number", start)
        attrs = {"T": index.dtype.base_dtype, "incompatible_shape_error": True}
        chosen = self._node("Equal", f"{name}/chosen", [index, constant], [(dtypes.bool, index.shape)], attrs)
        return self._either(
            name,
            chosen.outputs[0],
            index_and_inputs,
            lambda values, begun: first(values[1:], begun),
            functools.partial(self._choice, branches[1:], number + 1),
        )

    def _constant(self, number: int, dtype: DType, name: str, start: Node) -> Value:
        value: np.ndarray = np.asarray(number, dtype.as_numpy_dtype)
        attrs = {"dtype": dtype, "value": make_tensor_proto(value)}
        result = self._node("Const", name, [], [(dtype, TensorShape([]))], attrs, [start]).outputs[0]
        result.constant = value
        return result

    def _switch(self, name: str, value: Value, condition: Value) -> Node:
        dtype = value.dtype.base_dtype
        return self._node("Switch", name, [value, condition], [(dtype, value.shape)] * 2, {"T": dtype})

    def _merge(self, name: str, first: Value, second: Value) -> Node:
        dtype = first.dtype.base_dtype
        shape = first.shape if first.shape == second.shape else TensorShape(None)
        outputs = [(dtype, shape), (dtypes.int32, TensorShape([]))]
        return self._node("Merge", name, [first, second], outputs, {"T": dtype, "N": 2})

    def _decision(self, value: Value, argument: str) -> Value:
        """What decides: any value's truth, but in nodes that TensorFlow lowers (`tf.cond`, `tf.while_loop`) a boolean."""
        is_bool = value.dtype.base_dtype is dtypes.bool
        if self.call.attrs.get("_lower_using_switch_merge"):
            if not is_bool:
                text = f"Input {argument!r} passed {type_text(value.dtype.base_dtype)} expected bool"
                raise InvalidArgumentError(None, self.call.origin, text)
            return value
        if is_bool and value.shape.rank == 0:
            return value
        attrs = {"T": value.dtype.base_dtype}
        return self._node("ToBool", "condition", [value], [(dtypes.bool, TensorShape([]))], attrs).outputs[0]

    # --- While ---------------------------------------------------------------------------------------------------

    def _loop(self) -> None:
        call = self.call
        shapes = call.attrs["output_shapes"] or [TensorShape(None)] * len(call.inputs)
        frame = {"frame_name": call.name, "is_constant": False, "parallel_iterations": 10}
        merges = []
        for i, (value, shape) in enumerate(zip(call.inputs, shapes, strict=True)):
            enter = self._copy("Enter", f"enter_{i}", value, call.controls, **frame).outputs[0]
            enter.shape = shape
            merges.append(self._merge(f"merge_{i}", enter, enter))  # what comes back takes the second place below
        variables = [merge.outputs[0] for merge in merges]
        start = self._node("NoOp", "cond/start", controls=merges[:1])
        results, done = self._body(self._function(call.attrs["cond"]), variables, start, "cond")
        if len(results) != 1:
            text = f"Expected a single scalar return value from WhileOp cond, got {len(results)} tensors."
            raise InvalidArgumentError(None, call.origin, text)
        decided = self._decision(results[0], "input")
        boolean = (dtypes.bool, TensorShape([]))
        condition = self._node("LoopCond", "cond/end", [decided], [boolean], controls=done).outputs[0]
        switches = [self._switch(f"switch_{i}", value, condition) for i, value in enumerate(variables)]
        entered = [self._copy("Identity", f"body/{i}", switch.outputs[1]).outputs[0] for i, switch in enumerate(switches)]
        start = self._node("NoOp", "body/start", controls=_makers(entered[:1]))
        following, done = self._body(self._function(call.attrs["body"]), entered, start, "body")
        if len(following) != len(variables):
            text = f"While loop body returned {len(following)} arguments. Expected: {len(variables)}"
            raise InvalidArgumentError(None, call.origin, text)
        self._check_types([value.dtype for value in variables], following)
        for i, (merge, value) in enumerate(zip(merges, following, strict=True)):
            merge.inputs[1] = self._copy("NextIteration", f"next_{i}", value, done).outputs[0]
        exits = [self._copy("Exit", f"exit_{i}", switch.outputs[0]).outputs[0] for i, switch in enumerate(switches)]
        self._finish(exits, _makers(exits))


def _makers(values: Iterable[Value]) -> list[Node]:
    """The nodes that compute these values."""
    return list(dict.fromkeys(v.node for v in values if v.node is not None))
