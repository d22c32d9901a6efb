"""Graph functions: a graph with arguments and results, that nodes of other graphs call by name.

A `Function` is what a GraphDef's library holds as a FunctionDef. One that comes from a library is made a graph when its body
is first asked for; one that was built here is written as a FunctionDef when that is asked for. Sources: `tf.Graph`'s
function library, function.proto.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2, op_def_pb2
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tfexp.core import dtypes
from tfexp.core.op import Arg, Op, find_op
from tfexp.graph.calls import called_functions
from tfexp.graph.graph import Graph
from tfexp.graph.importer import import_nodes
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

_OUTPUT_SHAPES = "_output_shapes"


def _is_stateful(op: Operation) -> bool:
    return op._op_def.is_stateful and op.type not in ("Placeholder", "VarHandleOp")


def _keeps_state(op: Operation) -> bool:
    """Of those that make a data set TensorFlow calls some stateful, whose state is that of the iterators over it."""
    makes_dataset = bool(op.outputs) and all(tensor.dtype is dtypes.variant for tensor in op.outputs)
    return _is_stateful(op) and not makes_dataset


class Function:
    """A function of a graph's library: `inputs` and `outputs` are tensors of `body`.

    `effects` are operations that a call runs even if no output needs them. How a call is differentiated, where its body does
    not say: `gradient_name` is the function of the library that computes it, `gradient_rule` a rule as ops have them.
    """

    gradient_name: str | None = None
    gradient_rule: Callable[..., Any] | None = None

    def __init__(
        self,
        name: str,
        body: Graph,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        attrs: Mapping[str, AttrValue] | None = None,
        output_names: Sequence[str] = (),
        effects: Sequence[Operation] | None = None,
    ):
        """`effects`: what a call runs in any case; None for whatever changes state, or says something."""
        self.name = name
        self._effects = None if effects is None else list(effects)
        self.attrs = dict(attrs or {})
        self._output_names = list(output_names)
        self._body: tuple[Graph, list[Tensor], list[Tensor]] | None = body, list(inputs), list(outputs)
        self._definition: function_pb2.FunctionDef | None = None
        self._library: dict[str, Function] = body._functions
        self._instances: dict[bytes, Function] = {}

    @classmethod
    def from_definition(cls, definition: function_pb2.FunctionDef, library: dict[str, Function]) -> Function:
        """The function of a FunctionDef; `library` has the functions that it calls."""
        function = cls.__new__(cls)
        function._effects = None
        function.name = definition.signature.name
        function.attrs = dict(definition.attr)
        function._body, function._definition, function._library = None, definition, library
        function._output_names = [arg.name for arg in definition.signature.output_arg]
        function._instances = {}
        return function

    # --- the body ------------------------------------------------------------------------------------------------

    @property
    def is_built(self) -> bool:
        """Whether anybody has asked for the body yet."""
        return self._body is not None

    @property
    def body(self) -> Graph:
        return self._made()[0]

    graph = body  # the name that programs know

    @property
    def inputs(self) -> list[Tensor]:
        return self._made()[1]

    @property
    def outputs(self) -> list[Tensor]:
        return self._made()[2]

    @property
    def effects(self) -> list[Operation]:
        """What a call has to run besides what its outputs need."""
        if self._effects is not None:
            return self._effects
        return [op for op in self.body._operations if self._reaches(op, _is_stateful)]

    @functools.cached_property
    def is_stateful(self) -> bool:
        """Whether a node of its body, or of what it calls, is. To be asked once the body is complete."""
        return any(self._reaches(op, _is_stateful) for op in self.body._operations)

    @functools.cached_property
    def remembers(self) -> bool:
        """Whether what a call gives may depend on those before it. To be asked once the body is complete."""
        return any(self._reaches(op, _keeps_state) for op in self.body._operations)

    def _reaches(self, op: Operation, is_one: Callable[[Operation], bool]) -> bool:
        """Whether it, or whatever it calls, is one. Each function is looked at once, however often it is called."""
        pending, seen = [op], set[str]()
        while pending:
            one = pending.pop()
            called = [name for name in called_functions(one) if name in self._library]
            if not called and is_one(one):
                return True
            for name in called:
                if name not in seen:
                    seen.add(name)
                    pending.extend(self._library[name].body._operations)
        return False

    def _made(self) -> tuple[Graph, list[Tensor], list[Tensor]]:
        if self._body is None:
            assert self._definition is not None
            body = Graph()
            body._functions = self._library
            self._body = body, *build_body(self._definition, body)
        return self._body

    def instance(self, attrs: Mapping[str, AttrValue]) -> Function:
        """This function with the attributes of its signature (`T: type`) as one call gives them."""
        if self._definition is None or not self._definition.signature.attr:
            return self
        key = b"".join(
            name.encode() + attrs[name].SerializeToString(deterministic=True) for name in sorted(attrs) if name[0] != "_"
        )
        if key not in self._instances:
            self._instances[key] = Function.from_definition(_substituted(self._definition, attrs), self._library)
        return self._instances[key]

    # --- the definition -------------------------------------------------------------------------------------------

    @property
    def definition(self) -> function_pb2.FunctionDef:
        """The function as a library holds it."""
        if self._definition is None:
            self._definition = _define(self)
        return self._definition

    @property
    def signature(self) -> Op:
        """What a node whose type is this function's name looks like."""
        declared = self.definition.signature
        inputs, outputs = (tuple(map(_arg, args)) for args in (declared.input_arg, declared.output_arg))
        return Op(
            name=self.name,
            inputs=inputs,
            outputs=outputs,
            attrs={},
            is_stateful=declared.is_stateful,
            is_commutative=False,
            is_aggregate=False,
            allows_uninitialized_input=False,
            signature="",
            writes_refs=False,
        )


