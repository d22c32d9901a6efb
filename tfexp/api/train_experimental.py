"""`tf.train.experimental`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.train.loss_scale import DynamicLossScale as DynamicLossScale
from tfexp.train.loss_scale import FixedLossScale as FixedLossScale
from tfexp.train.loss_scale import LossScale as LossScale
from tfexp.train.loss_scale import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer

__getattr__ = missing_from("tf.train.experimental")
