"""What `get_variable(..., regularizer=...)` adds to REGULARIZATION_LOSSES.

TensorFlow's graphs (since functions may be built apart from the variable's own graph) compute such a loss once when the
variable is made, to see whether there is one, once for the collection, and again wherever it is used. So do these.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import add_to_collection, colocate_with, executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor


class RegularizationLoss:
    """Stands for a loss tensor: described and fetched as the first one, built anew wherever an operation takes it."""

    __array_priority__ = 100

    def __init__(self, build: Callable[[], Any]):
        self._build = build
        self._first: Tensor = convert_to_tensor(build())

    def _as_graph_element(self) -> Tensor:
        return self._first

    @property
    def op(self) -> Operation:
        return self._first._op

    @property
    def graph(self) -> Graph:
        return self._first._graph

    @property
    def name(self) -> str:
        return self._first.name

    @property
    def dtype(self) -> DType:
        return self._first.dtype

    @property
    def device(self) -> str:
        return self._first.device

    @property
    def shape(self) -> TensorShape:
        return self._first.shape

    @property
    def value_index(self) -> int:
        return self._first.value_index

    def get_shape(self) -> TensorShape:
        return self._first.get_shape()

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        return self._first.eval(feed_dict, session)

    def __repr__(self) -> str:
        return f"<regularization loss {self.name!r}>"


def _bind_operators() -> None:
    def bind(name: str) -> None:
        def operate(self: RegularizationLoss, *args: Any) -> Any:
            return getattr(Tensor, name)(convert_to_tensor(self), *args)

        operate.__name__ = name
        setattr(RegularizationLoss, name, operate)

    for name in ("add", "sub", "mul", "truediv", "pow"):
        bind(f"__{name}__")
        bind(f"__r{name}__")
    for name in ("neg", "abs", "lt", "le", "gt", "ge"):
        bind(f"__{name}__")


_bind_operators()


def _to_tensor(value: RegularizationLoss, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    return convert_to_tensor(value._build(), dtype=dtype)


register_tensor_conversion_function(RegularizationLoss, _to_tensor)


def add_regularization_loss(name: str, variable: Any, regularizer: Callable[[Any], Any]) -> None:
    """Add `regularizer(variable)`, unless that is None, built beside the variable and below `<name>/Regularizer/`."""

    op = getattr(variable, "op", None)  # variables that have their value at once have none

    def build() -> Any:
        beside = contextlib.nullcontext() if op is None else colocate_with(op)
        with beside, name_scope(f"{name}/Regularizer/"):
            return regularizer(variable)

    loss = regularizer(variable)
    if loss is not None:
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss if executing_eagerly() else RegularizationLoss(build))
