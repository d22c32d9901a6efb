"""`tf.nn`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ops.elementwise_unary import sigmoid as sigmoid
from tfexp.ops.elementwise_unary import tanh as tanh
from tfexp.ops.embedding import embedding_lookup as embedding_lookup
from tfexp.ops.nn_activation import crelu as crelu
from tfexp.ops.nn_activation import elu as elu
from tfexp.ops.nn_activation import leaky_relu as leaky_relu
from tfexp.ops.nn_activation import relu as relu
from tfexp.ops.nn_activation import relu6 as relu6
from tfexp.ops.nn_activation import selu as selu
from tfexp.ops.nn_activation import softplus as softplus
from tfexp.ops.nn_activation import softsign as softsign
from tfexp.ops.nn_bias import bias_add as bias_add
from tfexp.ops.nn_bias import relu_layer as relu_layer
from tfexp.ops.nn_bias import xw_plus_b as xw_plus_b
from tfexp.ops.nn_cross_entropy import log_poisson_loss as log_poisson_loss
from tfexp.ops.nn_cross_entropy import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from tfexp.ops.nn_cross_entropy import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from tfexp.ops.nn_cross_entropy import softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2
from tfexp.ops.nn_cross_entropy import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
from tfexp.ops.nn_cross_entropy import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from tfexp.ops.nn_dropout import dropout as dropout
from tfexp.ops.nn_norm import batch_normalization as batch_normalization
from tfexp.ops.nn_norm import l2_loss as l2_loss
from tfexp.ops.nn_norm import l2_normalize as l2_normalize
from tfexp.ops.nn_norm import moments as moments
from tfexp.ops.nn_norm import zero_fraction as zero_fraction
from tfexp.ops.nn_softmax import log_softmax as log_softmax
from tfexp.ops.nn_softmax import softmax as softmax
from tfexp.ops.nn_topk import in_top_k as in_top_k
from tfexp.ops.nn_topk import top_k as top_k

__getattr__ = missing_from(
    "tf.nn",
    {
        "rnn_cell": "tfexp.api.rnn_cell",
        **{name: f"tfexp.layers.rnn_dynamic:{name}" for name in ("dynamic_rnn", "bidirectional_dynamic_rnn")},
        **{
            name: f"tfexp.layers.rnn_static:{name}"
            for name in ("static_rnn", "static_state_saving_rnn", "static_bidirectional_rnn")
        },
        "raw_rnn": "tfexp.layers.rnn_raw:raw_rnn",
    },
)
