"""`tf.contrib.optimizer_v2`: optimizers that became those of `tf.train`, and an RMSProp with another start."""

from tfexp.contributed.opt.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from tfexp.core.gone import missing_from
from tfexp.train.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from tfexp.train.adagrad import AdagradOptimizer as AdagradOptimizer
from tfexp.train.adam import AdamOptimizer as AdamOptimizer
from tfexp.train.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from tfexp.train.momentum import MomentumOptimizer as MomentumOptimizer
from tfexp.train.optimizer import Optimizer as OptimizerV2

__getattr__ = missing_from("tf.contrib.optimizer_v2")
