"""`tf.contrib.slim.model_analyzer`: how large variables and the outputs of nodes are."""

from tfexp.contributed.model_analyzer import analyze_ops as analyze_ops
from tfexp.contributed.model_analyzer import analyze_vars as analyze_vars
from tfexp.contributed.model_analyzer import tensor_description as tensor_description
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.model_analyzer")