def _arg(arg: op_def_pb2.OpDef.ArgDef) -> Arg:
    if arg.number_attr or arg.type_list_attr or arg.type_attr:
        return Arg(
            arg.name,
            dtype=dtypes.as_dtype(arg.type) if arg.type else None,
            type_attr=arg.type_attr or None,
            type_list_attr=arg.type_list_attr or None,
            number_attr=arg.number_attr or None,
        )
    return Arg(arg.name, dtype=dtypes.as_dtype(arg.type))


# --- a FunctionDef becomes a graph ---------------------------------------------------------------------------------


def build_body(definition: function_pb2.FunctionDef, body: Graph) -> tuple[list[Tensor], list[Tensor]]:
    """(inputs, outputs) of the function, built in the graph `body`, whose library has the functions that it calls.

    ValueError, naming the function, when the definition makes no graph.
    """
    arguments = [arg.name for arg in definition.signature.input_arg]
    graph_def = graph_pb2.GraphDef()
    graph_def.node.extend(_placeholder(definition, position) for position in range(len(arguments)))
    positions = {node.name: _output_ranges(node, body._functions) for node in definition.node_def}

    def flat(text: str) -> str:
        """`node:output:1`, as functions name their values, in the way of a GraphDef."""
        if text.startswith("^"):
            return text
        name, *rest = text.split(":")
        if name in arguments and name not in positions:
            return name
        if name not in positions:
            raise ValueError(f"The function {definition.signature.name!r} is invalid: there is no value {text!r}")
        start = positions[name].get(rest[0] if rest else "", 0)
        return f"{name}:{start + int(rest[1] if len(rest) > 1 else 0)}"

    for node in definition.node_def:
        copy = graph_def.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend(flat(text) for text in node.input)
    results = [flat(definition.ret[arg.name]) for arg in definition.signature.output_arg]
    with body.as_default():
        try:
            import_nodes(body, graph_def)
        except ValueError as error:
            raise ValueError(f"The function {definition.signature.name!r} cannot be built: {error}") from error
    tensors = [body.get_tensor_by_name(text if ":" in text else f"{text}:0") for text in results]
    return [body.get_tensor_by_name(f"{name}:0") for name in arguments], tensors


def _placeholder(definition: function_pb2.FunctionDef, position: int) -> node_def_pb2.NodeDef:
    """The node that stands for an argument. ValueError for one whose type or number is up to an attribute."""
    arg = definition.signature.input_arg[position]
    if arg.type_attr or arg.type_list_attr or arg.number_attr:
        raise ValueError(f"The function {definition.signature.name!r} has the attribute-typed argument {arg.name!r}")
    node = node_def_pb2.NodeDef(name=arg.name, op="Placeholder")
    node.attr["dtype"].type = arg.type
    shapes = definition.arg_attr[position].attr if position in definition.arg_attr else {}
    if _OUTPUT_SHAPES in shapes and shapes[_OUTPUT_SHAPES].list.shape:
        node.attr["shape"].shape.CopyFrom(shapes[_OUTPUT_SHAPES].list.shape[0])
    else:
        node.attr["shape"].shape.unknown_rank = True
    return node


