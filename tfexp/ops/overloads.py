"""Python's operators on tensors (and on what is converted to tensors: variables). Source: `tf.Tensor`, TF 1.15.

`x + 1` makes the scope `add`, in it the constant `add/y`, and the node `add`; slicing is in `slicing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import comparison, elementwise_binary, elementwise_division, elementwise_unary, logical, matmul, slicing

Binary = Callable[..., Tensor]


def _add(x: Tensor, y: Tensor, name: str) -> Tensor:
    if x.dtype.base_dtype.name == "string":
        return elementwise_binary.add_op(x, y, name=name)
    return elementwise_binary.add_v2(x, y, name=name)


# Operator -> (scope, function). The converted operand is named by its side: `add/y`, `add_1/x`.
_BINARY: dict[str, tuple[str, Binary]] = {
    "add": ("add", _add),
    "sub": ("sub", elementwise_binary.sub),
    "mul": ("mul", elementwise_binary.mul),
    "truediv": ("truediv", elementwise_division.truediv),
    "div": ("div", elementwise_division.div),
    "floordiv": ("floordiv", elementwise_division.floor_div),
    "mod": ("mod", elementwise_division.floor_mod),
    "pow": ("pow", elementwise_binary.pow),
    "matmul": ("matmul", matmul.matmul),
    "and": ("and", logical.logical_and),
    "or": ("or", logical.logical_or),
    "xor": ("xor", logical.logical_xor),
}

_COMPARISONS = {
    "__lt__": comparison.less,
    "__le__": comparison.less_equal,
    "__gt__": comparison.greater,
    "__ge__": comparison.greater_equal,
}

_UNARY: dict[str, Callable[..., Any]] = {
    "__neg__": lambda x: elementwise_unary.neg(x),
    "__abs__": lambda x: elementwise_unary.abs(x),
    "__invert__": lambda x: logical.logical_not(convert_to_tensor(x)),
    "__getitem__": slicing.slice_of,
}


def _left(scope_name: str, function: Binary) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        if type(x) is EagerTensor and get_default_graph().is_eager:  # nothing has a name from its scope
            if type(y) is not EagerTensor:
                y = convert_to_tensor(y, dtype_hint=x._dtype.base_dtype, name="y")
            return function(x, y, name=scope_name)
        with name_scope(None, scope_name, [x, y]) as scope:
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
            return function(x, y, name=scope)

    return operate


def _right(scope_name: str, function: Binary) -> Callable[[Any, Any], Any]:
    def operate(y: Any, x: Any) -> Any:
        with name_scope(None, scope_name, [x, y]) as scope:
            y = convert_to_tensor(y, name="y")
            x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    return operate


def bind_operators(cls: type) -> None:
    """Give `cls`, a Tensor or something that converts to one, the operators of a tensor."""
    for name, (scope_name, function) in _BINARY.items():
        setattr(cls, f"__{name}__", _left(scope_name, function))
        setattr(cls, f"__r{name}__", _right(scope_name, function))
    for method, op in _COMPARISONS.items():
        setattr(cls, method, lambda x, y, _op=op: _op(x, y))
    for method, unary in _UNARY.items():
        setattr(cls, method, unary)


bind_operators(Tensor)
Tensor.OVERLOADABLE_OPERATORS = {
    *(f"__{side}{name}__" for name in _BINARY for side in ("", "r")), *_COMPARISONS, *_UNARY, "__eq__", "__ne__"
}  # fmt: skip
