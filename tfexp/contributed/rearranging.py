"""`tf.contrib.layers`: what brings images, sequences and lists of ids into other forms. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.contributed.layer_scope import collected, get_variable_collections
from tfexp.contributed.variables import model_variable
from tfexp.core import dtypes
from tfexp.feature_column.column import dense_to_sparse as without_ignored
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops.array import reshape
from tfexp.ops.array import shape as shape_of
from tfexp.ops.array_fill import linspace
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.broadcast_shapes import meshgrid
from tfexp.ops.check_types import is_tensor
from tfexp.ops.comparison import not_equal
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.embedding_sparse import safe_embedding_lookup_sparse
from tfexp.ops.initializers import constant_initializer, ones_initializer
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_max, reduce_mean, reduce_sum
from tfexp.ops.variable_scope import variable_scope


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: str | None = None) -> Any:
    """The largest of each group of features, so that `num_units` are left along `axis` (https://arxiv.org/abs/1302.4389).

    As in 1.15 the groups are cut from the elements as they lie: they are neighbours along `axis` only if it is the last.
    ValueError where the number of features is not a multiple of `num_units`.
    """
    with name_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape().as_list()
        features = shape[axis]
        if features % num_units:
            raise ValueError(f"number of features({features}) is not a multiple of num_units({num_units})")
        shape[axis] = num_units
        known = [-1 if size is None else size for size in shape]
        return reduce_max(reshape(inputs, [*known, features // num_units]), -1)


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: Any = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """[batch, 2 channels]: where in [-1, 1] x [-1, 1] each channel of feature maps is, by softmax (arXiv 1509.06113).

    temperature: of the softmax; unless it is a tensor, a variable that starts with this number, or with one. ValueError for
    an unknown data format.
    """
    with variable_scope(name, "spatial_softmax"):
        if data_format not in ("NHWC", "NCHW"):
            raise ValueError("data_format has to be either NCHW or NHWC.")
        features = convert_to_tensor(features)
        static = features.get_shape().as_list()
        shape: Any = shape_of(features)
        first = 1 if data_format == "NHWC" else 2
        channels = static[3] if data_format == "NHWC" else static[1]
        height, width = shape[first], shape[first + 1]
        if not is_tensor(temperature):
            temperature = model_variable(
                "temperature",
                shape=(),
                dtype=dtypes.float32,
                initializer=ones_initializer() if temperature is None else constant_initializer(temperature),
                collections=get_variable_collections(variables_collections, "temperature"),
                trainable=trainable,
            )
        with name_scope("spatial_softmax_op"):
            x, y = meshgrid(linspace(-1.0, 1.0, num=height), linspace(-1.0, 1.0, num=width), indexing="ij")
            if data_format == "NHWC":
                features = transpose(features, [0, 3, 1, 2])
            shares = softmax(reshape(features, [-1, height * width]) / temperature)
            expected = [reduce_sum(reshape(grid, [height * width]) * shares, [1], keepdims=True) for grid in (x, y)]
            found = reshape(concat(expected, 1), [-1, channels * 2])
            found.set_shape([None, channels * 2])
            return found


@add_arg_scope
def dense_to_sparse(tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """A SparseTensor of the elements that are not `eos_token`."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as opened:
        tensor = convert_to_tensor(tensor)
        places = where(not_equal(tensor, constant(eos_token, tensor.dtype)))
        found = SparseTensor(places, gather_nd(tensor, places), shape_of(tensor, out_type=dtypes.int64))
        return collected(outputs_collections, opened.name, found)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """[batch, embed_dim]: the mean of the embeddings of ids, a SparseTensor or [batch, length].

    sparse_lookup: of a dense tensor, negative and zero ids do not count. TypeError for a SparseTensor without it.
    """
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if sparse_lookup:
            if not isinstance(ids, SparseTensor):
                with name_scope("DenseToSparseTensor"):
                    ids = without_ignored(convert_to_tensor(ids), 0)
            return safe_embedding_lookup_sparse([embeddings], ids, combiner="mean", default_id=0)
        if isinstance(ids, SparseTensor):
            raise TypeError("ids are expected to be dense Tensor, got: SparseTensor")
        return reduce_mean(embedding_lookup(embeddings, ids), 1)


@add_arg_scope
def images_to_sequence(
    inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: str | None = None
) -> Any:
    """[batch, height, width, channels] as [width, batch height, channels]: a sequence for each row of pixels.

    data_format: NHWC, or NCHW for images [batch, channels, height, width]; ValueError for others.
    """
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with name_scope(scope, "ImagesToSequence", [inputs]) as opened:
        if data_format == "NCHW":
            inputs = transpose(inputs, [0, 2, 3, 1])
        width, channels = convert_to_tensor(inputs).get_shape().as_list()[2:]
        shape: Any = shape_of(inputs)
        rows = shape[0] * shape[1]
        found = reshape(transpose(inputs, [2, 0, 1, 3]), [-1 if width is None else width, rows, channels])
        return collected(outputs_collections, opened, found)


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """[width, batch height, channels] as [batch, height, width, channels]: what `images_to_sequence` took apart.

    output_data_format: channels_first gives [batch, channels, height, width].
    """
    with name_scope(scope, "SequenceToImages", [inputs]) as opened:
        width, rows, channels = convert_to_tensor(inputs).get_shape().as_list()
        batch = -1 if rows is None else rows // height
        known: list[Any] = [-1 if width is None else width, batch, height, channels]
        if known.count(-1) == 2:
            known[0] = shape_of(inputs)[0]  # type: ignore[index]
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collected(outputs_collections, opened, transpose(reshape(inputs, known), order))
