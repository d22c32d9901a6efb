"""`tf.estimator.tpu`: Estimators that are given batch sizes. They run on the CPU, as with `use_tpu=False`."""

from tfexp.core.gone import missing_from
from tfexp.estimator.tpu.config import InputPipelineConfig as InputPipelineConfig
from tfexp.estimator.tpu.config import RunConfig as RunConfig
from tfexp.estimator.tpu.config import TPUConfig as TPUConfig
from tfexp.estimator.tpu.estimator import TPUEstimator as TPUEstimator
from tfexp.estimator.tpu.spec import TPUEstimatorSpec as TPUEstimatorSpec

__getattr__ = missing_from("tf.estimator.tpu")
