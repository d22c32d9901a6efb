"""`tf.tpu`: re-exports. Computations for TPUs can be built, and run elsewhere."""

from tfexp.contributed.bfloat16_scope import bfloat16_scope as bfloat16_scope
from tfexp.contributed.opt.cross_shard import CrossShardOptimizer as CrossShardOptimizer
from tfexp.core.gone import missing_from
from tfexp.ops.cross_replica import cross_replica_sum as cross_replica_sum
from tfexp.ops.tpu_computations import batch_parallel as batch_parallel
from tfexp.ops.tpu_computations import core as core
from tfexp.ops.tpu_computations import outside_compilation as outside_compilation
from tfexp.ops.tpu_computations import replicate as replicate
from tfexp.ops.tpu_computations import rewrite as rewrite
from tfexp.ops.tpu_computations import shard as shard
from tfexp.ops.tpu_system import initialize_system as initialize_system
from tfexp.ops.tpu_system import shutdown_system as shutdown_system

__getattr__ = missing_from("tf.tpu")
