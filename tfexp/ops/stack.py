"""Stacks: what a loop leaves for the loop that runs it backwards. A stack lives for one step."""

from __future__ import annotations

from typing import Any

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array


class Stack:
    """Last in, first out, of one type; not bounded if `max_size` is negative."""

    def __init__(self, elem_type: DType, max_size: int, name: str):
        self.elem_type = elem_type
        self.max_size = max_size
        self.name = name
        self.elements: list[Any] = []

    def push(self, value: Any) -> None:
        if 0 <= self.max_size <= len(self.elements):
            raise InvalidArgumentError(None, None, f"Stack[{self.name}] overflowed its max_size ({self.max_size})")
        self.elements.append(value)

    def pop(self) -> Any:
        if not self.elements:
            raise InvalidArgumentError(None, None, f"Stack[{self.name}] is empty when calling Pop().")
        return self.elements.pop()


stack_op = define_op(
    "StackV2(max_size: int32) -> (handle: resource) {elem_type: type; stack_name: string = ''} #stateful",
)


@stack_op.shape
def _(max_size: InputShape) -> TensorShape:
    return TensorShape([2])


@stack_op.kernel("CPU")
def _(ctx: Any, max_size: Array, *, elem_type: DType, stack_name: str) -> Stack:
    return Stack(elem_type, int(max_size), stack_name or ctx.node_name)


stack_push_op = define_op(
    "StackPushV2(handle: resource, elem: T) -> (output: T) {T: type; swap_memory: bool = false} #stateful"
)


@stack_push_op.shape
def _(handle: InputShape, elem: InputShape) -> TensorShape:
    return elem


@stack_push_op.kernel("CPU", view=True)
def _(ctx: Any, handle: Stack, elem: Array) -> Array:
    handle.push(elem)
    return elem


stack_pop_op = define_op("StackPopV2(handle: resource) -> (elem: elem_type) {elem_type: type} #stateful")


@stack_pop_op.shape
def _(handle: InputShape) -> TensorShape:
    return TensorShape(None)


@stack_pop_op.kernel("CPU", view=True)
def _(ctx: Any, handle: Stack) -> Array:
    return handle.pop()
