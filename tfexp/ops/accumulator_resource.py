"""Conditional accumulators, as steps and sessions share them: sums of gradients, and who waits for enough of them.

Gradients that were computed before the last `take` (their local step is below the accumulator's global step) are dropped.
Source: `tf.ConditionalAccumulator`, `tf.SparseConditionalAccumulator`, TF 1.15.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tfexp.core import log
from tfexp.core.dtypes import DType
from tfexp.core.errors import CancelledError, InvalidArgumentError, OpError
from tfexp.core.shape import TensorShape, dims_text
from tfexp.core.waiting import Promise


class _Taker(Promise):
    """Waits until `required` gradients have been added up."""

    __slots__ = ("required",)

    def __init__(self, accumulator: Accumulator, required: int):
        super().__init__(lambda: f"{required} gradients in {accumulator.text()}", accumulator._withdraw)
        self.required = required


class Accumulator:
    """What both kinds do. A `shape` that is partly unknown is that of the first gradient since the last `take`."""

    kind: ClassVar[str]

    def __init__(self, name: str, dtype: DType, shape: TensorShape, mean: bool):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.count = 0
        self.global_step = 0
        self._mean = mean
        self._lock = threading.Lock()
        self._takers: deque[_Taker] = deque()

    def text(self) -> str:
        """For people: which accumulator this is, and how it stands."""
        return f"{self.kind} '{self.name}' ({self.count} gradients, global step {self.global_step})"

    # --- the sum, the lock being held ----------------------------------------------------------------------------------

    def _check(self, gradient: Any) -> None:
        """InvalidArgumentError unless the gradient goes with the shape and with what has been added up."""
        raise NotImplementedError

    def _add(self, gradient: Any) -> None:
        raise NotImplementedError

    def _result(self) -> Any:
        """The mean or sum of at least one gradient, which the caller may keep."""
        raise NotImplementedError

    # --- what nodes do --------------------------------------------------------------------------------------------------

    def apply(self, local_step: int, gradient: Any) -> None:
        """Add a gradient, unless it is stale."""
        with self._lock:
            if local_step < self.global_step:
                return
            self._check(gradient)
            self._add(gradient)
            self.count += 1
            settled = self._serve()
        _settle(settled)

    def take(self, required: int) -> Any:
        """The result once `required` gradients are there, which starts the next global step: a promise until then."""
        taker = _Taker(self, required)
        with self._lock:
            self._takers.append(taker)
            settled = self._serve()
        _settle(settled)
        return taker.now()

    def set_global_step(self, step: int) -> None:
        with self._lock:
            if step < self.global_step:
                log.warn(
                    "Attempt to set current_global_step_ to smaller value: current_global_step_ = %d >= %d = "
                    "new_global_step.",
                    self.global_step,
                    step,
                )
            self.global_step = step

    def _serve(self) -> list[Callable[[], None]]:
        """Those that waited longest first. Returns what is to be settled once the lock is free."""
        settled: list[Callable[[], None]] = []
        while self._takers and self.count >= self._takers[0].required:
            taker, result = self._takers.popleft(), self._result()
            self.global_step += 1
            self.count = 0
            settled.append(lambda taker=taker, result=result: taker.keep(result))  # type: ignore[misc]
        return settled

    def _withdraw(self, promise: Any, reason: OpError) -> None:
        waited_for = promise.what
        with self._lock:
            if promise not in self._takers:
                return
            self._takers.remove(promise)
            settled = self._serve()
        _settle(settled)
        cancelled = isinstance(reason, CancelledError)
        text = "TakeGrad operation was cancelled" if cancelled else f"{reason.message}; it waited for {waited_for}"
        promise.fail(type(reason)(None, None, text))


def _settle(settled: Sequence[Callable[[], None]]) -> None:
    for settle in settled:
        settle()


def _mismatch(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"Shape mismatch: {text}")


class DenseAccumulator(Accumulator):
    """Gradients are arrays."""

    kind = "ConditionalAccumulator"

    def __init__(self, name: str, dtype: DType, shape: TensorShape, mean: bool):
        super().__init__(name, dtype, shape, mean)
        self._sum: np.ndarray = np.zeros(0, dtype.as_numpy_dtype)

    def _check(self, gradient: np.ndarray) -> None:
        if not self.shape.is_compatible_with(gradient.shape):
            raise _mismatch(f"expected {dims_text(self.shape.as_list())}, got {dims_text(gradient.shape)}")
        if self.count and self._sum.shape != gradient.shape:
            raise _mismatch(f"expected {dims_text(self._sum.shape)}, got {dims_text(gradient.shape)}")

    def _add(self, gradient: np.ndarray) -> None:
        if self.count:
            self._sum += gradient
        else:
            self._sum = np.array(gradient)

    def _result(self) -> np.ndarray:
        return self._sum / self._sum.dtype.type(self.count) if self._mean else self._sum


class SparseAccumulator(Accumulator):
    """Gradients are (indices, values, dense shape or None): row `indices[i]` of the dense gradient is `values[i]`.

    The mean of a row is that of the gradients that have it. Indices come out in order, each once.
    """

    kind = "SparseConditionalAccumulator"

    def __init__(self, name: str, dtype: DType, shape: TensorShape, mean: bool):
        super().__init__(name, dtype, shape, mean)
        self._indices: np.ndarray = np.zeros(0, np.int64)
        self._values: np.ndarray = np.zeros(0, dtype.as_numpy_dtype)
        self._counts: np.ndarray = np.zeros(0, np.int64)

    def _check(self, gradient: Any) -> None:
        indices, values, dims = gradient
        if indices.ndim != 1:
            raise InvalidArgumentError(
                None, None, f"Input indices should be vector but received shape: {dims_text(indices.shape)}"
            )
        if values.ndim == 0:
            raise InvalidArgumentError(None, None, "Values cannot be 0-dimensional.")
        if len(values) != len(indices):
            raise InvalidArgumentError(None, None, f"Expected {len(indices)} non-empty input values, got {len(values)}")
        if self.count and self._values.ndim != values.ndim:
            raise _mismatch(f"expected values rank {self._values.ndim}, got {values.ndim}")
        if self.count:
            _compare("values", self._values.shape[1:], values.shape, 1)
        known = self.shape.as_list() if self.shape.ndims is not None else None
        if known is not None and dims is not None:
            if len(dims) < len(known):
                raise _mismatch(f"expected shape rank at least {len(known)}, got {len(dims)}")
            _compare("shape", known, dims, 0)
        if known is not None:
            if values.ndim < len(known):
                raise _mismatch(f"expected values rank at least {len(known)}, got {values.ndim}")
            _compare("values", known[1:], values.shape, 1)
        rows = next((d for d in ((known or [None])[0], None if dims is None or not len(dims) else int(dims[0])) if d), None)
        if rows is not None and (indices >= rows).any():
            at = int(np.argmax(indices >= rows))
            raise _mismatch(f"index of slice {at} exceeded limits of shape; index is {indices[at]} exceeded {rows}")

    def _add(self, gradient: Any) -> None:
        indices, values, _ = gradient
        indices, values = _each_once(indices, values)
        ones = np.ones(len(indices), np.int64)
        if self.count == 0:
            self._indices, self._values, self._counts = indices, values, ones
            return
        together, where = np.unique(np.concatenate([self._indices, indices]), return_inverse=True)
        mine, theirs = where[: len(self._indices)], where[len(self._indices) :]
        total = np.zeros((len(together), *values.shape[1:]), values.dtype)
        counts = np.zeros(len(together), np.int64)
        total[mine], counts[mine] = self._values, self._counts
        total[theirs] += values
        counts[theirs] += ones
        self._indices, self._values, self._counts = together, total, counts

    def _result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values = self._values
        if self._mean:
            values = values / self._counts.astype(values.dtype).reshape(-1, *[1] * (values.ndim - 1))
        known = self.shape.as_list() if self.shape.ndims else [None]
        rows = -1 if known[0] is None else known[0]
        return self._indices, values, np.array([rows, *values.shape[1:]], np.int64)


def _compare(what: str, expected: Sequence[int | None], actual: Sequence[int], first: int) -> None:
    """`expected` against the dimensions of `actual` from `first` on."""
    for number, dim in enumerate(expected, first):
        if dim is not None and dim != actual[number]:
            raise _mismatch(f"expected {what} dim {number} to be {dim}, got {actual[number]}")


def _each_once(indices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same rows in order, those of equal index added up; copies."""
    if (indices[1:] > indices[:-1]).all():
        return indices.copy(), values.copy()
    different, where = np.unique(indices, return_inverse=True)
    total = np.zeros((len(different), *values.shape[1:]), values.dtype)
    np.add.at(total, where, values)
    return different, total
