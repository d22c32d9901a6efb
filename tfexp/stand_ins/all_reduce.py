"""`tensorflow.python.distribute.all_reduce`: the sum, or another reduction, of a tensor of each of several devices on all.

Every builder takes one tensor a device, all of one shape, and returns as many, each on the device of its input. `red_op`
takes two tensors (a list of them where tensors are shuffled), `un_op` takes one reduced tensor, or a part of one. Source: TF
1.15; the ring and recursive halving and doubling are those of Thakur, Rabenseifner and Gropp 2005.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.device import DeviceName
from tfexp.core.shape import TensorShape
from tfexp.graph.scopes import colocate_with, control_dependencies, device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_slice import slice as part_of
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_binary import add
from tfexp.stand_ins import nccl_ops

Unary = Callable[[Any], Any] | None
Binary = Callable[[Any, Any], Any]
Reduction = Callable[[Sequence[Any]], Any]
Upper = Callable[[list[Any]], list[Any]]


# --- tensors and their parts ---------------------------------------------------------------------------------------------


def flattened(tensors: Sequence[Tensor]) -> tuple[list[Tensor], TensorShape]:
    """The tensors as vectors, and the shape that they share. ValueError for none, and for shapes that differ."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError("Tensors must have statically known shape.")
    return (list(tensors) if shape.rank == 1 else reshaped(tensors, [-1])), shape


def reshaped(tensors: Sequence[Tensor], shape: Any) -> list[Tensor]:
    """Each in that shape, where it is."""
    results = []
    for tensor in tensors:
        with colocate_with(tensor):
            results.append(reshape(tensor, shape))
    return results


