"""`tf.contrib.distribute`: the strategies under the names that they had before 1.14, and `DistributeConfig`."""

from typing import Any, NamedTuple

from tfexp.core.gone import missing_from
from tfexp.distribute.collective import CollectiveCommunication, MultiWorkerMirroredStrategy
from tfexp.distribute.contexts import get_replica_context as get_replica_context
from tfexp.distribute.contexts import get_strategy as get_distribution_strategy
from tfexp.distribute.contexts import get_strategy as get_strategy
from tfexp.distribute.contexts import has_strategy as has_distribution_strategy
from tfexp.distribute.contexts import has_strategy as has_strategy
from tfexp.distribute.contexts import in_cross_replica_context as in_cross_replica_context
from tfexp.distribute.coordinator import run_standard_tensorflow_server as run_standard_tensorflow_server
from tfexp.distribute.cross_device import CrossDeviceOps as CrossDeviceOps
from tfexp.distribute.cross_device import ReductionToOneDevice as ReductionToOneDeviceCrossDeviceOps
from tfexp.distribute.default_strategy import OneDeviceStrategy as OneDeviceStrategy
from tfexp.distribute.input import InputContext as InputContext
from tfexp.distribute.input import InputReplicationMode as InputReplicationMode
from tfexp.distribute.mirrored import MirroredStrategy as MirroredStrategy
from tfexp.distribute.parameter_server import ParameterServerStrategy as ParameterServerStrategy
from tfexp.distribute.strategy import Strategy as DistributionStrategy
from tfexp.distribute.tpu import TPUStrategy as TPUStrategy


class CollectiveAllReduceStrategy(MultiWorkerMirroredStrategy):
    """`MultiWorkerMirroredStrategy`. A worker computes on its CPU, whatever `num_gpus_per_worker` says."""

    def __init__(self, num_gpus_per_worker: int = 0, communication: CollectiveCommunication = CollectiveCommunication.AUTO):
        super().__init__(communication)


class DistributeConfig(NamedTuple):
    """The strategies under which an Estimator trains and evaluates: `RunConfig(experimental_distribute=…)`."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


__getattr__ = missing_from("tf.contrib.distribute")
