"""`tensorflow.python.distribute.cross_device_utils`: gradients of the same variables of several replicas. Source: TF 1.15.

A replica's gradients are a list of pairs (gradient, variable); `replica_grads` has one such list for each replica, all in
the order of the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.distribute.values import copies_of
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.scopes import colocate_with, device, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_binary import add, add_n
from tfexp.ops.elementwise_rounding import is_finite
from tfexp.ops.logical import logical_not
from tfexp.ops.reduce import reduce_all
from tfexp.stand_ins import all_reduce, nccl_ops

Pair = Sequence[Any]
Gradients = Sequence[Sequence[Pair]]


# --- sums ----------------------------------------------------------------------------------------------------------------


def aggregate_gradients_using_nccl(replica_grads: Gradients) -> list[tuple[Any, ...]]:
    """For each replica its pairs, with the sums of all replicas, by `nccl_ops`."""
    of_variables = []
    for pairs in zip(*replica_grads, strict=True):
        sums = nccl_ops.all_sum([gradient for gradient, _ in pairs])
        of_variables.append([(total, variable) for total, (_, variable) in zip(sums, pairs, strict=True)])
    return list(zip(*of_variables, strict=True))


def aggregate_gradients_using_hierarchical_copy(
    avail_devices: Sequence[str], replica_grads: Gradients
) -> list[tuple[Any, ...]]:
    """For each replica its pairs, with the sums of all replicas, made in two halves of the devices.

    The first device of a half sums what the half has and, in the end, hands out the sum. ValueError for one device.
    """
    half = len(avail_devices) // 2
    halves = [range(half), range(half, len(avail_devices))]
    mains = [avail_devices[0], avail_devices[half]]
    of_variables = []
    for pairs in zip(*replica_grads, strict=True):
        sums = []
        for main, numbers in zip(mains, halves, strict=True):
            with device(main):
                sums.append(_sum([pairs[number][0] for number in numbers]))
        with device(mains[0]):
            total = add_n(sums)
        copies = []
        for main in mains:
            with device(main):
                copies.append(identity(total))
        made = []
        for copy, numbers in zip(copies, halves, strict=True):
            for number in numbers:
                with device(avail_devices[number]):
                    made.append((identity(copy), pairs[number][1]))
        of_variables.append(made)
    return list(zip(*of_variables, strict=True))


def aggregate_single_gradient_using_copy(
    grad_and_vars: Sequence[Pair], use_mean: bool, check_inf_nan: bool
) -> tuple[tuple[Any, Any], Any]:
    """The sum, or mean, of one variable's gradients with the first variable; and whether it is not finite, or None."""
    gradients = [gradient for gradient, _ in grad_and_vars]
    total = _sum(gradients)
    if use_mean and len(gradients) > 1:
        total = total * (1.0 / len(gradients))
    broken = logical_not(reduce_all(is_finite(gradients))) if check_inf_nan else None
    return (total, grad_and_vars[0][1]), broken


def _sum(gradients: Sequence[Any]) -> Any:
    return gradients[0] if len(gradients) == 1 else add_n(gradients)


def sum_gradients_all_reduce(
    dev_prefixes: Sequence[str],
    replica_grads: Gradients,
    num_workers: int,
    alg: str,
    num_shards: int,
    gpu_indices: Sequence[int],
) -> list[list[list[Any]]]:
    """For each replica its pairs, with the sums of all replicas, by the algorithm `alg` of `all_reduce`.

    dev_prefixes: the tasks of the devices that `pscpu` and `psgpu` gather on, of which each variable has `num_shards`.
    ValueError for an algorithm that is none, and for more shards than such devices.
    """
    if "pscpu" in alg:
        helpers = [f"{prefix}/cpu:0" for prefix in dev_prefixes]
    elif "psgpu" in alg:
        helpers = [f"{prefix}/gpu:{number}" for number in gpu_indices for prefix in dev_prefixes]
    else:
        helpers = ["/job:localhost/cpu:0"]
    groups = group_device_names(helpers, num_shards if "pscpu" in alg or "psgpu" in alg else 1)
    of_variables = []
    for number, pairs in enumerate(zip(*replica_grads, strict=True)):
        with name_scope("allreduce"):
            group = groups[number % len(groups)]
            of_variables.append(sum_grad_and_var_all_reduce(pairs, num_workers, alg, gpu_indices, group, num_shards))
    return [list(of_replica) for of_replica in zip(*of_variables, strict=True)]


