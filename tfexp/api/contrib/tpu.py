"""`tf.contrib.tpu`: re-exports of what does not need TPUs."""

from tfexp.api.tpu import CrossShardOptimizer as CrossShardOptimizer
from tfexp.api.tpu import bfloat16_scope as bfloat16_scope
from tfexp.api.tpu import core as core
from tfexp.api.tpu import cross_replica_sum as cross_replica_sum
from tfexp.core.gone import missing_from
from tfexp.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from tfexp.estimator.tpu import RunConfig as RunConfig
from tfexp.estimator.tpu import TPUConfig as TPUConfig
from tfexp.estimator.tpu import TPUEstimator as TPUEstimator
from tfexp.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec

__getattr__ = missing_from("tf.contrib.tpu")
