"""`tf.train.experimental`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.train.loss_scale import DynamicLossScale as DynamicLossScale
from tfexp.train.loss_scale import FixedLossScale as FixedLossScale
from tfexp.train.loss_scale import LossScale as LossScale
from tfexp.train.loss_scale import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from tfexp.train.loss_scale import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from tfexp.train.loss_scale import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
from tfexp.train.python_state import PythonState as PythonState

__getattr__ = missing_from("tf.train.experimental")
