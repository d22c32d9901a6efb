"""What `tf.compat.v2.nn` has of its own."""

from collections.abc import Sequence
from typing import Any

from tfexp.api import nn
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.tensor import Tensor
from tfexp.layers.rnn_wrappers_of_keras import DeviceWrapper as RNNCellDeviceWrapper
from tfexp.layers.rnn_wrappers_of_keras import DropoutWrapper as RNNCellDropoutWrapper
from tfexp.layers.rnn_wrappers_of_keras import ResidualWrapper as RNNCellResidualWrapper
from tfexp.ops.ctc import ctc_loss_v2 as ctc_loss
from tfexp.ops.ctc_decode import ctc_beam_search_decoder_v2 as ctc_beam_search_decoder
from tfexp.ops.space_batch import space_to_batch_nd as space_to_batch
from tfexp.version_2.arguments import with_arguments


def _pool(input: Any, by_rank: dict[int, Any], *args: Any) -> Any:
    """What the pool of its rank makes of `input`. ValueError for other ranks, or for one that is not known."""
    input = convert_to_tensor(input, name="value")
    if input.shape.rank not in by_rank:
        raise ValueError(f"input must be [batch, ..., depth] with 1, 2 or 3 dimensions between, got shape {input.shape}")
    pool, data_format = by_rank[input.shape.rank]
    *window, given, name = args
    return pool(input, *window, given or data_format, name)


def max_pool(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None, name: str | None = None
) -> Any:
    """The largest element of each window of sequences, images or volumes. Source: `tf.nn.max_pool`, TF 2.0."""
    by_rank = {3: (nn.max_pool1d, "NWC"), 4: (nn.max_pool2d, "NHWC"), 5: (nn.max_pool3d, "NDHWC")}
    return _pool(input, by_rank, ksize, strides, padding, data_format, name)


def avg_pool(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None, name: str | None = None
) -> Any:
    """The mean of each window of sequences, images or volumes. Source: `tf.nn.avg_pool`, TF 2.0."""
    by_rank = {3: (nn.avg_pool1d, "NWC"), 4: (nn.avg_pool, "NHWC"), 5: (nn.avg_pool3d, "NDHWC")}
    return _pool(input, by_rank, ksize, strides, padding, data_format, name)


def _four(pooling_ratio: float | Sequence[float]) -> Sequence[float]:
    """Ratios of [batch, rows, columns, depth], given as these, as those of rows and columns, or as one number for both."""
    given = [pooling_ratio] if isinstance(pooling_ratio, (int, float)) else list(pooling_ratio)
    if len(given) == 4:
        return given
    return [1.0, *(given * 2 if len(given) == 1 else given), 1.0]


