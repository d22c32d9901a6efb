"""`tf.nn`: layers' ops: convolutions, activations, losses, recurrence, embeddings."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.api import rnn_cell as rnn_cell
    from tfexp.layers.rnn_dynamic import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
    from tfexp.layers.rnn_dynamic import dynamic_rnn as dynamic_rnn
    from tfexp.layers.rnn_raw import raw_rnn as raw_rnn
    from tfexp.layers.rnn_static import static_bidirectional_rnn as static_bidirectional_rnn
    from tfexp.layers.rnn_static import static_rnn as static_rnn
    from tfexp.layers.rnn_static import static_state_saving_rnn as static_state_saving_rnn
    from tfexp.ops.average_loss import compute_average_loss as compute_average_loss
    from tfexp.ops.average_loss import scale_regularization_loss as scale_regularization_loss
    from tfexp.ops.batch_norm import fused_batch_norm as fused_batch_norm
    from tfexp.ops.candidate_sampling import all_candidate_sampler as all_candidate_sampler
    from tfexp.ops.candidate_sampling import compute_accidental_hits as compute_accidental_hits
    from tfexp.ops.candidate_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
    from tfexp.ops.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
    from tfexp.ops.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
    from tfexp.ops.candidate_unigram import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
    from tfexp.ops.ctc import collapse_repeated as collapse_repeated
    from tfexp.ops.ctc import ctc_loss as ctc_loss
    from tfexp.ops.ctc import ctc_loss_v2 as ctc_loss_v2
    from tfexp.ops.ctc import ctc_unique_labels as ctc_unique_labels
    from tfexp.ops.ctc_decode import ctc_beam_search_decoder as ctc_beam_search_decoder
    from tfexp.ops.ctc_decode import ctc_beam_search_decoder_v2 as ctc_beam_search_decoder_v2
    from tfexp.ops.ctc_decode import ctc_greedy_decoder as ctc_greedy_decoder
    from tfexp.ops.elementwise_unary import sigmoid as sigmoid
    from tfexp.ops.elementwise_unary import tanh as tanh
    from tfexp.ops.embedding import embedding_lookup as embedding_lookup
    from tfexp.ops.embedding_sparse import embedding_lookup_sparse as embedding_lookup_sparse
    from tfexp.ops.embedding_sparse import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
    from tfexp.ops.lrn import local_response_normalization as local_response_normalization
    from tfexp.ops.lrn import lrn as lrn
    from tfexp.ops.morphology import dilation2d as dilation2d
    from tfexp.ops.morphology import erosion2d as erosion2d
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
    from tfexp.ops.nn_conv import atrous_conv2d as atrous_conv2d
    from tfexp.ops.nn_conv import conv1d as conv1d
    from tfexp.ops.nn_conv import conv2d as conv2d
    from tfexp.ops.nn_conv import conv2d_backprop_filter as conv2d_backprop_filter
    from tfexp.ops.nn_conv import conv2d_backprop_input as conv2d_backprop_input
    from tfexp.ops.nn_conv import conv3d as conv3d
    from tfexp.ops.nn_conv import conv3d_backprop_filter as conv3d_backprop_filter
    from tfexp.ops.nn_conv import conv3d_backprop_filter as conv3d_backprop_filter_v2
    from tfexp.ops.nn_conv import convolution as convolution
    from tfexp.ops.nn_conv import depthwise_conv2d as depthwise_conv2d
    from tfexp.ops.nn_conv import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
    from tfexp.ops.nn_conv import depthwise_conv2d_backprop_filter as depthwise_conv2d_native_backprop_filter
    from tfexp.ops.nn_conv import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
    from tfexp.ops.nn_conv import depthwise_conv2d_backprop_input as depthwise_conv2d_native_backprop_input
    from tfexp.ops.nn_conv import depthwise_conv2d_native as depthwise_conv2d_native
    from tfexp.ops.nn_conv import separable_conv2d as separable_conv2d
    from tfexp.ops.nn_conv_transpose import atrous_conv2d_transpose as atrous_conv2d_transpose
    from tfexp.ops.nn_conv_transpose import conv1d_transpose as conv1d_transpose
    from tfexp.ops.nn_conv_transpose import conv2d_transpose as conv2d_transpose
    from tfexp.ops.nn_conv_transpose import conv3d_transpose as conv3d_transpose
    from tfexp.ops.nn_conv_transpose import conv_transpose as conv_transpose
    from tfexp.ops.nn_cross_entropy import log_poisson_loss as log_poisson_loss
    from tfexp.ops.nn_cross_entropy import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
    from tfexp.ops.nn_cross_entropy import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
    from tfexp.ops.nn_cross_entropy import softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2
    from tfexp.ops.nn_cross_entropy import (
        sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    )
    from tfexp.ops.nn_cross_entropy import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
    from tfexp.ops.nn_dilated import with_space_to_batch as with_space_to_batch
    from tfexp.ops.nn_dropout import dropout as dropout
    from tfexp.ops.nn_norm import batch_normalization as batch_normalization
    from tfexp.ops.nn_norm import l2_loss as l2_loss
    from tfexp.ops.nn_norm import l2_normalize as l2_normalize
    from tfexp.ops.nn_norm import moments as moments
    from tfexp.ops.nn_norm import zero_fraction as zero_fraction
    from tfexp.ops.nn_pool import avg_pool as avg_pool
    from tfexp.ops.nn_pool import avg_pool1d as avg_pool1d
    from tfexp.ops.nn_pool import avg_pool2d as avg_pool2d
    from tfexp.ops.nn_pool import avg_pool3d as avg_pool3d
    from tfexp.ops.nn_pool import avg_pool_v2 as avg_pool_v2
    from tfexp.ops.nn_pool import max_pool as max_pool
    from tfexp.ops.nn_pool import max_pool1d as max_pool1d
    from tfexp.ops.nn_pool import max_pool2d as max_pool2d
    from tfexp.ops.nn_pool import max_pool3d as max_pool3d
    from tfexp.ops.nn_pool import max_pool_v2 as max_pool_v2
    from tfexp.ops.nn_pool import max_pool_with_argmax as max_pool_with_argmax
    from tfexp.ops.nn_pool import pool as pool
    from tfexp.ops.nn_sampled import nce_loss as nce_loss
    from tfexp.ops.nn_sampled import sampled_softmax_loss as sampled_softmax_loss
    from tfexp.ops.nn_softmax import log_softmax as log_softmax
    from tfexp.ops.nn_softmax import softmax as softmax
    from tfexp.ops.nn_statistics import batch_norm_with_global_normalization as batch_norm_with_global_normalization
    from tfexp.ops.nn_statistics import normalize_moments as normalize_moments
    from tfexp.ops.nn_statistics import sufficient_statistics as sufficient_statistics
    from tfexp.ops.nn_statistics import weighted_moments as weighted_moments
    from tfexp.ops.nn_swish import swish as swish
    from tfexp.ops.nn_topk import in_top_k as in_top_k
    from tfexp.ops.nn_topk import top_k as top_k
    from tfexp.ops.pool_fractional import fractional_avg_pool as fractional_avg_pool
    from tfexp.ops.pool_fractional import fractional_max_pool as fractional_max_pool
    from tfexp.ops.quantized_elements import quantized_avg_pool as quantized_avg_pool
    from tfexp.ops.quantized_elements import quantized_max_pool as quantized_max_pool
    from tfexp.ops.quantized_elements import quantized_relu_x as quantized_relu_x
    from tfexp.ops.quantized_products import quantized_conv2d as quantized_conv2d
    from tfexp.ops.space_batch import depth_to_space as depth_to_space
    from tfexp.ops.space_batch import space_to_batch as space_to_batch
    from tfexp.ops.space_batch import space_to_depth as space_to_depth

__getattr__, __dir__ = namespace("tf.nn", __name__)
