"""The nodes that put into staging areas and take from them: Stage, MapStage, OrderedMapStage and what belongs to them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.waiting import Waiting, in_turn
from tfexp.ops.array import Array, own_copies
from tfexp.ops.staging_resource import Map, Row

_SETTINGS = "capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type)%s; %scontainer: string = ''; "
_SETTINGS += "shared_name: string = ''"
_SOME, _ANY = _SETTINGS % (" >= 1", ""), _SETTINGS % ("", "")


def _gives_values(op: Op) -> None:
    @op.shape
    def _(*inputs: InputShape, dtypes: list[DType]) -> list[TensorShape]:
        return [TensorShape(None)] * len(dtypes)


def _gives_nothing(op: Op) -> None:
    @op.shape
    def _(*inputs: Any) -> None:
        return None


def _gives_size(op: Op) -> None:
    @op.shape
    def _() -> TensorShape:
        return TensorShape([])


# --- in a row ----------------------------------------------------------------------------------------------------------


stage_op = define_op(f"Stage(values: dtypes) -> () {{{_SOME}}} #stateful")
unstage_op = define_op(f"Unstage() -> (values: dtypes) {{{_SOME}}} #stateful")
stage_peek_op = define_op(f"StagePeek(index: int32) -> (values: dtypes) {{{_SOME}}} #stateful")
stage_size_op = define_op(f"StageSize() -> (size: int32) {{{_ANY}}} #stateful")
stage_clear_op = define_op(f"StageClear() -> () {{{_ANY}}} #stateful")


_gives_nothing(stage_op)
_gives_values(unstage_op)
_gives_values(stage_peek_op)
_gives_size(stage_size_op)
_gives_nothing(stage_clear_op)


def _row(op: Op, apply: Any) -> None:
    """`apply(area, *inputs)` is the kernel of the op."""

    @op.kernel("CPU", waits=True)
    def _(ctx: Any, *inputs: Any, capacity: int, memory_limit: int, container: str, shared_name: str) -> Any:
        name = shared_name or ctx.node_name
        area = ctx.resource(container, name, lambda: Row(name, capacity, memory_limit), "staging area")
        return apply(area, *inputs)


_row(stage_op, lambda area, values: area.put(own_copies(values)))
_row(unstage_op, lambda area: area.get())
_row(stage_peek_op, lambda area, index: area.peek(int(index)))
_row(stage_size_op, lambda area: np.int32(area.size()))
_row(stage_clear_op, lambda area: area.clear())


# --- by key ------------------------------------------------------------------------------------------------------------


def _define_map(prefix: str) -> dict[str, Op]:
    """The ops of one of the two kinds of maps, by what they do."""
    ordered = prefix == "OrderedMap"
    width_and_fakes = _SETTINGS % ("", "fake_dtypes: list(type) >= 1; ")
    ops = {
        "stage": define_op(
            f"{prefix}Stage(key: int64, indices: int32, values: fake_dtypes) -> () {{{width_and_fakes}}} #stateful"
        ),
        "unstage": define_op(f"{prefix}Unstage(key: int64, indices: int32) -> (values: dtypes) {{{_SOME}}} #stateful"),
        "peek": define_op(f"{prefix}Peek(key: int64, indices: int32) -> (values: dtypes) {{{_SOME}}} #stateful"),
        "unstage_no_key": define_op(
            f"{prefix}UnstageNoKey(indices: int32) -> (key: int64, values: dtypes) {{{_SOME}}} #stateful"
        ),
        "size": define_op(f"{prefix}Size() -> (size: int32) {{{_ANY}}} #stateful"),
        "incomplete_size": define_op(f"{prefix}IncompleteSize() -> (size: int32) {{{_ANY}}} #stateful"),
        "clear": define_op(f"{prefix}Clear() -> () {{{_ANY}}} #stateful"),
    }
    for name in ("unstage", "peek"):
        _gives_values(ops[name])
    for name in ("size", "incomplete_size"):
        _gives_size(ops[name])
    for name in ("stage", "clear"):
        _gives_nothing(ops[name])

    @ops["unstage_no_key"].shape
    def _(indices: InputShape, *, dtypes: list[DType]) -> list[TensorShape]:
        return [TensorShape([]), *[TensorShape(None)] * len(dtypes)]

    for name, op in ops.items():
        _map(op, ordered, _ON_MAPS[name])
    return ops


def _map(op: Op, ordered: bool, apply: Any) -> None:
    """`apply(area, width, *inputs)` is the kernel of the op."""

    @op.kernel("CPU", waits=True)
    def _(
        ctx: Any, *inputs: Any, capacity: int, memory_limit: int, dtypes: list[DType], container: str, shared_name: str
    ) -> Any:
        name = shared_name or ctx.node_name
        area = ctx.resource(container, name, lambda: Map(name, capacity, memory_limit, ordered), "staging area")
        return apply(area, len(dtypes), *inputs)


def _pop_any(area: Map, width: int, indices: Array) -> Any:
    found = area.pop_any(indices.tolist())
    return in_turn(_with_key(found)) if isinstance(found, Waiting) else _with_values(*found)


def _with_key(found: Waiting) -> Generator[Waiting, Any, Any]:
    return _with_values(*(yield found))


def _with_values(key: int, values: list[Any]) -> list[Any]:
    return [np.int64(key), *values]


_ON_MAPS: dict[str, Any] = {
    "stage": lambda area, width, key, indices, values: area.put(int(key), indices.tolist(), own_copies(values), width),
    "unstage": lambda area, width, key, indices: area.pop(int(key), indices.tolist()),
    "peek": lambda area, width, key, indices: area.peek(int(key), indices.tolist()),
    "unstage_no_key": _pop_any,
    "size": lambda area, width: np.int32(area.size()),
    "incomplete_size": lambda area, width: np.int32(area.incomplete_size()),
    "clear": lambda area, width: area.clear(),
}

map_ops = _define_map("Map")
ordered_map_ops = _define_map("OrderedMap")