def sum_grad_and_var_all_reduce(
    grad_and_vars: Sequence[Pair],
    num_workers: int,
    alg: str,
    gpu_indices: Sequence[int],
    aux_devices: Sequence[str] | None = None,
    num_shards: int = 1,
) -> list[list[Any]]:
    """One variable's gradient of each replica, in pairs: the sum on the device of each. See `sum_gradients_all_reduce`."""
    gradients = [gradient for gradient, _ in grad_and_vars]
    helpers = aux_devices or []
    kinds: dict[str, Callable[[], list[Tensor]]] = {
        "nccl": lambda: all_reduce.build_nccl_all_reduce(gradients, add),
        "xring": lambda: all_reduce.build_ring_all_reduce(gradients, num_workers, num_shards, gpu_indices, add),
        "nccl/xring": lambda: all_reduce.build_nccl_then_ring(gradients, num_shards, add),
        "nccl/rechd": lambda: all_reduce.build_nccl_then_recursive_hd(gradients, add),
        "nccl/pscpu": lambda: all_reduce.build_nccl_then_shuffle(gradients, helpers, add, add_n),
        "pscpu/pscpu": lambda: all_reduce.build_shuffle_then_shuffle(gradients, helpers, helpers, add_n),
        "pscpu": lambda: all_reduce.build_shuffle_all_reduce(gradients, helpers, add_n),
        "psgpu": lambda: all_reduce.build_shuffle_all_reduce(gradients, helpers, add_n),
    }
    if alg not in kinds:
        raise ValueError("unsupported all_reduce alg: ", alg)
    return [[total, variable] for total, (_, variable) in zip(kinds[alg](), grad_and_vars, strict=True)]


