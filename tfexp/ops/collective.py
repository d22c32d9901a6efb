"""Ops that devices run together, each its own node: all-reduce, all-gather, broadcast. Source: `collective_ops`, TF 1.15.

Nodes with the same instance key belong together, one on each device of the group that the group key names. Between two
devices, and where tensors are small, everybody sends all it has to everybody and reduces by itself: one exchange. Otherwise
each reduces its share of the elements and sends that on: two exchanges, in which a device sends and receives twice a
tensor's bytes whatever the number of devices, as in a ring, but without a ring's many turns; and everybody hears of a lost
device by itself. Values are always merged in the order of the ranks, so that the result is the same on all devices and in
every run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import CancelledError, InternalError, InvalidArgumentError, OpError
from tfexp.core.kernel import Group
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.core.waiting import Waiting, in_turn
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.elementwise_division import truncated
from tfexp.ops.shape_rules import shape_preserving, with_rank_at_least

# Bytes up to which a second exchange costs more time than the bytes that it saves.
_SMALL = 16384

_MERGES: dict[str, Any] = {"Add": np.add, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum}

_Work = Generator[Waiting, Any, Any]
_NUMBERS = "T: type in [%sfloat,half,double,int32,int64]; group_size: int; group_key: int; instance_key: int; "
_HINT = "communication_hint: string = 'auto'"


@dataclass(frozen=True)
class _About:
    """What a member takes an instance for."""

    kind: str
    dtype: str
    shape: str
    is_source: bool = False


def _about(kind: str, dtype: Any, shape: Sequence[int | None], is_source: bool = False) -> _About:
    return _About(kind, np.dtype(dtype).name, dims_text(shape), is_source)


def _together(ctx: Any, size: int, key: int, instance: int, about: _About, work: Callable[[Group, str], _Work]) -> Any:
    """What `work` gives, done with the other members; or a Waiting for it."""
    if size < 1:
        raise InvalidArgumentError(None, None, f"group_size must be positive. Given: {size}")
    return in_turn(_as_member(ctx, size, key, instance, about, work))


def _as_member(ctx: Any, size: int, key: int, instance: int, about: _About, work: Callable[[Group, str], _Work]) -> _Work:
    group = ctx.group(key, size)
    if isinstance(group, Waiting):
        group = yield group
    name = group.begin(instance)
    try:
        if instance not in group.sources:
            group.sources[instance] = yield from _agree(group, instance, f"{name}/about", about)
        return (yield from work(group, name))
    except OpError as error:
        group.leave(error)
        raise
    except GeneratorExit:  # the step was given up
        group.leave(CancelledError(None, None, "the step was given up"))
        raise


def _agree(group: Group, instance: int, name: str, about: _About) -> _Work:
    """See that all members mean the same; the rank of the one that broadcasts, if one does."""
    mine = np.array(repr(astuple(about)).encode(), object)
    texts = yield from _swap(group, name, [mine] * group.size)
    abouts = [about if text is mine else _About(*_fields(text)) for text in texts]
    for device, other in zip(group.devices, abouts, strict=True):
        for what, ours, theirs in (
            ("Op", about.kind, other.kind),
            ("Data type", about.dtype, other.dtype),
            ("Shape", about.shape, other.shape),
        ):
            if ours != theirs:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"{what} mismatch in the collective instance {instance}: on {group.devices[group.rank]} it is {ours}, "
                    f"on {device} it is {theirs}. The members of a group must all have the same.",
                )
    sources = [rank for rank, other in enumerate(abouts) if other.is_source]
    if len(sources) > 1:
        raise InternalError(
            None, None, f"Instance {instance} already has source {sources[0]}, received second claim from {sources[1]}"
        )
    return sources[0] if sources else None


def _fields(text: Array) -> Any:
    return ast.literal_eval(text.item().decode())


def _swap(group: Group, name: str, parts: Sequence[Array]) -> _Work:
    """Give every member its part; what this one gets of each, by rank."""
    others = [rank for rank in range(group.size) if rank != group.rank]
    for rank in others:
        group.send(rank, name, parts[rank])
    return (yield from _receive(group, name, others, {group.rank: parts[group.rank]}))


def _receive(group: Group, name: str, ranks: Sequence[int], known: dict[int, Array]) -> _Work:
    """The values of these members, and those known, by rank."""
    waiting = [group.receive(rank, name) for rank in ranks]
    values = dict(known)
    try:
        for rank, one in zip(ranks, waiting, strict=True):
            values[rank] = yield one
    except BaseException:
        for one in waiting:
            one.give_up(CancelledError(None, None, "Another member of the group has failed"))
        raise
    return [values[rank] for rank in sorted(values)]


def _check(group: Group, values: Sequence[Array], shape: Sequence[int], dtype: Any) -> Sequence[Array]:
    for device, value in zip(group.devices, values, strict=True):
        if value.shape != tuple(shape) or value.dtype != dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"Shape mismatch in a collective op: {group.devices[group.rank]} expected {np.dtype(dtype).name} of shape "
                f"{list(shape)}, but {device} sent {value.dtype.name} of shape {list(value.shape)}",
            )
    return values


def _check_size(op: str, group_size: int) -> None:
    if group_size < 2:
        raise ValueError(f"Parameter group_size to {op} must be at least 2. Given: {group_size}")


# --- all-reduce --------------------------------------------------------------------------------------------------------

collective_reduce_op = define_op(
    f"CollectiveReduce(input: T) -> (data: T) {{{_NUMBERS % 'bfloat16,'}merge_op: string in ['Min','Max','Mul','Add']; "
    f"final_op: string in ['Id','Div']; subdiv_offsets: list(int); wait_for: list(int) = []; {_HINT}}} #stateful"
)


shape_preserving(collective_reduce_op)


@collective_reduce_op.kernel("CPU", waits=True)
def _(ctx: Any, value: Array, *, group_size: int, group_key: int, instance_key: int, merge_op: str, final_op: str) -> Any:
    mine = np.array(value)  # nobody may write to what others take

    def work(group: Group, name: str) -> _Work:
        is_whole = group.size == 2 or mine.nbytes <= _SMALL
        merged = yield from (_merged if is_whole else _merged_in_shares)(group, name, mine, _MERGES[merge_op])
        if final_op == "Id":
            return merged
        divide = truncated if mine.dtype.kind == "i" else np.divide
        return divide(merged, mine.dtype.type(group.size), out=merged)

    about = _about(f"CollectiveReduce ({merge_op}, {final_op})", mine.dtype, mine.shape)
    return _together(ctx, group_size, group_key, instance_key, about, work)


def _merged(group: Group, name: str, mine: Array, merge: Any) -> _Work:
    values = yield from _swap(group, name, [mine] * group.size)
    total = np.array(_check(group, values, mine.shape, mine.dtype)[0])
    for value in values[1:]:
        merge(total, value, out=total)
    return total


def _merged_in_shares(group: Group, name: str, mine: Array, merge: Any) -> _Work:
    bounds = [mine.size * rank // group.size for rank in range(group.size + 1)]
    shares = np.split(mine.reshape(-1), bounds[1:-1])
    values = yield from _swap(group, name, shares)
    own = np.array(_check(group, values, shares[group.rank].shape, mine.dtype)[0])
    for value in values[1:]:
        merge(own, value, out=own)
    merged = yield from _swap(group, f"{name}/merged", [own] * group.size)
    return np.concatenate(merged).reshape(mine.shape)


def all_reduce(
    t: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Sequence[int] = (0,),
    communication_hint: str = "auto",
) -> Tensor:
    """The sum, product, minimum or maximum (`merge_op`: Add, Mul, Min, Max) of what the devices of the group have as `t`.

    All have the same shape and dtype (InvalidArgumentError), which the result has too. `final_op`: "Id", or "Div" by the
    group's size. `subdiv_offsets` and `communication_hint` are for rings and NCCL, and change nothing. AbortedError or
    UnavailableError when another member fails or is gone. ValueError for a group of less than two.
    """
    _check_size("all_reduce", group_size)
    return collective_reduce_op(  # type: ignore[no-any-return]
        t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        merge_op=merge_op,
        final_op=final_op,
        subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint.lower(),
    )


# --- all-gather --------------------------------------------------------------------------------------------------------

collective_gather_op = define_op(
    f"CollectiveGather(input: T) -> (data: T) {{{_NUMBERS % ''}shape: shape; {_HINT}}} #stateful"
)


@collective_gather_op.shape
def _(value: InputShape, *, group_size: int) -> TensorShape:
    dims = with_rank_at_least(value, 1).dims
    if dims is None:
        return TensorShape(None)
    rows = dims[0].value
    return TensorShape([None if rows is None else rows * group_size, *dims[1:]])


@collective_gather_op.kernel("CPU", waits=True)
def _(ctx: Any, value: Array, *, group_size: int, group_key: int, instance_key: int) -> Any:
    mine = np.array(value)

    def work(group: Group, name: str) -> _Work:
        values = yield from _swap(group, name, [mine] * group.size)
        return np.concatenate(_check(group, values, mine.shape, mine.dtype))

    about = _about("CollectiveGather", mine.dtype, mine.shape)
    return _together(ctx, group_size, group_key, instance_key, about, work)


def all_gather(t: Any, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto") -> Tensor:
    """What the devices of the group have as `t` (`[rows, …]`, same shape and dtype), one below the other.

    Its shape is `[group_size * rows, …]`. Errors as of `all_reduce`.
    """
    _check_size("all_gather", group_size)
    return collective_gather_op(  # type: ignore[no-any-return]
        t,
        shape=[0],
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )


# --- broadcast ---------------------------------------------------------------------------------------------------------

_BROADCAST = f"{_NUMBERS % 'bool,'}shape: shape; {_HINT}"
collective_bcast_send_op = define_op(f"CollectiveBcastSend(input: T) -> (data: T) {{{_BROADCAST}}} #stateful")
collective_bcast_recv_op = define_op(f"CollectiveBcastRecv() -> (data: T) {{{_BROADCAST}}} #stateful")


@collective_bcast_send_op.shape
def _(value: InputShape, *, shape: TensorShape) -> TensorShape:
    return shape


@collective_bcast_recv_op.shape
def _(*, shape: TensorShape) -> TensorShape:
    return shape


@collective_bcast_send_op.kernel("CPU", waits=True)
def _(ctx: Any, value: Array, *, group_size: int, group_key: int, instance_key: int, shape: TensorShape) -> Any:
    sent = np.array(value)
    if sent.shape != tuple(shape.as_list()):
        raise InvalidArgumentError(
            None, None, f"The shape of the tensor to broadcast, {list(sent.shape)}, is not the one it should have, {shape}"
        )

    def work(group: Group, name: str) -> _Work:
        others = [rank for rank in range(group.size) if rank != group.rank]
        for rank in others:
            group.send(rank, name, sent)
        # Until all have it: a source that nobody keeps up with would fill the memory.
        yield from _receive(group, f"{name}/received", others, {})
        return np.array(sent)

    about = _about("broadcast", sent.dtype, sent.shape, is_source=True)
    return _together(ctx, group_size, group_key, instance_key, about, work)


@collective_bcast_recv_op.kernel("CPU", waits=True)
def _(ctx: Any, *, group_size: int, group_key: int, instance_key: int, shape: TensorShape, T: DType) -> Any:
    wanted: Any = T.as_numpy_dtype

    def work(group: Group, name: str) -> _Work:
        source = group.sources[instance_key]
        if source is None:
            raise InternalError(None, None, f"Nobody broadcasts in instance {instance_key}: no member has the value")
        (value,) = yield from _receive(group, name, [source], {})
        group.send(source, f"{name}/received", np.zeros((), np.bool_))
        return np.array(value)

    about = _about("broadcast", wanted, shape.as_list())
    return _together(ctx, group_size, group_key, instance_key, about, work)


def broadcast_send(
    t: Any,
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """`t` (of `shape` and `dtype`), when all other devices of the group have received it by `broadcast_recv`.

    ValueError for another shape or dtype than that of `t`, or a group of less than two; errors of steps as of `all_reduce`.
    """
    _check_size("broadcast_send", group_size)
    value = convert_to_tensor(t, dtype=dtype)
    if value.shape != TensorShape(shape):
        raise ValueError(f"Shape of broadcast tensor {value.shape} not equal to shape {TensorShape(shape)}")
    return collective_bcast_send_op(  # type: ignore[no-any-return]
        value,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )


def broadcast_recv(
    shape: Any, dtype: Any, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto"
) -> Tensor:
    """What another device of the group gives to `broadcast_send`, of `shape` and `dtype`. Errors as of `broadcast_send`."""
    _check_size("broadcast_recv", group_size)
    return collective_bcast_recv_op(  # type: ignore[no-any-return]
        T=dtype,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )
