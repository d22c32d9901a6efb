"""Checkpoints by the names of variables, in eager execution: `tf.contrib.eager.Saver` and its kin. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core.errors import NotFoundError
from tfexp.graph.scopes import executing_eagerly
from tfexp.ops.eager_variables import telling_of_variables
from tfexp.train import saver
from tfexp.train.checkpoint_utils import load_checkpoint


class Saver:
    """Saves and restores variables: a list of them, or a dict by their names in checkpoints. RuntimeError in a graph."""

    def __init__(self, var_list: Any):
        if not executing_eagerly():
            raise RuntimeError(
                "tfe.Saver can only be used when eager execution is enabled. Use tf.train.Saver when building graphs."
            )
        self._saver = saver.Saver(var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str:
        """The prefix of the new checkpoint: `file_prefix`, with the step if there is one."""
        return str(self._saver.save(None, file_prefix, global_step, write_meta_graph=False))

    def restore(self, file_prefix: str) -> None:
        """Gives the variables their values of a checkpoint."""
        self._saver.restore(None, file_prefix)


@contextlib.contextmanager
def restore_variables_on_create(save_path: str | None, map_func: Callable[[str], str] | None = None) -> Iterator[None]:
    """Variables that are made in the block have their values of a checkpoint (None: of none, and nothing is done).

    map_func: from the name of a variable to that in the checkpoint. Of several variables that have one name there, the first
    has the value. ValueError in a graph, and for a `map_func` that is no function; NotFoundError where a variable is made
    that the checkpoint lacks.
    """
    if not executing_eagerly():
        raise ValueError("restore_variables_on_create can only be used with eager execution enabled.")
    if not save_path:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    with load_checkpoint(save_path) as reader:
        values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
    taken: set[str] = set()

    def restore(variable: Any) -> None:
        own = variable.name.partition(":")[0]
        name = own if map_func is None else map_func(own)
        if name not in values:
            raise NotFoundError(None, None, f"{name} not found in checkpoint")
        if name not in taken:
            variable.assign(values[name])
            taken.add(name)

    with telling_of_variables(restore):
        yield
