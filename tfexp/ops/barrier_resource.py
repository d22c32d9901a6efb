"""What is behind a barrier's handle: elements that are put together from components, which come at different times.

Elements that have all their components are ready; they are taken in the order in which their keys came. Source:
`data_flow_ops.Barrier`, TF 1.15.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import CancelledError, OpError, OutOfRangeError, invalid
from tfexp.core.shape import TensorShape, dims_text
from tfexp.core.waiting import Promise

_FIRST_INDEX = -(2**63)


class _Taker(Promise):
    """Waits until `wanted` elements are ready."""

    __slots__ = ("takes_fewer", "waits_for_incomplete", "wanted")

    def __init__(self, barrier: Barrier, wanted: int, takes_fewer: bool, waits_for_incomplete: bool):
        super().__init__(lambda: f"{wanted} ready elements of {barrier.text()}", barrier._withdraw)
        self.wanted = wanted
        self.takes_fewer = takes_fewer
        self.waits_for_incomplete = waits_for_incomplete


class Barrier:
    """Its elements have components of these types and shapes; an unknown shape is that of whatever comes."""

    def __init__(self, name: str, types: Sequence[DType], shapes: Sequence[TensorShape]):
        self.name = name
        self.types = list(types)
        self.shapes = list(shapes) or [TensorShape(None)] * len(self.types)
        self._incomplete: dict[bytes, tuple[int, list[Any]]] = {}  # key -> (index, components, None where missing)
        self._ready: list[tuple[int, int, bytes, list[Any]]] = []  # a heap by index, then by completion
        self._completed = itertools.count()
        self._next_index = _FIRST_INDEX
        self._closed = self._cancelled = False
        self._lock = threading.Lock()
        self._takers: deque[_Taker] = deque()

    def text(self) -> str:
        """For people: which barrier this is, and how it stands."""
        state = "closed, " if self._closed else ""
        return f"barrier '{self.name}' ({state}{len(self._ready)} ready elements, {len(self._incomplete)} incomplete ones)"

    @property
    def ready(self) -> int:
        return len(self._ready)

    @property
    def incomplete(self) -> int:
        return len(self._incomplete)

    # --- what nodes do --------------------------------------------------------------------------------------------------

    def insert(self, component: int, keys: np.ndarray, values: np.ndarray) -> None:
        """Give a component to each of the keys. Keys that are new get the next number, all of one call the same."""
        self._check(component, keys, values)
        with self._lock:
            self._check_open(keys)
            index = self._next_index
            try:
                for key, value in zip(keys.tolist(), values, strict=True):
                    if self._insert(component, key, np.array(value, values.dtype), index):
                        self._next_index = index + 1
            finally:
                settled = self._serve()
        _settle(settled)

    def _check(self, component: int, keys: np.ndarray, values: np.ndarray) -> None:
        if not 0 <= component < len(self.types):
            raise invalid(f"The component ID is out of range {component} > num_components (= {len(self.types)})")
        if keys.ndim != 1 or values.shape[:1] != keys.shape:
            raise invalid(
                "Keys must be a vector, and there must be as many values; there are keys of shape "
                f"{dims_text(keys.shape)} and values of shape {dims_text(values.shape)}"
            )
        if keys.size and not values.size:
            raise invalid(
                f"Tensors with no elements are not supported {self.name}: received shape {dims_text(values.shape)}"
            )
        if not self.shapes[component].is_compatible_with(values.shape[1:]):
            raise invalid(
                f"Shape mismatch in tuple component {component} of barrier {self.name}. Expected {self.shapes[component]}, "
                f"got {dims_text(values.shape[1:])}"
            )

    def _check_open(self, keys: np.ndarray) -> None:
        """A closed barrier takes no new keys; one whose pending elements are cancelled takes nothing."""
        new = sum(key not in self._incomplete for key in keys.tolist())
        if self._closed and (new or self._cancelled):
            raise CancelledError(
                None,
                None,
                f"Barrier {self.name} is closed.  Pending enqueues cancelled: {int(self._cancelled)}.  "
                f"Number of new insertions: {new}.  Number of incomplete keys: {len(self._incomplete)}.",
            )

    def _insert(self, component: int, key: bytes, value: Any, index: int) -> bool:
        """Whether the key is new."""
        is_new = key not in self._incomplete
        number, parts = self._incomplete.setdefault(key, (index, [None] * len(self.types)))
        if parts[component] is not None:
            raise invalid(
                f"Key {key.decode(errors='replace')} already has a value for component {component} in barrier {self.name}"
            )
        parts[component] = value
        if all(part is not None for part in parts):
            del self._incomplete[key]
            heapq.heappush(self._ready, (number, next(self._completed), key, parts))
        return is_new

    def take(self, wanted: int, takes_fewer: bool, waits_for_incomplete: bool) -> Any:
        """[indices, keys, one array for each component] of so many elements: a promise until they are ready.

        Of a closed barrier, `takes_fewer` takes what is there; OutOfRangeError where there will never be enough.
        """
        if wanted < 0:
            raise invalid(f"num_elements must be at least 0, not {wanted}")
        taker = _Taker(self, wanted, takes_fewer, waits_for_incomplete)
        with self._lock:
            self._takers.append(taker)
            settled = self._serve()
        _settle(settled)
        return taker.now()

    def close(self, cancels: bool) -> None:
        """No new keys from here on; with `cancels`, no components for those there are, either."""
        with self._lock:
            if self._closed and (self._cancelled or not cancels):
                raise CancelledError(None, None, f"Barrier '{self.name}' is already closed.")
            self._closed = True
            self._cancelled = cancels
            settled = self._serve()
        _settle(settled)

    # --- who waits, the lock being held -----------------------------------------------------------------------------------

    def _serve(self) -> list[Callable[[], None]]:
        """Those that waited longest first. Returns what is to be settled once the lock is free."""
        settled: list[Callable[[], None]] = []
        while self._takers:
            taker = self._takers[0]
            count = self._count_for(taker)
            if count is None:
                break
            self._takers.popleft()
            if count < 0:
                total = len(self._ready) + (0 if self._cancelled else len(self._incomplete))
                text = (
                    f"Barrier '{self.name}' is closed and has insufficient elements (requested {taker.wanted}, total size "
                    f"{total})"
                )
                settled.append(lambda taker=taker, text=text: taker.fail(OutOfRangeError(None, None, text)))  # type: ignore[misc]
            else:
                taken = self._taken(count)
                settled.append(lambda taker=taker, taken=taken: taker.keep(taken))  # type: ignore[misc]
        return settled

    def _count_for(self, taker: _Taker) -> int | None:
        """How many elements a taker gets now; None while it has to wait, -1 where it never gets what it wants."""
        if len(self._ready) >= taker.wanted:
            return taker.wanted
        if not self._closed:
            return None
        coming = 0 if self._cancelled else len(self._incomplete)
        if taker.takes_fewer:
            if coming and taker.waits_for_incomplete:
                return None
            return len(self._ready) or -1
        return None if len(self._ready) + coming >= taker.wanted else -1

    def _taken(self, count: int) -> list[np.ndarray]:
        elements = [heapq.heappop(self._ready) for _ in range(count)]
        keys = np.empty(count, object)
        keys[:] = [key for _, _, key, _ in elements]
        components = []
        for number, (dtype, shape) in enumerate(zip(self.types, self.shapes, strict=True)):
            parts = [element[3][number] for element in elements]
            sizes = [0 if size is None else size for size in shape.as_list()] if shape.rank is not None else []
            components.append(np.stack(parts) if parts else np.zeros([0, *sizes], dtype.as_numpy_dtype))
        return [np.array([index for index, _, _, _ in elements], np.int64), keys, *components]

    def _withdraw(self, promise: Any, reason: OpError) -> None:
        waited_for = promise.what
        with self._lock:
            if promise not in self._takers:
                return
            self._takers.remove(promise)
            settled = self._serve()
        _settle(settled)
        promise.fail(type(reason)(None, None, f"{reason.message}; it waited for {waited_for}"))


def _settle(settled: Sequence[Callable[[], None]]) -> None:
    for settle in settled:
        settle()
