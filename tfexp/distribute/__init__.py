"""`tf.distribute`: strategies that spread a program's replicas and variables over devices and tasks. Loaded when asked for.

A strategy (`mirrored`, `parameter_server`, `default_strategy`, …) is what programs hold, its `extended` how it does things.
Replicas are built one after the other in `lockstep`; what has a part for each of them is in `values` and `variables`.
Which replica a program builds for is a mode of the graph (`graph.replica_modes`): optimizers, losses, metrics and savers,
which know nothing of strategies, ask there. It lies above `tf.train`, whose global step and device setter it uses.
"""

from tfexp.core.gone import missing_from
from tfexp.distribute import cluster_resolver as cluster_resolver
from tfexp.distribute import experimental as experimental
from tfexp.distribute.contexts import ReplicaContext as ReplicaContext
from tfexp.distribute.contexts import experimental_set_strategy as experimental_set_strategy
from tfexp.distribute.contexts import get_replica_context as get_replica_context
from tfexp.distribute.contexts import get_strategy as get_strategy
from tfexp.distribute.contexts import has_strategy as has_strategy
from tfexp.distribute.contexts import in_cross_replica_context as in_cross_replica_context
from tfexp.distribute.cross_device import CrossDeviceOps as CrossDeviceOps
from tfexp.distribute.cross_device import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from tfexp.distribute.cross_device import NcclAllReduce as NcclAllReduce
from tfexp.distribute.cross_device import ReductionToOneDevice as ReductionToOneDevice
from tfexp.distribute.default_strategy import OneDeviceStrategy as OneDeviceStrategy
from tfexp.distribute.extended import StrategyExtended as StrategyExtended
from tfexp.distribute.input import InputContext as InputContext
from tfexp.distribute.input import InputReplicationMode as InputReplicationMode
from tfexp.distribute.mirrored import MirroredStrategy as MirroredStrategy
from tfexp.distribute.reductions import ReduceOp as ReduceOp
from tfexp.distribute.reductions import get_loss_reduction as get_loss_reduction
from tfexp.distribute.strategy import Strategy as Strategy
from tfexp.distributed.server import Server as Server

__getattr__ = missing_from("tf.distribute")
