"""The memory that a step takes on each device, as far as shapes are known, held against what the device has.

Counted are the variables, feeds, constants and buffers of the step, and every other value from the node that makes it to
the last that reads it; views count as what they are views of. What kernels need for themselves is not counted, nor are
values whose shapes show only at run time: a step takes at least what is said here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from tfexp.core.errors import ResourceExhaustedError
from tfexp.plan.alias import RootMap, find_roots
from tfexp.plan.ir import Draft, Node, Value

# How many of the largest tensors an error names.
_NAMED = 5


@dataclass(frozen=True)
class Held:
    """A piece of memory: the value that it is made for, its bytes and its device."""

    value: Value
    size: int
    device: str


def check_memory(draft: Draft, limits: Mapping[str, int], home: str) -> None:
    """ResourceExhaustedError, naming the largest tensors, where a device has less than the step needs.

    `limits`: bytes, by device. `home`: the device of feeds. After `buffers`, if that runs at all.
    """
    values = [*draft.feeds, *(value for node in draft.nodes for value in node.outputs)]
    if not limits or sum(map(size_of, values)) <= min(limits.values()):
        return
    for device, peak in _peaks(draft, home).items():
        limit = limits.get(device)
        needed = sum(held.size for held in peak)
        if limit is not None and needed > limit:
            raise _exhausted(device, limit, needed, peak)


def size_of(value: Value) -> int:
    """Its bytes; 0 while they are not known. Strings count by their pointers."""
    dims = value.shape.known_dims
    if dims is None or None in dims:
        return 0
    return math.prod(dims) * (value.dtype.base_dtype.size or 0)  # type: ignore[arg-type]  # all known


def in_words(size: float) -> str:
    """Bytes as people read them."""
    unit = "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def _peaks(draft: Draft, home: str) -> dict[str, list[Held]]:
    """What each device holds at the moment at which that is most."""
    roots = find_roots(draft)
    memory = _Memory(draft, roots, home)
    now: dict[str, dict[Hashable, Held]] = defaultdict(dict)
    level: dict[str, int] = defaultdict(int)
    highest: dict[str, int] = defaultdict(int)
    peaks: dict[str, list[Held]] = {}

    def take(keys: Iterable[Hashable]) -> None:
        for key in keys:
            held = memory.of(key)
            if held.size and key not in now[held.device]:
                now[held.device][key] = held
                level[held.device] += held.size

    def note(device: str) -> None:
        if level[device] > highest[device]:
            highest[device] = level[device]
            peaks[device] = list(now[device].values())

    take(memory.lasting)
    for position, node in enumerate(draft.nodes):
        take(key for value in node.outputs for key in memory.keys(value))
        note(node.device)
        for key in memory.dying[position]:
            held = memory.of(key)
            if now[held.device].pop(key, None) is not None:
                level[held.device] -= held.size
    for device in list(now):
        note(device)
    return peaks


class _Memory:
    """The pieces of memory of a step, by key: a buffer's number, a variable's key, or the value that owns it.

    `lasting`: those that are there all the time; `dying`: of the others, those that are read for the last time, by position.
    """

    def __init__(self, draft: Draft, roots: RootMap, home: str):
        self._draft, self._roots = draft, roots
        self._held: dict[Hashable, Held] = {}
        for feed in draft.feeds:
            self._add(feed, home)
        lasting = set(self._held)
        last: dict[Hashable, int] = {}
        for position, node in enumerate(draft.nodes):
            for value in node.outputs:
                self._add(value, node.device)
            for value in (*node.inputs, *node.outputs):
                last.update(dict.fromkeys(self.keys(value), position))
        for key, held in self._held.items():
            if isinstance(key, (int, tuple)) or held.value.constant is not None:
                lasting.add(key)
        kept = {key for value in draft.fetches for key in self.keys(value)}
        self.lasting = [key for key in self._held if key in lasting]
        self.dying: dict[int, list[Hashable]] = defaultdict(list)
        for key, position in last.items():
            if key not in lasting and key not in kept:
                self.dying[position].append(key)

    def of(self, key: Hashable) -> Held:
        return self._held[key]

    def keys(self, value: Value) -> list[Hashable]:
        """The pieces that a value may lie in."""
        found: list[Hashable] = []
        for root in self._roots[value]:
            buffer = self._draft.buffer_of.get(root) if isinstance(root, Value) else None
            found.append(root if buffer is None else buffer)
        return [key for key in found if key in self._held]

    def _add(self, value: Value, device: str) -> None:
        for root in self._roots[value]:
            buffer = self._draft.buffer_of.get(root) if isinstance(root, Value) else None
            if buffer is not None:
                self._held.setdefault(buffer, Held(value, self._draft.buffer_sizes[buffer], device))
            elif root is value or isinstance(root, tuple):
                self._held.setdefault(root, Held(value, size_of(value), device))


def _exhausted(device: str, limit: int, needed: int, peak: list[Held]) -> ResourceExhaustedError:
    largest = sorted(peak, key=lambda held: -held.size)[:_NAMED]
    named = "".join(f"\n\t{in_words(held.size)} {_shown(held.value)}" for held in largest)
    more = f"\n\tand {len(peak) - len(largest)} smaller ones" if len(peak) > len(largest) else ""
    maker: Node | None = largest[0].value.node
    return ResourceExhaustedError(
        None,
        None if maker is None else maker.origin,
        f"OOM: the step needs {in_words(needed)} on {device}, which has {in_words(limit)}. "
        f"The largest tensors that it holds at a time:{named}{more}",
    )


def _shown(value: Value) -> str:
    return f"{value.name}: {value.dtype.base_dtype.name}{value.shape}"
