"""`tf.contrib.mixed_precision`: losses scaled so that half precision keeps small gradients."""

from tfexp.contributed.mixed_precision import ExponentialUpdateLossScaleManager as ExponentialUpdateLossScaleManager
from tfexp.contributed.mixed_precision import FixedLossScaleManager as FixedLossScaleManager
from tfexp.contributed.mixed_precision import LossScaleManager as LossScaleManager
from tfexp.contributed.mixed_precision import LossScaleOptimizer as LossScaleOptimizer
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.mixed_precision")
