"""`tf.contrib.training`: HParams, batches of sequences."""

from tfexp.contributed.hparam import HParams as HParams
from tfexp.contributed.learning import clip_gradient_norms as clip_gradient_norms
from tfexp.contributed.learning import create_train_op as create_train_op
from tfexp.contributed.learning import multiply_gradients as multiply_gradients
from tfexp.contributed.learning import train as train
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.training")
