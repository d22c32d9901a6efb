"""`tensorflow.python.training.warm_starting_util`, of warm starts. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.variable_base import Variable
from tfexp.train.checkpoint_utils import checkpoint_of
from tfexp.train.warm_starts import VocabInfo, from_vocabulary, whole_name

Initializer = Callable[..., Tensor]


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
