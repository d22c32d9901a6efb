"""`tf.contrib.sparsemax`: a softmax that gives zeros."""

from tfexp.contributed.sparsemax import sparsemax as sparsemax
from tfexp.contributed.sparsemax import sparsemax_loss as sparsemax_loss
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.sparsemax")
