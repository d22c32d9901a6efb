"""`tf.contrib.distribute`: the strategies under the names that they had before 1.14, and `DistributeConfig`."""

from typing import Any, NamedTuple

from tfexp.core.gone import missing_from
from tfexp.distribute.collective import MultiWorkerMirroredStrategy as CollectiveAllReduceStrategy
from tfexp.distribute.contexts import get_replica_context as get_replica_context
from tfexp.distribute.contexts import get_strategy as get_distribution_strategy
from tfexp.distribute.contexts import get_strategy as get_strategy
from tfexp.distribute.contexts import has_strategy as has_distribution_strategy
from tfexp.distribute.contexts import has_strategy as has_strategy
from tfexp.distribute.contexts import in_cross_replica_context as in_cross_replica_context
from tfexp.distribute.cross_device import CrossDeviceOps as CrossDeviceOps
from tfexp.distribute.cross_device import ReductionToOneDevice as ReductionToOneDeviceCrossDeviceOps
from tfexp.distribute.default_strategy import OneDeviceStrategy as OneDeviceStrategy
from tfexp.distribute.input import InputContext as InputContext
from tfexp.distribute.input import InputReplicationMode as InputReplicationMode
from tfexp.distribute.mirrored import MirroredStrategy as MirroredStrategy
from tfexp.distribute.parameter_server import ParameterServerStrategy as ParameterServerStrategy
from tfexp.distribute.strategy import Strategy as DistributionStrategy


class DistributeConfig(NamedTuple):
    """The strategies under which an Estimator trains and evaluates: `RunConfig(experimental_distribute=…)`."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


__getattr__ = missing_from("tf.contrib.distribute")
