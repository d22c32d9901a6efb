"""`tf.estimator.tpu.RunConfig`: an Estimator's settings with those for TPUs, which a run on the CPU only carries along.

Source: TF 1.15.
"""

from __future__ import annotations

import enum
import math
import re
from typing import Any, NamedTuple

from tfexp.distribute.cluster_resolver import ClusterResolver
from tfexp.estimator import run_config

_SECONDS = {"s": 1, "m": 60, "h": 3600}
_CORES_PER_REPLICA = (1, 2, 4, 8, 16, 32, 64, 128)


class InputPipelineConfig:
    """Where the input function of a TPU's hosts is called. Source: `tf.estimator.tpu.InputPipelineConfig`."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _Fields(NamedTuple):
    iterations_per_loop: int | str
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: int
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Any
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


class TPUConfig(_Fields):
    """How a TPU would be used. ValueError for what no TPU could do. Source: `tf.estimator.tpu.TPUConfig`.

    `iterations_per_loop`: steps between two looks at the program; or a time, `30s`, `10m` or `1h`.
    `per_host_input_for_training`: an InputPipelineConfig, or True for PER_HOST_V1 and False for PER_SHARD_V1.
    """

    __slots__ = ()

    def __new__(  # the fields are checked before there is an instance
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: bool | int = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        _loop(iterations_per_loop)
        for name, number in (
            ("num_shards", num_shards),
            ("initial_infeed_sleep_secs", initial_infeed_sleep_secs or None),
        ):
            if number is not None and number <= 0:
                raise ValueError(f"TPUConfig {name} must be positive, got {number}")
        if num_cores_per_replica not in (None, *_CORES_PER_REPLICA):
            allowed = ", ".join(map(str, _CORES_PER_REPLICA))
            raise ValueError(f"num_cores_per_replica must be {allowed}; got {num_cores_per_replica}")
        if per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        elif per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        if input_partition_dims is not None:
            if len(input_partition_dims) not in (1, 2):
                raise ValueError("input_partition_dims must be a list with one or two elements.")
            if per_host_input_for_training != InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


def logged_every(steps: int | None, iterations_per_loop: int | str) -> dict[str, Any] | None:
    """The arguments of a StepCounterHook: `steps` are counted in loops, and a loop of some time is logged when it ends.

    None where nothing is to be logged.
    """
    length, unit = _loop(iterations_per_loop)
    if unit:
        return {"every_n_steps": None, "every_n_secs": length * _SECONDS[unit]}
    return None if steps is None else {"every_n_steps": math.ceil(steps / length)}


def _loop(iterations_per_loop: int | str) -> tuple[int, str]:
    """How many steps, or how many of which unit of time."""
    found = re.fullmatch(r"([1-9]\d*)([smh]?)", str(iterations_per_loop))
    if found is None:
        raise ValueError(
            f"TPUConfig iterations_per_loop must be positive, or a time as in 3600s, 60m and 1h; got {iterations_per_loop}"
        )
    return int(found[1]), found[2]


class ExportSavedModelApiVersion(enum.Enum):
    """How a SavedModel for TPUs is made; there is none for the CPU to choose."""

    V1 = 1
    V2 = 2


class RunConfig(run_config.RunConfig):
    """`tf.estimator.RunConfig` with a `tpu_config`, and the targets of sessions in place of those of TF_CONFIG.

    `evaluation_master` is `master` where it is not given. `cluster`: a cluster resolver that gives the master; ValueError
    for both. `kwargs` are those of `tf.estimator.RunConfig`. Source: `tf.estimator.tpu.RunConfig`.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: ClusterResolver | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if cluster is not None:
            if master is not None:
                raise ValueError("You cannot specify both a TPUClusterResolver and a master.")
            master = cluster.master()
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        self._master = super().master if master is None else master
        if evaluation_master is None:
            evaluation_master = super().evaluation_master if master is None else master
        self._evaluation_master = evaluation_master

    @property
    def tpu_config(self) -> TPUConfig:
        return self._tpu_config

    @property
    def cluster(self) -> ClusterResolver | None:
        """The cluster resolver that was given."""
        return self._cluster

    @property
    def master(self) -> str:
        return self._master

    @property
    def evaluation_master(self) -> str:
        return self._evaluation_master

    def replace(self, **kwargs: Any) -> RunConfig:
        """As that of `tf.estimator.RunConfig`; `tpu_config` can be replaced, too."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        made = super().replace(**kwargs)
        assert isinstance(made, RunConfig)
        made._tpu_config = tpu_config
        return made
