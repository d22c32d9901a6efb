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
from tfexp.ops.dataset_batch import stacked_elements

window_dataset = define_dataset(
    "WindowDataset(input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool) -> "
    f"(handle: variant) {{{COMMON}}}"
)


sliding_window_dataset = define_dataset(
    "SlidingWindowDataset(input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64) -> "
    "(handle: variant) {drop_remainder: bool = true; output_types: list(type) >= 1; output_shapes: list(shape) >= 1}"
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
        return self._whole(elements)

    def _whole(self, window: list[Element]) -> Element:
        """What becomes of a window's elements: a data set of each component."""
        return [Elements([[value] for value in column]) for column in zip(*window, strict=True)]

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


class _SlidingWindow(_Window):
    def _whole(self, window: list[Element]) -> Element:
        return stacked_elements(window)


@window_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> Dataset:
    return _windows(_Window, dataset, size, shift, stride, bool(drop_remainder))


@sliding_window_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, size: Any, shift: Any, stride: Any, *, drop_remainder: bool) -> Dataset:
    return _windows(_SlidingWindow, dataset, size, shift, stride, drop_remainder)


def _windows(kind: type[_Window], dataset: Dataset, size: Any, shift: Any, stride: Any, drop: bool) -> Dataset:
    numbers = {"size": as_count(size), "shift": as_count(shift), "stride": as_count(stride)}
    for name, number in numbers.items():
        if number <= 0:
            raise InvalidArgumentError(None, None, f"Window {name} must be greater than zero, not {number}.")
    span, shift = (numbers["size"] - 1) * numbers["stride"] + 1, numbers["shift"]
    count = dataset.cardinality
    if count >= 0:
        count = max(0, -(-(count - span + 1) // shift)) if drop else -(-count // shift)
    return FromRecipe(
        lambda source: kind(source.iterator(), numbers["size"], shift, numbers["stride"], drop),
        dataset,
        cardinality=count,
    )