def group_device_names(devices: Sequence[str], group_size: int) -> list[list[str]]:
    """Groups of that size which together have all devices, some twice if need be. ValueError for fewer devices."""
    count = len(devices)
    if group_size > count:
        raise ValueError(f"only {count} devices, but group_size={group_size}")
    groups = -(-count // group_size)
    return [[devices[at % count] for at in range(first, groups * group_size, groups)] for first in range(groups)]


# --- small gradients as one ----------------------------------------------------------------------------------------------


class GradPackTuple(NamedTuple):
    """What was packed: the places among the replica's pairs, the variables, and the shapes of the gradients."""

    indices: Any
    vars: Any
    shapes: Any


def extract_ranges(index_list: Iterable[int], range_size_limit: int = 32) -> tuple[list[list[int]], list[int]]:
    """Rising numbers as stretches [first, last] without a gap, at most the limit and two long, and what stands alone."""
    stretches: list[list[int]] = []
    for index in index_list:
        first, last = stretches[-1] if stretches else (0, -2)
        if index == last + 1 and last - first <= range_size_limit:
            stretches[-1][1] = index
        else:
            stretches.append([index, index])
    return [one for one in stretches if one[0] < one[1]], [one[0] for one in stretches if one[0] == one[1]]


def pack_range(key: str, packing: dict[str, GradPackTuple], grad_vars: Sequence[Pair], rng: Sequence[int]) -> Tensor:
    """The gradients of a stretch as one vector; `packing` gets under `key` how to undo it."""
    chosen = grad_vars[rng[0] : rng[1] + 1]
    packing[key] = GradPackTuple(
        range(rng[0], rng[1] + 1), [variable for _, variable in chosen], [gradient.shape for gradient, _ in chosen]
    )
    with name_scope("pack"):
        vectors = []
        for gradient, _ in chosen:
            with colocate_with(gradient):
                vectors.append(reshape(gradient, [-1]))
        with colocate_with(vectors[0]):
            return concat(vectors, 0)


def unpack_grad_tuple(gv: Pair, gpt: GradPackTuple) -> list[tuple[Tensor, Any]]:
    """The pairs that `pack_range` made a vector of, from the pair that has it."""
    with name_scope("unpack"), colocate_with(gv[0]):
        parts = split(gv[0], [shape.num_elements() for shape in gpt.shapes])
        shaped = zip(parts, gpt.vars, gpt.shapes, strict=True)
        return [(reshape(part, shape), variable) for part, variable, shape in shaped]


def pack_small_tensors(
    replica_grads: Gradients, max_bytes: int = 0, max_group: int = 0
) -> tuple[Gradients, dict[str, GradPackTuple] | None]:
    """For each replica its pairs with neighbours of at most `max_bytes` as one, before the others; and how to undo it.

    Only float32 is packed, at most `max_group` + 2 together. Without such neighbours: the same pairs, and None.
    """
    small = [
        number
        for number, (gradient, _) in enumerate(replica_grads[0])
        if gradient.dtype == dtypes.float32 and 4 * gradient.shape.num_elements() <= max_bytes
    ]
    stretches, _ = extract_ranges(small, max_group)
    if not stretches:
        return replica_grads, None
    packed = {number for first, last in stretches for number in range(first, last + 1)}
    packing: dict[str, GradPackTuple] = {}
    results: list[list[Pair]] = []
    for replica, pairs in enumerate(replica_grads):
        vectors: list[Pair] = [
            (pack_range(f"{replica}:{number}", packing, pairs, stretch), "packing_var_placeholder")
            for number, stretch in enumerate(stretches)
        ]
        results.append(vectors + [pair for number, pair in enumerate(pairs) if number not in packed])
    return results, packing


def unpack_small_tensors(replica_grads: Gradients, packing: dict[str, GradPackTuple] | None) -> Gradients:
    """The pairs as they were before `pack_small_tensors`."""
    if not packing:
        return replica_grads
    results = []
    vectors = sum(key.startswith("0:") for key in packing)
    for replica, pairs in enumerate(replica_grads):
        restored = list(pairs[vectors:])
        for number in range(vectors):
            how = packing[f"{replica}:{number}"]
            first = how.indices[0]
            restored[first:first] = unpack_grad_tuple(pairs[number], how)
        results.append(restored)
    return results


def split_grads_by_size(threshold_size: int, device_grads: Gradients) -> tuple[list[list[Pair]], list[list[Pair]]]:
    """For each replica the pairs of gradients with at most so many elements, and the others; [] for none."""
    both: tuple[list[list[Pair]], list[list[Pair]]] = ([], [])
    for pairs in device_grads:
        for wanted, into in zip((True, False), both, strict=True):
            own: list[Pair] = [list(pair) for pair in pairs if (pair[0].shape.num_elements() <= threshold_size) is wanted]
            if own:
                into.append(own)
    return both


# --- dense and sparse ----------------------------------------------------------------------------------------------------


def is_indexed_slices(value: Any) -> bool:
    """Whether it is IndexedSlices, or has them for every replica. AssertionError for what is neither they nor has parts."""
    if isinstance(value, IndexedSlices):
        return True
    copies = copies_of(value)
    if copies is None:
        raise AssertionError(f"a value for each replica, or IndexedSlices. Given: {value!r}")
    return all(isinstance(copy, IndexedSlices) for copy in copies)


def split_by_sparsity(values: Sequence[Any]) -> tuple[list[Any], list[int], list[Any], list[int]]:
    """The values that are not IndexedSlices and their places, then those that are; see `is_indexed_slices`."""
    places: dict[bool, list[int]] = {False: [], True: []}
    for number, value in enumerate(values):
        places[is_indexed_slices(value)].append(number)
    dense, sparse = places[False], places[True]
    return [values[one] for one in dense], dense, [values[one] for one in sparse], sparse


def stitch_values(values_and_indices_list: Sequence[tuple[Sequence[Any], Sequence[int]]]) -> list[Any]:
    """The values at their places. AssertionError for a place that is taken twice, IndexError for one beyond the end."""
    result: list[Any] = [None] * sum(len(values) for values, _ in values_and_indices_list)
    taken = set()
    for values, places in values_and_indices_list:
        for value, place in zip(values, places, strict=True):
            if place in taken:
                raise AssertionError(f"two values for place {place}")
            result[place] = value
            taken.add(place)
    return result
