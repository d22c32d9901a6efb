"""`tf.compat.v2`: TensorFlow 2.0's names, with its arguments, for graphs of TensorFlow 1. One file for each namespace that
has functions of its own.
"""

from tfexp.version_2.namespace import Namespace

v2 = Namespace("tf")
