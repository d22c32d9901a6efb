"""`tf.tpu`: re-exports, and the names of a TPU's cores. What would run on a TPU is not there."""

from tfexp.contributed.bfloat16_scope import bfloat16_scope as bfloat16_scope
from tfexp.contributed.opt.cross_shard import CrossShardOptimizer as CrossShardOptimizer
from tfexp.core.gone import missing_from
from tfexp.ops.cross_replica import cross_replica_sum as cross_replica_sum

__getattr__ = missing_from("tf.tpu")


def core(num: int) -> str:
    """The device name of a TPU's core of this number. Source: `tf.tpu.core`, TF 1.15."""
    return f"device:TPU_REPLICATED_CORE:{num}"
