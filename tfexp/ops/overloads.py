"""Python's operators on tensors (and on what is converted to tensors: variables). Source: `tf.Tensor`, TF 1.15.

`x + 1` makes the scope `add`, in it the constant `add/y`, and the node `add`; slicing is in `slicing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import cast, comparison, elementwise_binary, elementwise_division, elementwise_unary, logical, matmul, slicing

Binary = Callable[..., Tensor]


def _add(x: Tensor, y: Tensor, name: str) -> Tensor:
    if x.dtype.base_dtype.name == "string":
        return elementwise_binary.add_op(x, y, name=name)
    return elementwise_binary.add_v2(x, y, name=name)


def _and(x: Tensor, y: Tensor, name: str) -> Tensor:
    return logical.logical_and(x, y, name=name) if x.dtype.is_bool else logical.bitwise_and(x, y)


def _or(x: Tensor, y: Tensor, name: str) -> Tensor:
    return logical.logical_or(x, y, name=name) if x.dtype.is_bool else logical.bitwise_or(x, y)


def _xor(x: Tensor, y: Tensor, name: str) -> Tensor:
    return logical.logical_xor(x, y, name=name) if x.dtype.is_bool else logical.bitwise_xor(x, y)


def _invert(x: Tensor, name: str | None = None) -> Tensor:
    return logical.logical_not(x, name=name) if x.dtype.is_bool else logical.invert(x, name=name)


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
    "and": ("and", _and),
    "or": ("or", _or),
    "xor": ("xor", _xor),
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
    "__invert__": lambda x: _invert(convert_to_tensor(x)),
    "__getitem__": slicing.slice_of,
}


# These leave the second operand to the op that they turn out to be: `and/BitwiseAnd/y`.
_LATE = ("and", "or", "xor")


def _left(scope_name: str, function: Binary) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        if type(x) is EagerTensor and get_default_graph().is_eager:  # nothing has a name from its scope
            if type(y) is not EagerTensor and scope_name not in _LATE:
                y = convert_to_tensor(y, dtype_hint=x._dtype.base_dtype, name="y")
            return function(x, y, name=scope_name)
        with name_scope(None, scope_name, [x, y]) as scope:
            x = convert_to_tensor(x, name="x")
            if scope_name not in _LATE:
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


def _times(by_dense: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        return y * x if isinstance(y, SparseTensor) else by_dense(x, y)

    return operate


def bind_operators(cls: type) -> None:
    """Give `cls`, a Tensor or something that converts to one, the operators of a tensor."""
    for name, (scope_name, function) in _BINARY.items():
        setattr(cls, f"__{name}__", _left(scope_name, function))
        setattr(cls, f"__r{name}__", _right(scope_name, function))
    cls.__mul__ = _times(cls.__mul__)  # type: ignore[attr-defined, operator]
    for method, op in _COMPARISONS.items():
        setattr(cls, method, lambda x, y, _op=op: _op(x, y))
    for method, unary in _UNARY.items():
        setattr(cls, method, unary)


bind_operators(Tensor)
Tensor.OVERLOADABLE_OPERATORS = {
    *(f"__{side}{name}__" for name in _BINARY for side in ("", "r")), *_COMPARISONS, *_UNARY, "__eq__", "__ne__"
}  # fmt: skip


# --- sparse tensors with dense ones ----------------------------------------------------------------------------------


def _of_sparse(scope_name: str, function: Callable[..., Any]) -> Callable[[SparseTensor, Any], SparseTensor]:
    def operate(x: SparseTensor, y: Any) -> SparseTensor:
        with name_scope(None, scope_name, [x.indices, x.values, x.dense_shape, y]) as scope:
            y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
            return SparseTensor(x.indices, function(*x.parts, y, name=scope), x.dense_shape)

    return operate


def _sparse_mul(indices: Any, values: Any, dims: Any, y: Any, name: str) -> Any:
    return get_op("SparseDenseCwiseMul")(indices, values, dims, y, name=name)


def _sparse_div(indices: Any, values: Any, dims: Any, y: Any, name: str) -> Any:
    return get_op("SparseDenseCwiseDiv")(indices, values, dims, y, name=name)


def _sparse_truediv(indices: Any, values: Any, dims: Any, y: Any, name: str) -> Any:
    if values.dtype.is_integer:
        wanted = elementwise_division.quotient_dtype(values.dtype.base_dtype)
        values, y = cast.cast(values, wanted), cast.cast(y, wanted)
    return _sparse_div(indices, values, dims, y, name)


for _scope, _function in (("mul", _sparse_mul), ("div", _sparse_div), ("truediv", _sparse_truediv)):
    setattr(SparseTensor, f"__{_scope}__", _of_sparse(_scope, _function))
