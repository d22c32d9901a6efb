"""`tf.losses`: losses with weights and reductions, which join the graph's collection."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.ops.losses import Reduction as Reduction
    from tfexp.ops.losses import absolute_difference as absolute_difference
    from tfexp.ops.losses import add_loss as add_loss
    from tfexp.ops.losses import compute_weighted_loss as compute_weighted_loss
    from tfexp.ops.losses import cosine_distance as cosine_distance
    from tfexp.ops.losses import get_losses as get_losses
    from tfexp.ops.losses import get_regularization_loss as get_regularization_loss
    from tfexp.ops.losses import get_regularization_losses as get_regularization_losses
    from tfexp.ops.losses import get_total_loss as get_total_loss
    from tfexp.ops.losses import hinge_loss as hinge_loss
    from tfexp.ops.losses import huber_loss as huber_loss
    from tfexp.ops.losses import log_loss as log_loss
    from tfexp.ops.losses import mean_pairwise_squared_error as mean_pairwise_squared_error
    from tfexp.ops.losses import mean_squared_error as mean_squared_error
    from tfexp.ops.losses import sigmoid_cross_entropy as sigmoid_cross_entropy
    from tfexp.ops.losses import softmax_cross_entropy as softmax_cross_entropy
    from tfexp.ops.losses import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy

__getattr__, __dir__ = namespace("tf.losses", __name__)
