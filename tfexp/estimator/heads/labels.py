"""Labels, weights and class names, as the heads of models want them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.feature_column.column import Features
from tfexp.feature_column.numeric import NumericColumn, numeric_column
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.sparse_tensor import SparseTensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_greater_equal, assert_less_equal
from tfexp.ops.lookup_vocabulary import index_table_from_tensor, index_to_string_table_from_tensor
from tfexp.ops.losses import Reduction
from tfexp.ops.sparse import sparse_tensor_to_dense
from tfexp.ops.sparse_values import sparse_to_indicator
from tfexp.ops.strings import as_string

# The names that TensorFlow 2 has for some of the reductions.
_SHORTER = {
    "auto": Reduction.SUM_OVER_BATCH_SIZE,
    "sum": Reduction.SUM,
    "sum_over_batch_size": Reduction.SUM_OVER_BATCH_SIZE,
}


def loss_reduction(given: str, older: bool = False) -> str:
    """One of `tf.losses.Reduction` that makes one number. ValueError for others. older: without TensorFlow 2's names."""
    shorter = {} if older else _SHORTER
    reduction = shorter.get(given, given)
    if reduction not in Reduction.all() or reduction == Reduction.NONE:
        known = [*shorter, *(one for one in dict.fromkeys(Reduction.all()) if one != Reduction.NONE)]
        raise ValueError(f"Invalid loss_reduction: {given}. It must be one of {', '.join(known)}")
    return reduction


def no_labels() -> ValueError:
    """What is wrong where a head is given none."""
    return ValueError(
        "You must provide a labels Tensor. Given: None. Check that the data have the labels, and that input_fn returns "
        "(features, labels)."
    )


def dense_labels(labels: Any, logits: Tensor, width: int) -> Tensor:
    """The labels as `[batch, width]`; of `[batch]` each one has a row. ValueError for none, and another shape."""
    if labels is None:
        raise no_labels()
    if isinstance(labels, Mapping):
        raise ValueError(f"labels must be a Tensor, not a dict of {', '.join(map(str, labels))}")
    labels = sparse_tensor_to_dense(labels) if isinstance(labels, SparseTensor) else convert_to_tensor(labels)
    if labels.shape.ndims == 1 and logits.shape.ndims in (2, None):
        labels = expand_dims(labels, -1)
    if labels.shape.ndims == 2 and not labels.shape[-1:].is_compatible_with([width]):
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={width}.  Received {labels.shape[-1]}. Check the head's "
            "n_classes or label_dimension, and the shape of the labels."
        )
    if not labels.shape.is_compatible_with([logits.shape[0], width]):
        raise ValueError(f"labels shape must be [batch, {width}], for logits of shape {logits.shape}. Given: {labels}")
    return labels


def in_range(labels: Tensor, largest: float, too_large: str, too_small: str) -> Tensor:
    """The labels; the step fails, and says so, where one is below 0 or above `largest`."""
    limit = cast(constant(largest), labels.dtype)
    checks = [
        assert_less_equal(labels, limit, message=too_large),
        assert_greater_equal(labels, cast(constant(0), labels.dtype), message=too_small),
    ]
    return with_dependencies(checks, labels)


def class_ids(labels: Tensor, count: int, older: bool) -> Tensor:
    """Numbers of classes; the step fails where one is none of `count`. older: as the older heads say that."""
    be = "" if older else "be "
    return in_range(labels, count - 1, f"Labels must {be}<= n_classes - 1", f"Labels must {be}>= 0")


def checked_weight_column(given: Any) -> NumericColumn | None:
    """The column of weights: a key, or a numeric column. TypeError for another."""
    if given is None or isinstance(given, NumericColumn):
        return given
    if isinstance(given, str):
        return numeric_column(given)
    raise TypeError(f"Weight column must be either a string or NumericColumn. Given type: {type(given)}.")


def row_weights(features: Any, column: NumericColumn | None) -> Tensor | None:
    """[batch, 1] weights of the examples; None without a column. ValueError where the features are no dict."""
    if column is None:
        return None
    if not isinstance(features, Mapping):
        raise ValueError(f"weight_column {column.name!r} is one of the features, which must be a dict. Given: {features}")
    return column.dense(Features(features))


class Classes:
    """`count` classes: by their numbers, or by the words of a vocabulary. ValueError where these are no list or tuple.

    as_many: whether there has to be a word for each, ValueError otherwise.
    """

    def __init__(self, count: int, vocabulary: Sequence[str] | None, as_many: bool = True):
        if vocabulary is not None and not isinstance(vocabulary, (list, tuple)):
            raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(vocabulary)}")
        if as_many and vocabulary is not None and len(vocabulary) != count:
            raise ValueError(
                f'"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)={len(vocabulary)}, '
                f"n_classes={count}, label_vocabulary={vocabulary}"
            )
        self.count = count
        self.vocabulary = None if vocabulary is None else tuple(vocabulary)

    def ids(self, labels: Any) -> Any:
        """Labels as numbers, looked up (int64). ValueError for words without a vocabulary, and the other way round."""
        dtype = labels.dtype.base_dtype
        if self.vocabulary is None:
            if dtype is dtypes.string:
                raise ValueError(
                    f"Labels dtype should be integer. Instead got {dtype}. Labels that are words need label_vocabulary."
                )
            return labels
        if dtype is not dtypes.string:
            raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {dtype}")
        return index_table_from_tensor(vocabulary_list=self.vocabulary, name="class_id_lookup").lookup(labels)

    def words(self, ids: Any) -> Tensor:
        """Numbers as words."""
        if self.vocabulary is None:
            return as_string(ids, name="str_classes")
        table = index_to_string_table_from_tensor(self.vocabulary, name="class_string_lookup")
        looked_up: Tensor = table.lookup(ids)
        return looked_up

    def all_ids(self, logits: Tensor) -> Tensor:
        """[batch, count]: all numbers for each example (int32)."""
        return _for_each_row(range_(self.count), logits)

    def all_words(self, logits: Tensor) -> Tensor:
        """[batch, count]: all words for each example."""
        words = as_string(range_(self.count)) if self.vocabulary is None else constant(self.vocabulary)
        return _for_each_row(words, logits)


def _for_each_row(values: Any, logits: Tensor) -> Tensor:
    rows: Any = shape(logits)[0]  # type: ignore[index]
    return tile(expand_dims(values, 0), [rows, 1])


def multi_hot(labels: Any, logits: Tensor, classes: Classes) -> Tensor:
    """[batch, count] 0 or 1, of such labels or of a SparseTensor with the numbers or words of each example."""
    if is_sparse(labels):
        ids = classes.ids(labels)
        ids = SparseTensor(ids.indices, cast(ids.values, dtypes.int64), ids.dense_shape)
        return cast(sparse_to_indicator(ids, classes.count), dtypes.int64)
    if classes.vocabulary is not None and labels is not None and convert_to_tensor(labels).dtype.base_dtype is dtypes.string:
        raise ValueError(f"Labels that are words must be a SparseTensor for several classes. Given: {labels}")
    message = "labels must be an integer indicator Tensor with values in [0, 1]"
    return in_range(dense_labels(labels, logits, classes.count), 1, message, message)
