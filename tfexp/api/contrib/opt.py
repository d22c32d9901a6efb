"""`tf.contrib.opt`: re-exports."""

from tfexp.contributed.opt.accumulated import AGNCustomGetter as AGNCustomGetter
from tfexp.contributed.opt.accumulated import AGNOptimizer as AGNOptimizer
from tfexp.contributed.opt.adam import AdaMaxOptimizer as AdaMaxOptimizer
from tfexp.contributed.opt.adam import LazyAdamOptimizer as LazyAdamOptimizer
from tfexp.contributed.opt.adam import NadamOptimizer as NadamOptimizer
from tfexp.contributed.opt.clipping import MultitaskOptimizerWrapper as MultitaskOptimizerWrapper
from tfexp.contributed.opt.clipping import VariableClippingOptimizer as VariableClippingOptimizer
from tfexp.contributed.opt.clipping import clip_gradients_by_global_norm as clip_gradients_by_global_norm
from tfexp.contributed.opt.elastic_average import ElasticAverageCustomGetter as ElasticAverageCustomGetter
from tfexp.contributed.opt.elastic_average import ElasticAverageOptimizer as ElasticAverageOptimizer
from tfexp.contributed.opt.external import ExternalOptimizerInterface as ExternalOptimizerInterface
from tfexp.contributed.opt.external import ScipyOptimizerInterface as ScipyOptimizerInterface
from tfexp.contributed.opt.ggt import GGTOptimizer as GGTOptimizer
from tfexp.contributed.opt.global_step import AdamGSOptimizer as AdamGSOptimizer
from tfexp.contributed.opt.global_step import LazyAdamGSOptimizer as LazyAdamGSOptimizer
from tfexp.contributed.opt.lars import LARSOptimizer as LARSOptimizer
from tfexp.contributed.opt.model_average import ModelAverageCustomGetter as ModelAverageCustomGetter
from tfexp.contributed.opt.model_average import ModelAverageOptimizer as ModelAverageOptimizer
from tfexp.contributed.opt.moving_average import MovingAverageOptimizer as MovingAverageOptimizer
from tfexp.contributed.opt.reg_adagrad import RegAdagradOptimizer as RegAdagradOptimizer
from tfexp.contributed.opt.shampoo import ShampooOptimizer as ShampooOptimizer
from tfexp.contributed.opt.sign import AddSignOptimizer as AddSignOptimizer
from tfexp.contributed.opt.sign import PowerSignOptimizer as PowerSignOptimizer
from tfexp.contributed.opt.sign import get_cosine_decay_fn as get_cosine_decay_fn
from tfexp.contributed.opt.sign import get_linear_decay_fn as get_linear_decay_fn
from tfexp.contributed.opt.sign import get_restart_decay_fn as get_restart_decay_fn
from tfexp.contributed.opt.stale import DropStaleGradientOptimizer as DropStaleGradientOptimizer
from tfexp.contributed.opt.weight_decay import AdamWOptimizer as AdamWOptimizer
from tfexp.contributed.opt.weight_decay import DecoupledWeightDecayExtension as DecoupledWeightDecayExtension
from tfexp.contributed.opt.weight_decay import MomentumWOptimizer as MomentumWOptimizer
from tfexp.contributed.opt.weight_decay import extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.opt")
