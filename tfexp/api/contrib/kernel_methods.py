"""`tf.contrib.kernel_methods`: re-exports."""

from tfexp.contributed.kernel_methods import RandomFourierFeatureMapper as RandomFourierFeatureMapper
from tfexp.contributed.kernel_methods import sparse_multiclass_hinge_loss as sparse_multiclass_hinge_loss
from tfexp.contributed.learn.kernel_classifier import KernelLinearClassifier as KernelLinearClassifier
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.kernel_methods")
