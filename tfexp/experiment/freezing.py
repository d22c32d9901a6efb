"""`train.freeze`: variables of the model that stay as they begin, by their names.

They are not among the graph's trainable variables any more, so that nothing differentiates, clips, or keeps slots for them;
and moving averages among them are not updated.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.core.op import flatten_args, group_inputs
from tfexp.experiment.errors import SettingError, no_such

__all__ = ["Frozen", "freeze"]

_KEY = "train.freeze"
_SHOWN = 3


@dataclass(frozen=True)
class Frozen:
    """The variables `names`, of the `of` that the model has, stay as they begin."""

    names: tuple[str, ...]
    of: int

    def __str__(self) -> str:
        shown = ", ".join(self.names[:_SHOWN]) + (", …" if len(self.names) > _SHOWN else "")
        return f"{len(self.names)} of {self.of} variables stay as they begin: {shown}"


def freeze(patterns: Sequence[str], scope: str) -> Frozen | None:
    """From here on, the default graph's variables in `scope` that one of the patterns means are not trained; None without
    patterns.

    In a pattern, `*` stands for any letters, `?` for one, `[ab]` for one of these. What a training step updates beside the
    optimizer (`tf.GraphKeys.UPDATE_OPS`) is left out where it changes one of them. Raises SettingError for a pattern that
    means none, or if none of the variables is left to be trained.
    """
    if not patterns:
        return None
    variables = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=scope)
    names = sorted({_name_of(variable) for variable in variables})
    found: set[str] = set()
    for pattern in patterns:
        meant = {name for name in names if fnmatch.fnmatchcase(name, pattern)}
        if not meant:
            raise SettingError(_KEY, no_such("variable", pattern, names))
        found |= meant
    still = {variable.op for variable in variables if _name_of(variable) in found}
    trained = tf.get_collection_ref(tf.GraphKeys.TRAINABLE_VARIABLES)
    trained[:] = [variable for variable in trained if variable.op not in still]
    if not trained:
        raise SettingError(_KEY, "all of the model's variables stay as they begin: nothing is left to learn")
    updates = tf.get_collection_ref(tf.GraphKeys.UPDATE_OPS)
    updates[:] = [update for update in updates if not _changes(update, still)]
    return Frozen(tuple(sorted(found)), len(names))


def _name_of(variable: Any) -> str:
    """That of the whole variable, where it is a piece of one."""
    part = variable._get_save_slice_info()
    return str(variable.op.name if part is None else part.full_name)


def _changes(update: Any, variables: set[Any]) -> bool:
    """Whether the op, or the tensor that it gives, needs a node to run that may write to one of the variables."""
    todo, seen = [update if isinstance(update, tf.Operation) else update.op], set()
    while todo:
        op = todo.pop()
        if op in seen:
            continue
        seen.add(op)
        if any(_source(tensor) in variables for tensor in _written_by(op)):
            return True
        todo += [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    return False


def _written_by(op: tf.Operation) -> list[tf.Tensor]:
    """The inputs of a node, references and resources, that it may change."""
    kind = op._op_def
    may_write = kind.writes_refs or not kind.on_variables
    resources = [tensor for tensor in op.inputs if tensor.dtype is tf.resource and may_write]
    if not kind.has_ref_inputs or not kind.writes_refs:
        return resources
    given = zip(kind.inputs, group_inputs(kind, op.inputs, op.attrs), strict=True)
    return resources + flatten_args([tensors for arg, tensors in given if arg.is_ref])


def _source(reference: tf.Tensor) -> tf.Operation:
    """The variable's own node, where a condition may have passed the reference, or the handle, on."""
    while reference.op.inputs:
        reference = reference.op.inputs[0]
    return reference.op
