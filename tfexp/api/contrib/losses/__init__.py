"""`tf.contrib.losses`: losses with contrib's order of arguments."""

from tfexp.api.contrib.losses import metric_learning as metric_learning
from tfexp.contributed.losses import absolute_difference as absolute_difference
from tfexp.contributed.losses import add_loss as add_loss
from tfexp.contributed.losses import compute_weighted_loss as compute_weighted_loss
from tfexp.contributed.losses import cosine_distance as cosine_distance
from tfexp.contributed.losses import get_losses as get_losses
from tfexp.contributed.losses import get_regularization_losses as get_regularization_losses
from tfexp.contributed.losses import get_total_loss as get_total_loss
from tfexp.contributed.losses import hinge_loss as hinge_loss
from tfexp.contributed.losses import log_loss as log_loss
from tfexp.contributed.losses import mean_pairwise_squared_error as mean_pairwise_squared_error
from tfexp.contributed.losses import mean_squared_error as mean_squared_error
from tfexp.contributed.losses import sigmoid_cross_entropy as sigmoid_cross_entropy
from tfexp.contributed.losses import softmax_cross_entropy as softmax_cross_entropy
from tfexp.contributed.losses import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.losses")
