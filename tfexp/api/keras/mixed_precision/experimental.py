"""`tf.keras.mixed_precision.experimental`: computation in halves with variables in single precision."""

from tfexp.core.gone import missing_from
from tfexp.keras.mixed_precision.policy import Policy as Policy
from tfexp.keras.mixed_precision.policy import global_policy as global_policy
from tfexp.keras.mixed_precision.policy import set_policy as set_policy
from tfexp.keras.optimizers.loss_scaled import LossScaleOptimizer as LossScaleOptimizer

__getattr__ = missing_from("tf.keras.mixed_precision.experimental")