def _output_ranges(node: node_def_pb2.NodeDef, library: Mapping[str, Function]) -> dict[str, int]:
    """Where each of a node's named outputs begins among all of them."""
    op = find_op(node.op)
    if op is None:
        function = library.get(node.op)
        if function is None:
            return {}  # the importer says so, with all nodes of that type
        op = function.signature
    ranges: dict[str, int] = {}
    position = 0
    for arg in op.outputs:
        ranges[arg.name] = position
        if arg.number_attr:
            position += node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            position += len(node.attr[arg.type_list_attr].list.type)
        else:
            position += 1
    return ranges


def _substituted(definition: function_pb2.FunctionDef, attrs: Mapping[str, AttrValue]) -> function_pb2.FunctionDef:
    """The definition with the values of its signature's attributes put in their places."""
    result = function_pb2.FunctionDef()
    result.CopyFrom(definition)
    del result.signature.attr[:]
    missing = [attr.name for attr in definition.signature.attr if attr.name not in attrs]
    if missing:
        raise ValueError(f"A call of the function {definition.signature.name!r} lacks the attributes {', '.join(missing)}")
    for arg in (*result.signature.input_arg, *result.signature.output_arg):
        if arg.type_attr:
            arg.type, arg.type_attr = attrs[arg.type_attr].type, ""
    for node in result.node_def:
        for value in node.attr.values():
            if value.WhichOneof("value") == "placeholder":
                value.CopyFrom(attrs[value.placeholder])
    return result


# --- a graph becomes a FunctionDef ---------------------------------------------------------------------------------


def _define(function: Function) -> function_pb2.FunctionDef:
    definition = function_pb2.FunctionDef()
    signature = definition.signature
    signature.name = function.name
    for key, value in function.attrs.items():
        definition.attr[key].CopyFrom(value)
    # One name each: results choose first, as TensorFlow has it, then arguments, then nodes.
    taken: dict[str, int] = {}
    results = function._output_names or [_fresh(_as_argument(tensor.op.name), taken) for tensor in function.outputs]
    taken.update(dict.fromkeys(results, 0))
    names = {tensor.op: _fresh(_as_argument(tensor.op.name), taken) for tensor in function.inputs}
    for position, tensor in enumerate(function.inputs):
        signature.input_arg.add(name=names[tensor.op], type=tensor.dtype.as_datatype_enum)
        shapes = definition.arg_attr[position].attr[_OUTPUT_SHAPES].list.shape
        shapes.append(tensor.shape.as_proto())
    arguments = set(names)
    nodes = [op for op in function.body._operations if op not in arguments]
    names |= {op: _fresh(op.name, taken) for op in nodes}
    value_name = value_names(arguments, names)
    for op in nodes:
        node = definition.node_def.add()
        op._describe(node)
        node.name = names[op]
        del node.input[:]
        node.input.extend(value_name(t) for t in op.inputs)
        node.input.extend(f"^{names[c]}" for c in op.control_inputs)
    for tensor, name in zip(function.outputs, results, strict=True):
        signature.output_arg.add(name=name, type=tensor.dtype.as_datatype_enum)
        definition.ret[name] = value_name(tensor)
    for op in function.effects:
        if op not in arguments:
            signature.control_output.append(op.name)
            definition.control_ret[op.name] = names[op]
    signature.is_stateful = function.is_stateful
    return definition


def value_names(arguments: set[Operation], names: Mapping[Operation, str]) -> Callable[[Tensor], str]:
    """How the nodes of a definition call a tensor: `node:output:index`, or the argument's name. names: those of nodes."""

    def value_name(tensor: Tensor) -> str:
        op = tensor.op
        if op in arguments:
            return names[op]
        position = tensor.value_index
        for arg in op._op_def.outputs:
            count = arg.count(op.attrs)
            if position < count:
                return f"{names[op]}:{arg.name}:{position}"
            position -= count
        raise AssertionError(f"{tensor} is no output of {op.name}")

    return value_name


def _as_argument(name: str) -> str:
    """An argument's or result's name, because of a node's: lower case, `_` for what is neither letter nor digit."""
    return re.sub("[^a-z0-9]", "_", name.lower()).lstrip("_0123456789") or "unknown"


def _fresh(name: str, taken: dict[str, int]) -> str:
    """`name`, or `name_0`, `name_1`, … if it is taken; `taken` has for each name which number comes next."""
    unique = name
    while unique in taken:
        unique = f"{name}_{taken[name]}"
        taken[name] += 1
    taken[unique] = 0
    return unique
