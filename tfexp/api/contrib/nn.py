"""`tf.contrib.nn`: what `tf.nn` does not have, and some that it has."""

from tfexp.contributed.nn import alpha_dropout as alpha_dropout
from tfexp.contributed.nn import (
    deprecated_flipped_sigmoid_cross_entropy_with_logits as deprecated_flipped_sigmoid_cross_entropy_with_logits,
)
from tfexp.contributed.nn import (
    deprecated_flipped_softmax_cross_entropy_with_logits as deprecated_flipped_softmax_cross_entropy_with_logits,
)
from tfexp.contributed.nn import (
    deprecated_flipped_sparse_softmax_cross_entropy_with_logits as deprecated_flipped_sparse_softmax_cross_entropy_with_logits,  # noqa: E501
)
from tfexp.contributed.nn import fwd_gradients as fwd_gradients
from tfexp.contributed.nn import rank_sampled_softmax_loss as rank_sampled_softmax_loss
from tfexp.contributed.nn import sampled_sparse_softmax_loss as sampled_sparse_softmax_loss
from tfexp.contributed.nn import scaled_softplus as scaled_softplus
from tfexp.core.gone import missing_from
from tfexp.ops.nn_conv_transpose import conv1d_transpose as conv1d_transpose
from tfexp.ops.nth_element import nth_element as nth_element

__getattr__ = missing_from("tf.contrib.nn")
