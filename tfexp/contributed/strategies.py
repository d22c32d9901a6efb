"""Strategies with the arguments that they had before 1.14. Source: `tf.contrib.distribute`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.distribute import mirrored, parameter_server
from tfexp.distribute.collective import CollectiveCommunication, MultiWorkerMirroredStrategy
from tfexp.distribute.cross_device import CrossDeviceOps


class MirroredStrategy(mirrored.MirroredStrategy):
    """`tf.distribute.MirroredStrategy`, of `devices` or of the first `num_gpus` GPUs (`num_gpus_per_worker`: the same).

    cross_tower_ops: the older name of `cross_device_ops`, AssertionError for both. auto_shard_dataset: of several workers,
    which this strategy does not have. ValueError for devices with a number of GPUs, and for two such numbers.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: CrossDeviceOps | None = None,
    ):
        if cross_device_ops and cross_tower_ops:
            raise AssertionError("cross_tower_ops is the older name of cross_device_ops: give one of them")
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        count = num_gpus_per_worker if num_gpus is None else num_gpus
        if devices is not None and count is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
        if count:
            devices = [f"/gpu:{number}" for number in range(count)]
        super().__init__(devices, cross_device_ops or cross_tower_ops)

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator that gives each replica a batch of `dataset`, in turn. Run its `initialize()` first."""
        return self.make_input_fn_iterator(lambda _: dataset)


class CollectiveAllReduceStrategy(MultiWorkerMirroredStrategy):
    """`MultiWorkerMirroredStrategy`. A worker computes on its CPU, whatever `num_gpus_per_worker` says."""

    def __init__(self, num_gpus_per_worker: int = 0, communication: CollectiveCommunication = CollectiveCommunication.AUTO):
        super().__init__(communication)


class ParameterServerStrategy(parameter_server.ParameterServerStrategy):
    """`tf.distribute.experimental.ParameterServerStrategy` of the cluster in `TF_CONFIG`, on CPUs."""

    def __init__(self, num_gpus_per_worker: int = 0):
        super().__init__()
