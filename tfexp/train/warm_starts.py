"""`tf.train.warm_start`: begin with a trained model's variables, those of other vocabularies row by row. Source: TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import device, get_default_graph
from tfexp.ops import save, state
from tfexp.ops.array_gather import gather
from tfexp.ops.array_mask import where
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.variable_base import Variable
from tfexp.train.assignment_maps import init_from_checkpoint
from tfexp.train.checkpoint_utils import checkpoint_of

__all__ = ["VocabInfo", "warm_start"]


class VocabInfo(NamedTuple):
    """The vocabularies (files, a word a line) of a variable that has a row, or with `axis` 1 a column, for each word.

    Of each file the first so many words count (`old_vocab_size` -1: all). Words that are new, and the `num_oov_buckets`
    rows after them, begin with what `backup_initializer` gives (None: zeros). Source: `tf.train.VocabInfo`.
    """

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


def warm_start(
    ckpt_to_initialize_from: str,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """From here on, initializing the variables gives them a checkpoint's values.

    `vars_to_warm_start`: a regular expression that names of trainable variables begin with, a list of such expressions for
    all variables, a list of variables, or None for the trainable ones in `var_name_to_vocab_info` alone.
    `var_name_to_prev_var_name` says what a variable is called in the checkpoint, if not as it is here. ValueError for a name
    in these that is not one of the variables, and as `init_from_checkpoint`.
    """
    vocabularies, before = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    path = checkpoint_of(ckpt_to_initialize_from)
    variables = _by_name(_chosen(vars_to_warm_start))
    for names, what in ((vocabularies, "var_name_to_vocab_info"), (before, "var_name_to_prev_var_name")):
        unknown = sorted(set(names) - set(variables))
        if unknown:
            raise ValueError(
                f"You provided the following variables in {what} that were not used: {', '.join(unknown)}. "
                f"vars_to_warm_start chooses {', '.join(sorted(variables))}"
            )
    for name, parts in variables.items():
        if name in vocabularies:
            for variable in (copy for part in parts for copy in part._every_copy):
                from_vocabulary(variable, path, before.get(name, name), vocabularies[name])
    whole = {before.get(name, name): parts for name, parts in variables.items() if name not in vocabularies}
    if whole and vars_to_warm_start is not None:
        init_from_checkpoint(path, {name: parts if len(parts) > 1 else parts[0] for name, parts in whole.items()})


def _chosen(wanted: Any) -> list[Any]:
    graph = get_default_graph()
    if wanted is None or isinstance(wanted, str):
        return list(graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=wanted))
    everything = list(graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
    if not isinstance(wanted, (list, tuple)):
        raise ValueError(f"vars_to_warm_start must be a list or str. Given type is {type(wanted)}")
    chosen: list[Any] = []
    for one in wanted:
        if isinstance(one, str):
            chosen += [variable for variable in everything if re.match(one, variable.op.name)]
        elif isinstance(one, PartitionedVariable | list | tuple):
            chosen += list(one)
        elif isinstance(one, Variable):
            chosen.append(one)
        else:
            raise ValueError(f"vars_to_warm_start holds regular expressions and variables, not {one!r}")
    return chosen


def whole_name(variable: Any) -> str:
    """The name of the variable that this one is a part of, or its own."""
    info = variable._save_slice_info
    return str(variable.op.name if info is None else info.full_name)


def _by_name(variables: Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for variable in dict.fromkeys(variables):
        found.setdefault(whole_name(variable), []).append(variable)
    return found


def from_vocabulary(variable: Any, path: str, name: str, vocabulary: VocabInfo) -> None:
    """Nodes that take each word's values from where the checkpoint has them, as the variable's initial value."""
    info, axis = variable._save_slice_info, vocabulary.axis
    words = _words(vocabulary.new_vocab, vocabulary.new_vocab_size)
    place = {word: at for at, word in enumerate(_words(vocabulary.old_vocab, vocabulary.old_vocab_size))}
    sources = np.full(len(words) + vocabulary.num_oov_buckets, -1, np.int64)
    sources[: len(words)] = [place.get(word, -1) for word in words]
    begin = 0 if info is None else info.var_offset[axis]
    shape = variable.shape.as_list()
    size = shape[axis]
    whole = size if info is None else info.full_shape[axis]
    if whole != len(sources):
        raise ValueError(
            f"{name} has {whole} in dimension {axis}, and its vocabulary {vocabulary.new_vocab} has {len(words)} words and "
            f"{vocabulary.num_oov_buckets} buckets: {len(sources)}"
        )
    own = sources[begin : begin + size]
    backup = vocabulary.backup_initializer or zeros_initializer()
    with device(variable.device), device("/cpu:0"):
        dtype = variable.dtype.base_dtype
        old = save.restore_v2(path, [name], [""], dtypes=[dtype], name="checkpoint_initializer")[0]
        if info is not None:  # of the other dimensions, the part that this variable is
            old = slice_(
                old,
                [0 if at == axis else offset for at, offset in enumerate(info.var_offset)],
                [-1 if at == axis else part for at, part in enumerate(shape)],
            )
        taken = gather(old, np.maximum(own, 0), axis=axis)
        # rows are told apart by a vector; for what else there is, each number has to be
        known = own >= 0 if axis == 0 else np.broadcast_to((own >= 0).reshape(*[1] * axis, -1), shape)
        value = where(known, taken, backup(shape, dtype=dtype))
        variable._initializer_op = state.assign(variable, value).op
    variable._initial_value = value


def _words(path: str, size: int) -> list[str]:
    """The first `size` words of a file, or all. ValueError if it has fewer."""
    with open(path, encoding="utf-8") as file:
        words = file.read().split("\n")
    words = words[:-1] if words and not words[-1] else words
    if size > len(words):
        raise ValueError(f"{path} has {len(words)} words, and {size} were to be taken")
    return words if size < 0 else words[:size]
