"""`tf.contrib.layers`: layers as functions, regularizers, summaries, optimize_loss."""

from tfexp.contributed.batch_norm import batch_norm as batch_norm
from tfexp.contributed.feature_columns import (
    SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY as SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY,
)
from tfexp.contributed.feature_columns import check_feature_columns as check_feature_columns
from tfexp.contributed.feature_columns import crossed_column as crossed_column
from tfexp.contributed.feature_columns import embedding_column as embedding_column
from tfexp.contributed.feature_columns import infer_real_valued_columns as infer_real_valued_columns
from tfexp.contributed.feature_columns import one_hot_column as one_hot_column
from tfexp.contributed.feature_columns import real_valued_column as real_valued_column
from tfexp.contributed.feature_columns import shared_embedding_columns as shared_embedding_columns
from tfexp.contributed.feature_columns import sparse_column_with_hash_bucket as sparse_column_with_hash_bucket
from tfexp.contributed.feature_columns import (
    sparse_column_with_integerized_feature as sparse_column_with_integerized_feature,
)
from tfexp.contributed.feature_columns import sparse_column_with_keys as sparse_column_with_keys
from tfexp.contributed.feature_columns import sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file
from tfexp.contributed.feature_columns import weighted_sparse_column as weighted_sparse_column
from tfexp.contributed.feature_tensors import create_feature_spec_for_parsing as create_feature_spec_for_parsing
from tfexp.contributed.feature_tensors import input_from_feature_columns as input_from_feature_columns
from tfexp.contributed.feature_tensors import (
    make_place_holder_tensors_for_base_features as make_place_holder_tensors_for_base_features,
)
from tfexp.contributed.feature_tensors import parse_feature_columns_from_examples as parse_feature_columns_from_examples
from tfexp.contributed.feature_tensors import (
    sequence_input_from_feature_columns as sequence_input_from_feature_columns,
)
from tfexp.contributed.feature_tensors import transform_features as transform_features
from tfexp.contributed.feature_tensors import weighted_sum_from_feature_columns as weighted_sum_from_feature_columns
from tfexp.contributed.gdn import GDN as GDN
from tfexp.contributed.gdn import gdn as gdn
from tfexp.contributed.layer_scope import convert_collection_to_dict as convert_collection_to_dict
from tfexp.contributed.layers import conv1d as conv1d
from tfexp.contributed.layers import conv2d as conv2d
from tfexp.contributed.layers import conv2d_transpose as conv2d_transpose
from tfexp.contributed.layers import conv3d as conv3d
from tfexp.contributed.layers import conv3d_transpose as conv3d_transpose
from tfexp.contributed.layers import convolution as convolution
from tfexp.contributed.layers import convolution1d as convolution1d
from tfexp.contributed.layers import convolution2d as convolution2d
from tfexp.contributed.layers import convolution2d_transpose as convolution2d_transpose
from tfexp.contributed.layers import convolution3d as convolution3d
from tfexp.contributed.layers import convolution3d_transpose as convolution3d_transpose
from tfexp.contributed.layers import elu as elu
from tfexp.contributed.layers import fully_connected as fully_connected
from tfexp.contributed.layers import linear as linear
from tfexp.contributed.layers import relu as relu
from tfexp.contributed.layers import relu6 as relu6
from tfexp.contributed.layers import separable_conv2d as separable_conv2d
from tfexp.contributed.layers import separable_convolution2d as separable_convolution2d
from tfexp.contributed.normalization import group_norm as group_norm
from tfexp.contributed.normalization import instance_norm as instance_norm
from tfexp.contributed.normalization import layer_norm as layer_norm
from tfexp.contributed.normalization import unit_norm as unit_norm
from tfexp.contributed.optimize_loss import OPTIMIZER_CLS_NAMES as OPTIMIZER_CLS_NAMES
from tfexp.contributed.optimize_loss import OPTIMIZER_SUMMARIES as OPTIMIZER_SUMMARIES
from tfexp.contributed.optimize_loss import optimize_loss as optimize_loss
from tfexp.contributed.plain_layers import conv2d_in_plane as conv2d_in_plane
from tfexp.contributed.plain_layers import conv2d_in_plane as convolution2d_in_plane
from tfexp.contributed.plain_layers import embedding_lookup_unique as embedding_lookup_unique
from tfexp.contributed.plain_layers import legacy_fully_connected as legacy_fully_connected
from tfexp.contributed.plain_layers import legacy_linear as legacy_linear
from tfexp.contributed.plain_layers import legacy_relu as legacy_relu
from tfexp.contributed.plain_layers import scale_gradient as scale_gradient
from tfexp.contributed.rearranging import bow_encoder as bow_encoder
from tfexp.contributed.rearranging import dense_to_sparse as dense_to_sparse
from tfexp.contributed.rearranging import images_to_sequence as images_to_sequence
from tfexp.contributed.rearranging import maxout as maxout
from tfexp.contributed.rearranging import sequence_to_images as sequence_to_images
from tfexp.contributed.rearranging import spatial_softmax as spatial_softmax
from tfexp.contributed.recomputing import recompute_grad as recompute_grad
from tfexp.contributed.reversible import RevBlock as RevBlock
from tfexp.contributed.reversible import rev_block as rev_block
from tfexp.contributed.shaping import avg_pool2d as avg_pool2d
from tfexp.contributed.shaping import avg_pool3d as avg_pool3d
from tfexp.contributed.shaping import bias_add as bias_add
from tfexp.contributed.shaping import dropout as dropout
from tfexp.contributed.shaping import embed_sequence as embed_sequence
from tfexp.contributed.shaping import flatten as flatten
from tfexp.contributed.shaping import max_pool2d as max_pool2d
from tfexp.contributed.shaping import max_pool3d as max_pool3d
from tfexp.contributed.shaping import one_hot_encoding as one_hot_encoding
from tfexp.contributed.shaping import repeat as repeat
from tfexp.contributed.shaping import softmax as softmax
from tfexp.contributed.shaping import stack as stack
from tfexp.contributed.summaries import summarize_activation as summarize_activation
from tfexp.contributed.summaries import summarize_activations as summarize_activations
from tfexp.contributed.summaries import summarize_collection as summarize_collection
from tfexp.contributed.summaries import summarize_tensor as summarize_tensor
from tfexp.contributed.summaries import summarize_tensors as summarize_tensors
from tfexp.core.gone import missing_from
from tfexp.feature_column import bucketized_column as bucketized_column
from tfexp.layers.regularizers import apply_regularization as apply_regularization
from tfexp.layers.regularizers import l1_l2_regularizer as l1_l2_regularizer
from tfexp.layers.regularizers import l1_regularizer as l1_regularizer
from tfexp.layers.regularizers import l2_regularizer as l2_regularizer
from tfexp.layers.regularizers import sum_regularizer as sum_regularizer
from tfexp.layers.regularizers import variance_scaling_initializer as variance_scaling_initializer
from tfexp.layers.regularizers import xavier_initializer as xavier_initializer
from tfexp.layers.regularizers import xavier_initializer as xavier_initializer_conv2d
from tfexp.ops.embedding_sparse import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse

__getattr__ = missing_from("tf.contrib.layers")
