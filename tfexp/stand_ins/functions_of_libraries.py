"""`Defun`s from FunctionDefs: `from_library` of `tensorflow.python.framework.function`. Source: TF 1.15."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from tensorboard.compat.proto import function_pb2

from tfexp.core import dtypes
from tfexp.graph.function import Function
from tfexp.graph.scopes import get_default_graph
from tfexp.ops.defun import DefinedFunction


def _from_definition(fdef: function_pb2.FunctionDef, grad_func: DefinedFunction | None = None) -> DefinedFunction:
    """The function of a definition; what it captured is among its arguments. It calls functions of the default graph."""
    return _defined(fdef, grad_func, get_default_graph()._functions)


def _defined(
    definition: function_pb2.FunctionDef, grad_func: DefinedFunction | None, library: dict[str, Function]
) -> DefinedFunction:
    arguments = definition.signature.input_arg
    types = [dtypes.as_dtype(arg.type) for arg in arguments]

    def is_defined(*_: object) -> None:
        raise AssertionError(f"{definition.signature.name!r} has no Python function")

    made = DefinedFunction(
        is_defined, [arg.name for arg in arguments], types, func_name=definition.signature.name, grad_func=grad_func
    )
    made._function = Function.from_definition(definition, library)
    made._function.gradient_name = made.grad_func_name
    return made


def from_library(lib: function_pb2.FunctionDefLibrary) -> list[DefinedFunction]:
    """The functions of a library, those that compute gradients before those whose gradients they compute.

    ValueError where one that `lib.gradient` names is missing, or two are each other's gradient.
    """
    definitions = {definition.signature.name: definition for definition in lib.function}
    gradients = {entry.function_name: entry.gradient_func for entry in lib.gradient}
    for pair in gradients.items():
        for name in pair:
            if name not in definitions:
                raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}")
    order = TopologicalSorter({name: [gradients[name]] if name in gradients else [] for name in definitions})
    made: dict[str, DefinedFunction] = {}
    library: dict[str, Function] = {}
    try:
        for name in order.static_order():
            made[name] = _defined(definitions[name], made.get(gradients.get(name, "")), library)
            library[name] = made[name]._made()
    except CycleError:
        raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}") from None
    return list(made.values())
