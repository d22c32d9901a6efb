"""Computations for TPUs: `tf.tpu.replicate`, `shard` and their kin build TensorFlow's graphs, which run on TPUs only.

A computation is built once. Its inputs come from TPUReplicatedInput, which has one tensor of each replica;
TPUReplicatedOutput hands its outputs back to each. Source: `tensorflow.python.tpu.tpu`, TF 1.15.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.log import get_logger
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, device, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_split import split
from tfexp.ops.compiled_context import CompiledContext, converted, is_flat, tensors_and_operations
from tfexp.ops.cross_replica import tpu_shard_context
from tfexp.ops.tpu_ops import compilation_result_op, replicate_metadata_op, replicated_input_op, replicated_output_op
from tfexp.ops.variable_scope import get_variable_scope

_log = get_logger()

# What TPUs refuse, and what they leave out.
_REFUSED = frozenset({"Placeholder"})
_LEFT_OUT = frozenset(
    (
        *("AudioSummary", "AudioSummaryV2", "HistogramSummary", "ImageSummary", "MergeSummary", "ScalarSummary"),
        *("Print", "TensorSummary", "TensorSummaryV2"),
    )
)


def core(num: int) -> str:
    """The device name of a TPU's core of this number. Source: `tf.tpu.core`, TF 1.15."""
    return f"device:TPU_REPLICATED_CORE:{num}"


class _Replicated(CompiledContext):
    """A computation that every replica has."""

    mark = "_tpu_replicate"
    kind = "TPU computations"

    def __init__(self, name: str, pivot: Operation):
        super().__init__(name, pivot)
        self._part_on_host: str | None = None
        self._parts_on_host = 0
        self._left_out: list[Operation] = []

    def add_op(self, op: Operation) -> None:
        if self._part_on_host is not None:
            op._set_attr("_xla_outside_compilation", self._part_on_host)
        elif op.type in _REFUSED:
            _log.error("%s (%s) is not supported on the TPU: the graph will not run.", op.type, op.name)
        elif op.type in _LEFT_OUT:
            self._left_out.append(op)
        if any(tensor.dtype._is_ref_dtype for tensor in op._inputs):
            raise NotImplementedError(
                f"Non-resource Variables are not supported inside TPU computations (operator name: {op.name})"
            )
        super().add_op(op)

    @contextlib.contextmanager
    def on_host(self) -> Iterator[None]:
        """New nodes run on the host. NotImplementedError if they do already."""
        if self._part_on_host is not None:
            raise NotImplementedError("Cannot nest outside_compilation clusters")
        self._part_on_host = str(self._parts_on_host)
        self._parts_on_host += 1
        try:
            yield
        finally:
            self._part_on_host = None

    def warn_of_what_is_left_out(self) -> None:
        if self._left_out:
            named = ", ".join(f"{op.type} ({op.name})" for op in self._left_out)
            _log.warning("%d unsupported operations found: %s", len(self._left_out), named)


def replicate(
    computation: Callable[..., Any],
    inputs: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
    maximum_shapes: Any = None,
) -> list[Any]:
    """What `computation(*inputs[i])` gives for each replica, as a list; it is called once. Source: `tf.tpu.replicate`.

    `inputs`: a list for each replica, all of one structure. Variables that the computation makes are resource variables,
    without partitions. Where it returns tensors and then Operations, alone or in a list, each replica has a list of
    tensors, or an Operation where there is none; other structures have tensors only. `name` has no effect.

    TypeError for inputs that are no lists, or that the computation does not take; ValueError for replicas whose inputs
    differ. `infeed_queue` and `maximum_shapes`, which only TPUs can use, raise NotImplementedError.
    """
    del name
    for argument, value in (("infeed_queue", infeed_queue), ("maximum_shapes", maximum_shapes)):
        if value is not None:
            raise NotImplementedError(f"tf.tpu: there are no TPUs here that could use {argument}")
    inputs = [[]] if inputs is None else inputs
    entering = _entering(computation, inputs)
    cluster = get_default_graph().unique_name("cluster")
    context = _Replicated(cluster, no_op(name=f"{cluster}/pivot"))
    with context.entered():
        metadata = replicate_metadata_op(num_replicas=len(inputs), **_assigned(device_assignment))
        with control_dependencies([metadata]):
            given = [identity(tensor, name=f"replicated_input_{number}") for number, tensor in enumerate(entering)]
            for tensor in given:
                tensor.op._set_attr("_tpu_input_identity", True)
            with tpu_shard_context(len(inputs)), _variables_for_tpus():
                made = computation(*nest.pack_sequence_as(inputs[0], given))
        outputs, operations = _results(made)
    context.warn_of_what_is_left_out()
    with control_dependencies([metadata]):
        compilation_result_op().op._set_attr("_tpu_compilation_status", cluster)
    leaving = [_leaving(number, output, operations, len(inputs)) for number, output in enumerate(outputs)]
    if not leaving:
        with control_dependencies(operations):
            return [no_op(name=f"shard_{replica}") for replica in range(len(inputs))]
    of_each = [list(tensors) for tensors in zip(*leaving, strict=True)]
    return of_each if is_flat(made) else [nest.pack_sequence_as(made, tensors) for tensors in of_each]


