"""Graph functions: a graph with arguments and results, which data sets call for their elements.

A `Function` is what a GraphDef's library holds as a FunctionDef. One that comes from a library is made a graph when its body
is first asked for; one that was built here is written as a FunctionDef when that is asked for. Sources: `tf.Graph`'s
function library, function.proto.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence

from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2

from tfexp.core import dtypes
from tfexp.core.op import find_op
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

    `effects` are operations that a call runs even if no output needs them.
    """

    def __init__(self, name: str, body: Graph, inputs: Sequence[Tensor], outputs: Sequence[Tensor]):
        self.name = name
        self._body: tuple[Graph, list[Tensor], list[Tensor]] | None = body, list(inputs), list(outputs)
        self._definition: function_pb2.FunctionDef | None = None
        self._library: dict[str, Function] = body._functions

    @classmethod
    def from_definition(cls, definition: function_pb2.FunctionDef, library: dict[str, Function]) -> Function:
        """The function of a FunctionDef; `library` has the functions that it calls."""
        function = cls.__new__(cls)
        function.name = definition.signature.name
        function._body, function._definition, function._library = None, definition, library
        return function

    # --- the body ------------------------------------------------------------------------------------------------

    @property
    def body(self) -> Graph:
        return self._made()[0]

    @property
    def inputs(self) -> list[Tensor]:
        return self._made()[1]

    @property
    def outputs(self) -> list[Tensor]:
        return self._made()[2]

    @property
    def effects(self) -> list[Operation]:
        """What a call has to run besides what its outputs need."""
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

    # --- the definition -------------------------------------------------------------------------------------------

    @property
    def definition(self) -> function_pb2.FunctionDef:
        """The function as a library holds it."""
        if self._definition is None:
            self._definition = _define(self)
        return self._definition


# --- a FunctionDef becomes a graph ---------------------------------------------------------------------------------


def build_body(definition: function_pb2.FunctionDef, body: Graph) -> tuple[list[Tensor], list[Tensor]]:
    """(inputs, outputs) of the function, built in the graph `body`, whose library has the functions that it calls.

    ValueError, naming the function, when the definition makes no graph.
    """
    arguments = [arg.name for arg in definition.signature.input_arg]
    graph_def = graph_pb2.GraphDef()
    graph_def.node.extend(_placeholder(definition, position) for position in range(len(arguments)))
    positions = {node.name: _output_ranges(node) for node in definition.node_def}

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


def _output_ranges(node: node_def_pb2.NodeDef) -> dict[str, int]:
    """Where each of a node's named outputs begins among all of them."""
    op = find_op(node.op)
    if op is None:
        return {}  # the importer says so, with all nodes of that type
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


# --- a graph becomes a FunctionDef ---------------------------------------------------------------------------------


def _define(function: Function) -> function_pb2.FunctionDef:
    definition = function_pb2.FunctionDef()
    signature = definition.signature
    signature.name = function.name
    # One name each: results choose first, as TensorFlow has it, then arguments, then nodes.
    taken: dict[str, int] = {}
    results = [_fresh(_as_argument(tensor.op.name), taken) for tensor in function.outputs]
    taken.update(dict.fromkeys(results, 0))
    names = {tensor.op: _fresh(_as_argument(tensor.op.name), taken) for tensor in function.inputs}
    for position, tensor in enumerate(function.inputs):
        signature.input_arg.add(name=names[tensor.op], type=tensor.dtype.as_datatype_enum)
        shapes = definition.arg_attr[position].attr[_OUTPUT_SHAPES].list.shape
        shapes.append(tensor.shape.as_proto())
    arguments = set(names)
    nodes = [op for op in function.body._operations if op not in arguments]
    names |= {op: _fresh(op.name, taken) for op in nodes}
    for op in nodes:
        node = definition.node_def.add()
        op._describe(node)
        node.name = names[op]
        del node.input[:]
        node.input.extend(_value_name(t, arguments, names) for t in op.inputs)
        node.input.extend(f"^{names[c]}" for c in op.control_inputs)
    for tensor, name in zip(function.outputs, results, strict=True):
        signature.output_arg.add(name=name, type=tensor.dtype.as_datatype_enum)
        definition.ret[name] = _value_name(tensor, arguments, names)
    for op in function.effects:
        if op not in arguments:
            signature.control_output.append(op.name)
            definition.control_ret[op.name] = names[op]
    signature.is_stateful = function.is_stateful
    return definition


def _value_name(tensor: Tensor, arguments: set[Operation], names: Mapping[Operation, str]) -> str:
    """How nodes of a definition call a tensor: `node:output:index`, or the argument's name. `names` are those of nodes."""
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
