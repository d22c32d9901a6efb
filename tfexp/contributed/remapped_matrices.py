"""Initializers: a checkpoint's matrix in the order of other vocabularies. Source: `tf.contrib.framework`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.scopes import device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat
from tfexp.ops.initializers import TruncatedNormal, zeros_initializer
from tfexp.ops.remapping import generate_vocab_remapping_op, load_and_remap_matrix_op

Initializer = Callable[..., Tensor]


def load_and_remap_matrix(
    ckpt_path: str,
    old_tensor_name: str,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Initializer,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> Tensor:
    """A checkpoint's matrix in the order of new vocabularies; what has no old value, and buckets, from `initializer`.

    A vocabulary whose files are not given is as it was. ValueError for numbers of buckets below 0, for one file of two, and
    where no vocabulary is given.
    """
    _check_files(old_row_vocab_file, new_row_vocab_file, "row")
    _check_files(old_col_vocab_file, new_col_vocab_file, "col")
    if not new_row_vocab_file and not new_col_vocab_file:
        raise ValueError(
            "Must provide either row or column vocab files. Without a vocabulary use "
            "`tf.contrib.framework.init_from_checkpoint` instead."
        )
    if num_row_oov_buckets < 0 or num_col_oov_buckets < 0:
        raise ValueError(
            f"num_row_oov_buckets and num_col_oov_buckets must be >= 0: {num_row_oov_buckets}, {num_col_oov_buckets}"
        )
    rows: Any = range_(new_row_vocab_offset, new_row_vocab_offset + num_rows_to_load, dtype=dtypes.int64)
    columns: Any = constant([], dtype=dtypes.int64)
    found_rows, found_columns = num_rows_to_load, new_col_vocab_size
    if new_row_vocab_file:
        rows, found_rows = generate_vocab_remapping_op(
            new_row_vocab_file,
            old_row_vocab_file,
            new_vocab_offset=new_row_vocab_offset,
            num_new_vocab=num_rows_to_load,
            old_vocab_size=old_row_vocab_size,
        )
    if new_col_vocab_file:
        columns, found_columns = generate_vocab_remapping_op(
            new_col_vocab_file, old_col_vocab_file, new_vocab_offset=0, num_new_vocab=new_col_vocab_size
        )
    missing = num_rows_to_load * new_col_vocab_size - found_rows * found_columns
    matrix: Tensor = load_and_remap_matrix_op(
        ckpt_path,
        old_tensor_name,
        rows,
        columns,
        initializer([missing, 1]),
        num_rows=num_rows_to_load,
        num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory,
    )
    if num_row_oov_buckets:
        matrix = concat([matrix, initializer([num_row_oov_buckets, new_col_vocab_size], dtype=dtypes.float32)], 0)
    if num_col_oov_buckets:
        height = num_rows_to_load + num_row_oov_buckets
        matrix = concat([matrix, initializer([height, num_col_oov_buckets], dtype=dtypes.float32)], 1)
    return matrix


def load_and_remap_matrix_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """An initializer that gives a variable, or a part of its rows, what `load_and_remap_matrix` finds for them.

    TypeError where the variable is not float32 and for an initializer that is no function, ValueError for another shape.
    Source: `tf.contrib.framework.load_and_remap_matrix_initializer`.
    """
    if initializer is not None and not callable(initializer):
        raise TypeError(f"initializer must be callable, instead of being {initializer} of type {type(initializer)}.")
    otherwise = zeros_initializer() if initializer is None else initializer

    def _initializer(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
        if dtype != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        sizes = [int(size) for size in shape]
        if len(sizes) != 2:
            raise ValueError(f"Expected 2-dim shape, but received: {shape}")
        if sizes[0] <= 0:
            raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
        if sizes[1] != new_col_vocab_size + num_col_oov_buckets:
            raise ValueError(
                "Expected 2nd dim of shape to be new_col_vocab_size + num_col_oov_buckets "
                f"({new_col_vocab_size} + {num_col_oov_buckets}), but received shape: {shape}"
            )
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        end = offset + sizes[0]
        if end > new_row_vocab_size + num_row_oov_buckets:
            raise ValueError(
                f"Trying to initialize {sizes[0]} additional rows after {offset} rows have already been initialized, which "
                f"would exceed expected total row count of new_row_vocab_size + num_row_oov_buckets ({new_row_vocab_size} + "
                f"{num_row_oov_buckets})."
            )
        buckets = min(sizes[0], max(0, end - new_row_vocab_size))
        with device("/cpu:0"):
            return load_and_remap_matrix(
                ckpt_path,
                old_tensor_name,
                min(offset, new_row_vocab_size),
                sizes[0] - buckets,
                new_col_vocab_size,
                otherwise,
                old_row_vocab_size,
                old_row_vocab_file,
                new_row_vocab_file,
                old_col_vocab_file,
                new_col_vocab_file,
                buckets,
                num_col_oov_buckets,
                max_rows_in_memory,
            )

    return _initializer


def load_embedding_initializer(
    ckpt_path: str,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: str,
    new_vocab_file: str,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """The same for an embedding, whose columns stay; without an `initializer`, new words are drawn at random.

    Source: `tf.contrib.framework.load_embedding_initializer`.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        new_vocab_size,
        embedding_dim,
        old_vocab_size,
        old_vocab_file,
        new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=TruncatedNormal(stddev=embedding_dim**-0.5) if initializer is None else initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def load_linear_multiclass_bias_initializer(
    ckpt_path: str,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: str,
    new_class_vocab_file: str,
    num_class_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """The same for biases [classes, 1] of a linear model, of which new ones are 0 without an `initializer`.

    Source: `tf.contrib.framework.load_linear_multiclass_bias_initializer`.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path,
        bias_tensor_name,
        new_class_vocab_size,
        1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def load_variable_slot_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """The same for a slot of an optimizer, which is the part of its variable that `primary_partition_info` says.

    Source: `tf.contrib.framework.load_variable_slot_initializer`.
    """
    of_matrix = load_and_remap_matrix_initializer(
        ckpt_path,
        old_tensor_name,
        new_row_vocab_size,
        new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def of_slot(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
        return of_matrix(shape, dtype, partition_info=primary_partition_info)

    return of_slot


def _check_files(old: str | None, new: str | None, what: str) -> None:
    if bool(old) != bool(new):
        raise ValueError(
            f"old_{what}_vocab_file and new_{what}_vocab_file must both be specified or left unspecified: {old!r}, {new!r}"
        )