def _entering(computation: Callable[..., Any], inputs: Any) -> list[Tensor]:
    """Where each input of the computation comes from, once the inputs are found to be what it takes."""
    if not isinstance(inputs, (list, tuple)) or not all(isinstance(one, (list, tuple)) for one in inputs):
        raise TypeError(f"tpu.replicate() inputs must be a list of lists/tuples. Got {inputs!r}")
    if not inputs:
        raise ValueError("tpu.replicate() inputs must have a list for each replica, of which there is one at least.")
    for other in inputs[1:]:
        nest.assert_same_structure(inputs[0], other)
    flat = [[convert_to_tensor(value) for value in nest.flatten(one)] for one in inputs]
    types = [[tensor.dtype for tensor in one] for one in flat]
    for replica, found in enumerate(types):
        if found != types[0]:
            raise ValueError(
                f"Replicas must have matching input types. Replica 0 had input types {types[0]}, replica {replica} had "
                f"input types {found}"
            )
    _check_arguments(computation, inputs[0])
    return [
        replicated_input_op(list(of_all), name=f"input{number}") for number, of_all in enumerate(zip(*flat, strict=True))
    ]


def _check_arguments(computation: Callable[..., Any], given: Sequence[Any]) -> None:
    """TypeError unless the computation can be called with that many arguments."""
    kinds = inspect.Parameter
    parameters = inspect.signature(computation).parameters.values()
    named = [one for one in parameters if one.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    least = sum(one.default is kinds.empty for one in named)
    has_any_number = any(one.kind == kinds.VAR_POSITIONAL for one in parameters)
    if least <= len(given) and (has_any_number or len(given) <= len(named)):
        return
    count = least if len(given) < least else len(named)
    bound = "exactly" if least == len(named) and not has_any_number else "at least" if len(given) < least else "at most"
    raise TypeError(
        "Supplied computation cannot be called with the specified inputs. You specified "
        f"{len(given)} inputs: {[getattr(one, 'name', one) for one in given]}, but the computation needs {bound} {count} "
        f"argument{'' if count == 1 else 's'}"
    )


def _assigned(device_assignment: Any) -> dict[str, Any]:
    """A `DeviceAssignment` as the metadata's attributes."""
    if device_assignment is None:
        return {}
    return {
        "topology": device_assignment.topology.serialized(),
        "device_assignment": device_assignment.core_assignment.flatten().tolist(),
        "num_cores_per_replica": device_assignment.num_cores_per_replica,
    }


@contextlib.contextmanager
def _variables_for_tpus() -> Iterator[None]:
    """Variables are resource variables in one part."""
    scope = get_variable_scope()
    saved = scope.use_resource, scope.custom_getter

    def in_one_part(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("partitioner") is not None:
            _log.warning("Partitioned variables are not supported on TPU: %s is made in one part.", name)
            kwargs["partitioner"] = None
        return getter(name, *args, **kwargs) if saved[1] is None else saved[1](getter, name, *args, **kwargs)

    scope.set_use_resource(True)
    scope.set_custom_getter(in_one_part)
    try:
        yield
    finally:
        scope.set_use_resource(saved[0])
        scope.set_custom_getter(saved[1])


def _results(made: Any) -> tuple[list[Tensor], list[Operation]]:
    """(tensors, operations) of what a computation returned, the tensors as outputs of its first core."""
    if is_flat(made):
        in_order = "TPU functions must return zero-or more Tensor values followed by zero or more Operations."
        tensors, operations = tensors_and_operations(made, "TPU function", in_order, _on_first_core)
        return [_output(tensor) for tensor in tensors], operations
    flat = nest.flatten(made)
    outputs = []
    for one in flat:
        if isinstance(one, Operation):
            raise ValueError(
                "tpu.rewrite does not support Operation as return value in non-flat output structure: let a returned tensor "
                f"depend on it. Operation found: {one.name!r}"
            )
        output = _output(converted(one, "TPU function"))
        with device(output.device):
            outputs.append(identity(output))
    return outputs, []


def _on_first_core(value: Any) -> Tensor:
    with device(core(0)):
        return convert_to_tensor(value)


def _output(tensor: Tensor) -> Tensor:
    with device(tensor.device or core(0)):
        output = identity(tensor)
    output.op._set_attr("_tpu_output_identity", True)
    return output


def _leaving(number: int, output: Tensor, operations: list[Operation], replicas: int) -> list[Tensor]:
    """An output of the computation for each replica, once the operations have run."""
    shards = replicated_output_op(output, num_replicas=replicas, name=f"output{number}")
    with control_dependencies(operations):
        return [identity(shard, name=f"output_{number}_shard_{replica}") for replica, shard in enumerate(shards)]


def rewrite(
    computation: Callable[..., Any],
    inputs: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> Any:
    """What `computation(*inputs)` gives on one replica: as `replicate`, without the list. Source: `tf.tpu.rewrite`."""
    of_each = replicate(
        computation, None if inputs is None else [inputs], infeed_queue, device_assignment=device_assignment, name=name
    )
    return of_each[0]


def shard(
    computation: Callable[..., Any],
    inputs: Any = None,
    num_shards: int = 1,
    input_shard_axes: Any = None,
    outputs_from_all_shards: Any = True,
    output_shard_axes: Any = None,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> list[Any]:
    """The computation's outputs, from inputs cut into `num_shards` parts along their axes. Source: `tf.tpu.shard`.

    The axes, a number for each input and output, are 0 by default. Outputs are joined along theirs (scalars are stacked)
    where `outputs_from_all_shards`, which is one bool or one for each, says so; others are those of the first shard.
    ValueError for a number of shards that is not positive, or axes and bools that are not as many as what they are for.
    """
    if num_shards <= 0:
        raise ValueError(f"num_shards must be a positive integer. Got {num_shards}.")
    parts = _parts([] if inputs is None else [convert_to_tensor(value) for value in inputs], num_shards, input_shard_axes)
    of_each = replicate(computation, parts, infeed_queue, device_assignment=device_assignment, name=name)
    if isinstance(of_each[0], Operation):
        return [of_each[0]]
    count = len(of_each[0])
    axes = _for_each(output_shard_axes, 0, count, "output_shard_axes", "outputs")
    if isinstance(outputs_from_all_shards, bool):
        outputs_from_all_shards = [outputs_from_all_shards] * count
    from_all = _for_each(outputs_from_all_shards, True, count, "outputs_from_all_shards", "outputs")
    return [
        _joined(shards, axis) if joined else shards[0]
        for shards, axis, joined in zip(zip(*of_each, strict=True), axes, from_all, strict=True)
    ]


def _parts(inputs: list[Tensor], num_shards: int, axes: Any) -> list[list[Tensor]]:
    """The inputs of each shard."""
    axes = _for_each(axes, 0, len(inputs), "input_shard_axes", "inputs")
    cut = [split(tensor, num_shards, axis=axis) for tensor, axis in zip(inputs, axes, strict=True)]
    return [[parts[number] for parts in cut] for number in range(num_shards)]


def _for_each(given: Any, default: Any, count: int, argument: str, of_what: str) -> Any:
    if given is None:
        return [default] * count
    if len(given) != count:
        raise ValueError(f"Length of {argument} must be equal to the number of {of_what}. Got {len(given)} for {count}.")
    return given


def _joined(shards: Sequence[Tensor], axis: int) -> Tensor:
    joined: Tensor = stack(shards) if shards[0].shape.ndims == 0 else concat(shards, axis)
    return joined


def batch_parallel(
    computation: Callable[..., Any],
    inputs: Any = None,
    num_shards: int = 1,
    infeed_queue: Any = None,
    device_assignment: Any = None,
    name: str | None = None,
) -> list[Any]:
    """`shard` along the first axis of every input and output. Source: `tf.tpu.batch_parallel`."""
    return shard(computation, inputs, num_shards, infeed_queue=infeed_queue, device_assignment=device_assignment, name=name)


def outside_compilation(computation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `computation(*args, **kwargs)` gives, on the host of a TPU; outside of TPU computations, what it gives.

    NotImplementedError within another one. Source: `tf.tpu.outside_compilation`.
    """
    context = get_default_graph()._get_control_flow_context()
    while context is not None and not isinstance(context, _Replicated):
        context = context.outer_context
    with contextlib.nullcontext() if context is None else context.on_host():
        return computation(*args, **kwargs)
