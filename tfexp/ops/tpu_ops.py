"""The ops of graphs for TPUs, for which there are no kernels here. Source: `tensorflow.python.tpu`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, scalar
from tfexp.ops.shape_rules import all_merged

replicate_metadata_op = define_op(
    "TPUReplicateMetadata() -> () {num_replicas: int >= 0; num_cores_per_replica: int = 1; topology: string = ''; "
    "use_tpu: bool = true; device_assignment: list(int) = []; computation_shape: list(int) = []; "
    "host_compute_core: list(string) = []; padding_map: list(string) = []; "
    "step_marker_location: string = 'STEP_MARK_AT_ENTRY'; allow_soft_placement: bool = false}"
)

replicated_input_op = define_op("TPUReplicatedInput(inputs: N * T) -> (output: T) {N: int >= 1; T: type}")


@replicated_input_op.shape
def _(inputs: Sequence[InputShape]) -> TensorShape:
    return all_merged(inputs)


replicated_output_op = define_op(
    "TPUReplicatedOutput(input: T) -> (outputs: num_replicas * T) {num_replicas: int >= 1; T: type}"
)


@replicated_output_op.shape
def _(input: InputShape, *, num_replicas: int) -> list[TensorShape]:
    return [TensorShape(input.dims)] * num_replicas


compilation_result_op = define_op("TPUCompilationResult() -> (output: string)")
compilation_result_op.shape(scalar)

configure_op = define_op(
    "ConfigureDistributedTPU() -> (topology: string) {embedding_config: string = ''; tpu_embedding_config: string = ''; "
    "is_global_init: bool = false} #stateful"
)
shutdown_op = define_op("ShutdownDistributedTPU() -> () #stateful")
