"""Data sets of windows: data sets of several following elements of another one."""

from __future__ import annotations

from collections import deque
from typing import Any

from tfexp.core.errors import CancelledError, InvalidArgumentError, OpError, exception_type_from_error_code
from tfexp.ops.dataset import (
    COMMON,
    Chain,
    Dataset,
    DatasetIterator,
    Element,
    Elements,
    FromRecipe,
    State,
    as_count,
    define_dataset,
)

window_dataset = define_dataset(
    "WindowDataset(input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool) -> "
    f"(handle: variant) {{{COMMON}}}"
)


class _Window(Chain):
    """An element that fails has its place: the windows that it is in fail, and no others."""

    def __init__(self, source: DatasetIterator, size: int, shift: int, stride: int, drop_remainder: bool):
        super().__init__(source)
        self.blocks = False
        self._shift, self._stride, self._drop = shift, stride, drop_remainder
        self._span = (size - 1) * stride + 1
        self._waiting: deque[Element | OpError] = deque()
        self._skip = 0  # elements to pass over before the next window begins
        self._ended = False

    def next(self) -> Element | None:
        while not self._ended and len(self._waiting) < self._span:
            element: Element | OpError | None
            try:
                element = self.source.next()
            except CancelledError:
                raise
            except OpError as error:
                element = error
            if element is None:
                self._ended = True
            elif self._skip:
                self._skip -= 1
            else:
                self._waiting.append(element)
        if not self._waiting or (self._drop and len(self._waiting) < self._span):
            return None
        window = list(self._waiting)[: self._span : self._stride]
        for _ in range(min(self._shift, len(self._waiting))):
            self._waiting.popleft()
        self._skip += max(0, self._shift - self._span)
        elements: list[Element] = []
        for part in window:
            if isinstance(part, OpError):
                raise part
            elements.append(list(part))
        return [Elements([[value] for value in column]) for column in zip(*elements, strict=True)]

    def save(self) -> State:
        waiting = [
            {"code": part.error_code, "message": part.message} if isinstance(part, OpError) else list(part)
            for part in self._waiting
        ]
        return {"source": self.source.save(), "waiting": waiting, "skip": self._skip, "ended": self._ended}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._skip, self._ended = state["skip"], state["ended"]
        self._waiting = deque(_failure(part) if isinstance(part, dict) else part for part in state["waiting"])


def _failure(saved: State) -> OpError:
    return exception_type_from_error_code(saved["code"])(None, None, saved["message"])


@window_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> Dataset:
    numbers = {"size": as_count(size), "shift": as_count(shift), "stride": as_count(stride)}
    for name, number in numbers.items():
        if number <= 0:
            raise InvalidArgumentError(None, None, f"Window {name} must be greater than zero, not {number}.")
    drop = bool(drop_remainder)
    return FromRecipe(lambda source: _Window(source.iterator(), **numbers, drop_remainder=drop), dataset)
