"""`tf.contrib.slim.learning`: training operations and a training loop."""

from tfexp.contributed.learning import add_slim_gradients_summaries as add_gradients_summaries
from tfexp.contributed.learning import clip_gradient_norms as clip_gradient_norms
from tfexp.contributed.learning import multiply_gradients as multiply_gradients
from tfexp.contributed.slim_learning import create_train_op as create_train_op
from tfexp.contributed.slim_learning import train as train
from tfexp.contributed.slim_learning import train_step as train_step
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.slim.learning")