def padded_split(tensor: Tensor, pieces: int) -> tuple[list[Tensor], int]:
    """`pieces` vectors of one length, and how many zeros are at their end. ValueError for what is no vector."""
    length = _length(tensor, "input tensor must be 1D")
    size = -(-length // pieces)
    lacking = size * pieces - length
    with colocate_with(tensor):
        if not lacking:
            return split(tensor, pieces), 0
        if lacking >= size:
            return split(concat([tensor, zeros([lacking], tensor.dtype)], 0), pieces), lacking
        *whole, last = split(tensor, [size] * (pieces - 1) + [size - lacking])
        return [*whole, concat([last, zeros([lacking], tensor.dtype)], 0)], lacking


def without_padding(tensors: Sequence[Tensor], pad_len: int) -> list[Tensor]:
    """Vectors as long as the first, but for their last `pad_len` elements. ValueError for what is no vector."""
    kept = _length(tensors[0], "tensors must have 1D shape") - pad_len
    results = []
    for tensor in tensors:
        with colocate_with(tensor):
            results.append(part_of(tensor, [0], [kept]))
    return results


def _length(vector: Tensor, otherwise: str) -> int:
    """How many elements a vector has, which is known. ValueError with that message for what is no vector."""
    if vector.shape.rank != 1:
        raise ValueError(otherwise)
    (length,) = vector.get_shape().as_list()
    if length is None:
        raise ValueError(f"How long {vector.name} is has to be known.")
    return length


def ragged_split(tensor: Tensor, pieces: int) -> list[Tensor]:
    """`pieces` vectors of one length, the last with what is left. ValueError for what is no vector."""
    length = _length(tensor, "input tensor must be 1D")
    size, left = divmod(length, pieces)
    with colocate_with(tensor):
        return split(tensor, [size] * (pieces - 1) + [size + left] if left else pieces)


def split_by_task(devices: Sequence[str], values: Sequence[Any]) -> tuple[list[list[str]], list[list[Any]]]:
    """Devices, and a value for each, by task. ValueError for unequal numbers; AssertionError where one has no task."""
    if len(devices) != len(values):
        raise ValueError("len(devices) must equal len(values)")
    tasks: dict[Any, tuple[list[str], list[Any]]] = {}
    for place, value in zip(devices, values, strict=True):
        name = DeviceName.parse(place)
        if name.job is None or name.task is None:
            raise AssertionError(f"failed to parse device {place}")
        names, own = tasks.setdefault((name.job, name.replica, name.task), ([], []))
        names.append(place)
        own.append(value)
    return [names for names, _ in tasks.values()], [own for _, own in tasks.values()]


def _applied(function: Unary, tensors: Sequence[Tensor]) -> list[Tensor]:
    if function is None:
        return list(tensors)
    results = []
    for tensor in tensors:
        with colocate_with(tensor):
            results.append(function(tensor))
    return results


def _devices(tensors: Sequence[Tensor]) -> list[str]:
    return [tensor.device for tensor in tensors]


# --- the ring ------------------------------------------------------------------------------------------------------------


def ring_permutations(
    num_workers: int, num_subchunks: int, gpu_perm: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """For each subchunk a ring: which device comes before each, and its place.

    A ring goes through the devices of a worker, in the order of `gpu_perm`, and then to the next; each ring starts a like
    stretch later than the one before. ValueError for more rings than a worker has devices.
    """
    count = len(gpu_perm)
    if count == 0:
        return [], []
    if num_subchunks > count:
        raise ValueError(f"num_subchunks {num_subchunks} must be <= num_gpus {count}")
    before, places = [], []
    for number in range(num_subchunks):
        start = number * (count // num_subchunks)
        order = [*gpu_perm[start:], *gpu_perm[:start]]
        ring = [worker * count + one for worker in range(num_workers) for one in order]
        place = {one: at for at, one in enumerate(ring)}
        places.append([place[one] for one in range(len(ring))])
        before.append([ring[at - 1] for at in places[-1]])
    return before, places


def build_ring_all_reduce(
    input_tensors: Sequence[Tensor],
    num_workers: int,
    num_subchunks: int,
    gpu_perm: Sequence[int],
    red_op: Binary,
    un_op: Unary = None,
) -> list[Tensor]:
    """Each device reduces one part after the other with what the device before it in the ring has, then hands parts on.

    num_subchunks: how many rings there are, each for its share of every part; see `ring_permutations`.
    ValueError for fewer than two tensors.
    """
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    tensors, shape = flattened(input_tensors)
    devices, n = _devices(tensors), len(tensors)
    before, places = ring_permutations(num_workers, num_subchunks, gpu_perm)
    chunks, padding = [], 0
    for place, tensor in zip(devices, tensors, strict=True):
        with device(place):
            pieces, padding = padded_split(tensor, n * num_subchunks)
            chunks.append(pieces)

    def go_round(ahead: int, step: Binary) -> None:
        """n - 1 times: on every device `step` of the chunk that the one before it has done last, and of its own."""
        for tick in range(n - 1):
            made = {}
            for one, place in enumerate(devices):
                with device(place):
                    for ring in range(num_subchunks):
                        chunk = (places[ring][one] + ahead - tick) % n * num_subchunks + ring
                        made[one, chunk] = step(chunks[before[ring][one]][chunk], chunks[one][chunk])
            for (one, chunk), value in made.items():
                chunks[one][chunk] = value

    go_round(n - 2, red_op)
    chunks = [_applied(un_op, pieces) for pieces in chunks]
    go_round(n - 1, lambda theirs, own: identity(theirs))
    results = []
    for place, pieces in zip(devices, chunks, strict=True):
        with device(place):
            results.append(concat(pieces, 0))
    results = without_padding(results, padding) if padding else results
    return results if shape.rank == 1 else reshaped(results, shape)


# --- recursive halving and doubling --------------------------------------------------------------------------------------


def build_recursive_hd_all_reduce(input_tensors: Sequence[Tensor], red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """Pairs of devices reduce a half each, ever smaller ones with partners ever farther, and join them on the way back.

    ValueError for a number of tensors, or of elements, which does not halve so often.
    """
    tensors, shape = flattened(input_tensors)
    devices, n = _devices(input_tensors), len(input_tensors)
    if n & (n - 1):
        raise ValueError("num_devices must be a power of 2")
    spans = [1 << hop for hop in range(n.bit_length() - 1)]
    for span in spans:
        for left, right in _pairs(n, span):
            halves = list(zip(split(tensors[left], 2), split(tensors[right], 2), strict=True))
            for one, parts in zip((left, right), halves, strict=True):
                with device(devices[one]):
                    tensors[one] = red_op(*parts)
    tensors = _applied(un_op, tensors)
    for span in reversed(spans):
        for left, right in _pairs(n, span):
            halves_ = [tensors[left], tensors[right]]
            for one in (left, right):
                with device(devices[one]):
                    tensors[one] = concat(halves_, 0)
    return tensors if shape.rank == 1 else reshaped(tensors, shape)


def _pairs(n: int, span: int) -> list[tuple[int, int]]:
    """Devices that are `span` apart: each is in one pair."""
    return [(one, one + span) for one in range(n) if one % (2 * span) < span]


# --- shuffling -----------------------------------------------------------------------------------------------------------


def build_shuffle_all_reduce(
    input_tensors: Sequence[Tensor], gather_devices: Sequence[str], red_op: Reduction, un_op: Unary = None
) -> list[Tensor]:
    """Each of `gather_devices` reduces a share of the tensors; all devices join the shares."""
    tensors, shape = flattened(input_tensors)
    shards = _gathered(tensors, gather_devices, red_op, un_op)
    results = _scattered(shards, _devices(input_tensors))
    return results if shape.rank == 1 else reshaped(results, shape)


def _gathered(
    tensors: Sequence[Tensor], gather_devices: Sequence[str], red_op: Reduction, un_op: Unary = None
) -> list[Tensor]:
    shares = []
    for tensor in tensors:
        with device(tensor.device):
            shares.append(ragged_split(tensor, len(gather_devices)))
    shards = []
    for place, parts in zip(gather_devices, zip(*shares, strict=True), strict=True):
        with device(place):
            value = red_op(list(parts)) if len(parts) > 1 else parts[0]
            shards.append(un_op(value) if un_op else value)
    return shards


def _scattered(shards: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
    results = []
    for place in devices:
        with device(place):
            results.append(concat(shards, 0))
    return results


# --- all at once, and within workers before between them -----------------------------------------------------------------


def build_nccl_all_reduce(input_tensors: Sequence[Tensor], red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """Their sum on each device, by `nccl_ops`. ValueError for another reduction than `tf.add`."""
    if red_op is not add:
        raise ValueError("red_op not supported by NCCL all-reduce: ", red_op)
    return _applied(un_op, nccl_ops.all_sum(input_tensors))


def build_nccl_then_ring(input_tensors: Sequence[Tensor], subdiv: int, red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """`build_nccl_all_reduce` within each task, a ring between the first devices of all."""
    return _nccl_and(input_tensors, red_op, _ring_between(subdiv, red_op, un_op))


def build_nccl_then_recursive_hd(input_tensors: Sequence[Tensor], red_op: Binary, un_op: Unary = None) -> list[Tensor]:
    """`build_nccl_all_reduce` within each task, recursive halving and doubling between the first devices of all."""
    return _nccl_and(input_tensors, red_op, lambda tensors: build_recursive_hd_all_reduce(tensors, red_op, un_op))


def build_nccl_then_shuffle(
    input_tensors: Sequence[Tensor],
    gather_devices: Sequence[str],
    nccl_red_op: Binary,
    shuffle_red_op: Reduction,
    un_op: Unary = None,
) -> list[Tensor]:
    """`build_nccl_all_reduce` within each task, shares for `gather_devices` between the first devices of all."""
    return _nccl_and(
        input_tensors, nccl_red_op, lambda tensors: build_shuffle_all_reduce(tensors, gather_devices, shuffle_red_op, un_op)
    )


def build_shuffle_then_ring(
    input_tensors: Sequence[Tensor],
    gather_devices: Sequence[str],
    subdiv: int,
    red_n_op: Reduction,
    red_op: Binary,
    un_op: Unary = None,
) -> list[Tensor]:
    """The tensors of each task reduced on its one of `gather_devices`, a ring between these."""
    return _shuffle_and(input_tensors, gather_devices, red_n_op, _ring_between(subdiv, red_op, un_op))


def build_shuffle_then_shuffle(
    input_tensors: Sequence[Tensor],
    first_gather_devices: Sequence[str],
    second_gather_devices: Sequence[str],
    red_op: Reduction,
    un_op: Unary = None,
) -> list[Tensor]:
    """The tensors of each task reduced on its one of the first devices, shares for the second ones between these."""
    return _shuffle_and(
        input_tensors,
        first_gather_devices,
        red_op,
        lambda tensors: build_shuffle_all_reduce(tensors, second_gather_devices, red_op, un_op),
    )


def _ring_between(subdiv: int, red_op: Binary, un_op: Unary) -> Upper:
    return lambda tensors: (
        build_ring_all_reduce(tensors, len(tensors), subdiv, [0], red_op, un_op)
        if len(tensors) > 1
        else _applied(un_op, tensors)
    )


def _nccl_and(input_tensors: Sequence[Tensor], red_op: Binary, upper: Upper) -> list[Tensor]:
    tensors, shape = flattened(input_tensors)
    devices, own = split_by_task(_devices(input_tensors), tensors)
    firsts = []
    for places, values in zip(devices, own, strict=True):
        first, *others = build_nccl_all_reduce(values, red_op)
        with control_dependencies(others), device(places[0]):  # the sums of one task are made together or not at all
            firsts.append(identity(first))
    results = []
    for places, reduced in zip(devices, upper(firsts), strict=True):
        with device(places[0]):
            everywhere = nccl_ops.broadcast(identity(reduced))
        for place in places:
            with device(place):
                results.append(identity(everywhere))
    return results if shape.rank == 1 else reshaped(results, shape)


def _shuffle_and(
    input_tensors: Sequence[Tensor], gather_devices: Sequence[str], red_op: Reduction, upper: Upper
) -> list[Tensor]:
    tensors, shape = flattened(input_tensors)
    devices, own = split_by_task(_devices(input_tensors), tensors)
    if len(gather_devices) != len(devices):
        raise ValueError("For shuffle hybrid, gather_devices must contain one device per worker. ")
    firsts = [_gathered(values, [place], red_op)[0] for values, place in zip(own, gather_devices, strict=True)]
    results = []
    for places, reduced in zip(devices, upper(firsts), strict=True):
        results += _scattered([reduced], places)
    return results if shape.rank == 1 else reshaped(results, shape)
