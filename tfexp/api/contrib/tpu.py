"""`tf.contrib.tpu`: re-exports of what does not need TPUs."""

from tfexp.api.tpu import CrossShardOptimizer as CrossShardOptimizer
from tfexp.api.tpu import batch_parallel as batch_parallel
from tfexp.api.tpu import bfloat16_scope as bfloat16_scope
from tfexp.api.tpu import core as core
from tfexp.api.tpu import cross_replica_sum as cross_replica_sum
from tfexp.api.tpu import initialize_system as initialize_system
from tfexp.api.tpu import outside_compilation as outside_compilation
from tfexp.api.tpu import replicate as replicate
from tfexp.api.tpu import rewrite as rewrite
from tfexp.api.tpu import shard as shard
from tfexp.api.tpu import shutdown_system as shutdown_system
from tfexp.core.gone import missing_from
from tfexp.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from tfexp.estimator.tpu import RunConfig as RunConfig
from tfexp.estimator.tpu import TPUConfig as TPUConfig
from tfexp.estimator.tpu import TPUEstimator as TPUEstimator
from tfexp.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec

__getattr__ = missing_from("tf.contrib.tpu")