def fractional_max_pool(
    value: Any,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """Laid out anew in each run if the seed is 0. Source: `tf.nn.fractional_max_pool`, TF 2.0."""
    first, second = get_seed(seed) if seed else (0, 0)
    return nn.fractional_max_pool(value, _four(pooling_ratio), pseudo_random, overlapping, seed != 0, first, second, name)


def fractional_avg_pool(
    value: Any,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """Laid out anew in each run if the seed is 0. Source: `tf.nn.fractional_avg_pool`, TF 2.0."""
    first, second = get_seed(seed) if seed else (0, 0)
    return nn.fractional_avg_pool(value, _four(pooling_ratio), pseudo_random, overlapping, seed != 0, first, second, name)


def dilation2d(
    input: Any, filters: Any, strides: Any, padding: str, data_format: str, dilations: Any, name: str | None = None
) -> Any:
    """max over each window of input + filter. ValueError unless data_format is NHWC. Source: `tf.nn.dilation2d`, TF 2.0."""
    _channels_last(data_format)
    return nn.dilation2d(input, filters, strides, dilations, padding, name)


def erosion2d(
    value: Any, filters: Any, strides: Any, padding: str, data_format: str, dilations: Any, name: str | None = None
) -> Any:
    """min over each window of value - filter. ValueError unless data_format is NHWC. Source: `tf.nn.erosion2d`, TF 2.0."""
    _channels_last(data_format)
    return nn.erosion2d(value, filters, strides, dilations, padding, name)


def _channels_last(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported. Received: data_format={data_format}")


avg_pool2d = with_arguments(nn.avg_pool2d, "input, ksize, strides, padding, data_format='NHWC', name=None")
batch_norm_with_global_normalization = with_arguments(
    nn.batch_norm_with_global_normalization,
    "input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None",
)
conv1d = with_arguments(nn.conv1d, "input, filters, stride, padding, data_format='NWC', dilations=None, name=None")
conv2d = with_arguments(nn.conv2d, "input, filters, strides, padding, data_format='NHWC', dilations=None, name=None")
conv2d_transpose = with_arguments(
    nn.conv2d_transpose,
    "input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, name=None",
)
conv3d = with_arguments(nn.conv3d, "input, filters, strides, padding, data_format='NDHWC', dilations=None, name=None")
conv3d_transpose = with_arguments(
    nn.conv3d_transpose,
    "input, filters, output_shape, strides, padding='SAME', data_format='NDHWC', dilations=None, name=None",
)
convolution = with_arguments(
    nn.convolution,
    "input, filters, strides=None, padding='VALID', data_format=None, dilations=None, name=None",
)
crelu = with_arguments(nn.crelu, "features, axis=-1, name=None")
depth_to_space = with_arguments(nn.depth_to_space, "input, block_size, data_format='NHWC', name=None")
depthwise_conv2d = with_arguments(
    nn.depthwise_conv2d,
    "input, filter, strides, padding, data_format=None, dilations=None, name=None",
)
dropout = with_arguments(nn.dropout, "x, rate, noise_shape=None, seed=None, name=None")
embedding_lookup = with_arguments(nn.embedding_lookup, "params, ids, max_norm=None, name=None", partition_strategy="div")
embedding_lookup_sparse = with_arguments(
    nn.embedding_lookup_sparse,
    "params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None",
    partition_strategy="div",
)
in_top_k = with_arguments(nn.in_top_k, "targets, predictions, k, name=None")
l2_normalize = with_arguments(nn.l2_normalize, "x, axis=None, epsilon=1e-12, name=None")
log_softmax = with_arguments(nn.log_softmax, "logits, axis=None, name=None")
max_pool_with_argmax = with_arguments(
    nn.max_pool_with_argmax,
    "input, ksize, strides, padding, data_format='NHWC', output_dtype=int64, include_batch_in_index=False, name=None",
)
moments = with_arguments(nn.moments, "x, axes, shift=None, keepdims=False, name=None")
nce_loss = with_arguments(
    nn.nce_loss,
    "weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, "
    "remove_accidental_hits=False, name='nce_loss'",
    partition_strategy="div",
)
pool = with_arguments(
    nn.pool,
    "input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None, dilations=None, name=None",
)
safe_embedding_lookup_sparse = with_arguments(
    nn.safe_embedding_lookup_sparse,
    "embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None, max_norm=None, name=None",
    partition_strategy="div",
)
sampled_softmax_loss = with_arguments(
    nn.sampled_softmax_loss,
    "weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, "
    "remove_accidental_hits=True, seed=None, name='sampled_softmax_loss'",
    partition_strategy="div",
)
separable_conv2d = with_arguments(
    nn.separable_conv2d,
    "input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None",
)
sigmoid_cross_entropy_with_logits = with_arguments(
    nn.sigmoid_cross_entropy_with_logits,
    "labels=None, logits=None, name=None",
)
softmax = with_arguments(nn.softmax, "logits, axis=None, name=None")
space_to_depth = with_arguments(nn.space_to_depth, "input, block_size, data_format='NHWC', name=None")
softmax_cross_entropy_with_logits = with_arguments(
    nn.softmax_cross_entropy_with_logits_v2, "labels, logits, axis=-1, name=None"
)
sparse_softmax_cross_entropy_with_logits = with_arguments(
    nn.sparse_softmax_cross_entropy_with_logits,
    "labels, logits, name=None",
)
sufficient_statistics = with_arguments(nn.sufficient_statistics, "x, axes, shift=None, keepdims=False, name=None")
weighted_cross_entropy_with_logits = with_arguments(
    nn.weighted_cross_entropy_with_logits,
    "labels, logits, pos_weight, name=None",
)
weighted_moments = with_arguments(nn.weighted_moments, "x, axes, frequency_weights, keepdims=False, name=None")
