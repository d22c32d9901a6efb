"""`tensorflow.python.training`: `checkpoint_ops` and `warm_starting_util`, of warm starts. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.scopes import device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat
from tfexp.ops.initializers import TruncatedNormal, zeros_initializer
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.remapping import generate_vocab_remapping_op, load_and_remap_matrix_op
from tfexp.ops.variable_base import Variable
from tfexp.train.checkpoint_utils import checkpoint_of
from tfexp.train.warm_starts import VocabInfo, from_vocabulary, whole_name

Initializer = Callable[..., Tensor]


def _load_and_remap_matrix(
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

    A vocabulary whose files are not given is as it was. ValueError for numbers of buckets below 0.
    """
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
        initializer([missing], dtype=dtypes.float32),
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


def _load_and_remap_matrix_initializer(
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
    """An initializer that gives a variable, or a part of its rows, what `_load_and_remap_matrix` finds for them.

    TypeError where the variable is not float32, ValueError where it has another shape.
    """
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
            return _load_and_remap_matrix(
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


def _load_embedding_initializer(
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
    """The same for an embedding, whose columns stay; without an `initializer`, new words are drawn at random."""
    return _load_and_remap_matrix_initializer(
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


# --- `warm_starting_util` ----------------------------------------------------------------------------------------------


def _warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: str,
    current_vocab_size: int,
    prev_ckpt: str,
    prev_vocab_path: str,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Initializer | None = None,
    axis: int = 0,
) -> None:
    """From here on, initializing the variable, or its parts, gives each word of its vocabulary what a checkpoint has.

    ValueError where one of the variable, the vocabularies and the checkpoint is not given.
    """
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path]. "
            f"current_vocab_path={current_vocab_path}, current_vocab_size={current_vocab_size}, prev_ckpt={prev_ckpt}, "
            f"prev_vocab_path={prev_vocab_path}"
        )
    vocabulary = VocabInfo(
        current_vocab_path,
        current_vocab_size,
        current_oov_buckets,
        prev_vocab_path,
        previous_vocab_size,
        initializer,
        axis,
    )
    parts: Iterable[Any] = [var] if isinstance(var, Variable) else var
    for part in parts:
        from_vocabulary(part, checkpoint_of(prev_ckpt), prev_tensor_name or whole_name(part), vocabulary)


def _infer_var_name(var: Any) -> str:
    """What a variable, or that of which these are the parts, is called in a checkpoint."""
    return whole_name(var[0] if isinstance(var, list) else var)


def _get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """(What a checkpoint calls it, the variable or its parts). TypeError for anything else than these."""
    parts = list(var) if isinstance(var, (list, PartitionedVariable)) else var
    if not all(isinstance(part, Variable) for part in (parts if isinstance(parts, list) else [parts])):
        raise TypeError(
            f"var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, not {var!r}"
        )
    return prev_tensor_name or _infer_var_name(parts), parts
