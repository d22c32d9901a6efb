"""`tf.contrib.distribute`: the strategies under the names that they had before 1.14, and `DistributeConfig`."""

from typing import Any, NamedTuple

from tfexp.contributed.strategies import CollectiveAllReduceStrategy as CollectiveAllReduceStrategy
from tfexp.contributed.strategies import MirroredStrategy as MirroredStrategy
from tfexp.contributed.strategies import ParameterServerStrategy as ParameterServerStrategy
from tfexp.core.gone import missing_from
from tfexp.distribute.contexts import ReplicaContext as ReplicaContext
from tfexp.distribute.contexts import get_cross_replica_context as get_cross_replica_context
from tfexp.distribute.contexts import get_replica_context as get_replica_context
from tfexp.distribute.contexts import get_strategy as get_distribution_strategy
from tfexp.distribute.contexts import get_strategy as get_strategy
from tfexp.distribute.contexts import has_strategy as has_distribution_strategy
from tfexp.distribute.contexts import has_strategy as has_strategy
from tfexp.distribute.contexts import in_cross_replica_context as in_cross_replica_context
from tfexp.distribute.contexts import require_replica as require_replica_context
from tfexp.distribute.coordinator import run_standard_tensorflow_server as run_standard_tensorflow_server
from tfexp.distribute.cross_device import AllReduceCrossDeviceOps as AllReduceCrossDeviceOps
from tfexp.distribute.cross_device import CrossDeviceOps as CrossDeviceOps
from tfexp.distribute.cross_device import MultiWorkerAllReduce as MultiWorkerAllReduce
from tfexp.distribute.cross_device import ReductionToOneDevice as ReductionToOneDeviceCrossDeviceOps
from tfexp.distribute.default_strategy import OneDeviceStrategy as OneDeviceStrategy
from tfexp.distribute.input import InputContext as InputContext
from tfexp.distribute.input import InputReplicationMode as InputReplicationMode
from tfexp.distribute.reductions import get_loss_reduction as get_loss_reduction
from tfexp.distribute.strategy import Strategy as DistributionStrategy
from tfexp.distribute.tpu import TPUStrategy as TPUStrategy


class DistributeConfig(NamedTuple):
    """The strategies under which an Estimator trains and evaluates: `RunConfig(experimental_distribute=…)`."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


__getattr__ = missing_from("tf.contrib.distribute")
