"""`train.start_from`: a model that begins with what an earlier run has learned, where its variables are the same.

The values are read when the variables are initialised, by the tasks that hold these. What is no part of the model (the
step, the optimizer's slots) begins anew, and a run that goes on has its own checkpoints.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tfexp as tf
from tfexp.experiment.errors import SettingError

__all__ = ["Start", "begin_with"]

_KEY = "train.start_from"
_SHOWN = 3


@dataclass(frozen=True)
class Start:
    """The `checkpoint` that a model begins with: the variables `taken` do, those in `anew` do not.

    `step` is the one that the checkpoint is of; None if it does not say.
    """

    checkpoint: str
    step: int | None
    taken: tuple[str, ...]
    anew: tuple[str, ...]

    def __str__(self) -> str:
        where = self.checkpoint if self.step is None else f"{self.checkpoint} (step {self.step})"
        if not self.anew:
            return f"all {len(self.taken)} variables begin with the values in {where}"
        shown = ", ".join(self.anew[:_SHOWN]) + (", …" if len(self.anew) > _SHOWN else "")
        some = f"{len(self.taken)} of {len(self.taken) + len(self.anew)} variables"
        return f"{some} begin with the values in {where}; it has none of this shape for {shown}"


def begin_with(given: str, scope: str) -> Start:
    """From here on, initialising the default graph's variables in `scope` gives them the values that a checkpoint has under
    their names, in their shapes.

    `given` is a run's folder, a folder of checkpoints (of which the newest counts), or a checkpoint. Raises SettingError if
    there is none, or none of the variables is in it.
    """
    path = _checkpoint(Path(given).absolute())  # tasks have working directories of their own
    shapes: dict[str, list[int]] = tf.train.load_checkpoint(path).get_variable_to_shape_map()
    model: dict[str, Any] = {}
    here: dict[str, list[int]] = {}
    for variable in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=scope):
        part = variable._get_save_slice_info()
        if part is None:
            model[variable.op.name], here[variable.op.name] = variable, variable.shape.as_list()
        else:
            model.setdefault(part.full_name, []).append(variable)
            here[part.full_name] = list(part.full_shape)
    taken = {name: variable for name, variable in model.items() if shapes.get(name) == here[name]}
    if not taken:
        wanted = ", ".join(f"{name} {shape}" for name, shape in list(here.items())[:_SHOWN])
        raise SettingError(_KEY, f"{path} has none of this model's variables, such as {wanted}: is it of another model?")
    tf.train.init_from_checkpoint(path, taken)
    step = int(tf.train.load_variable(path, "global_step")) if "global_step" in shapes else None
    return Start(path, step, tuple(sorted(taken)), tuple(sorted(set(model) - set(taken))))


def _checkpoint(path: Path) -> str:
    folder = path / "checkpoints" if (path / "checkpoints").is_dir() else path
    try:
        found = tf.train.latest_checkpoint(str(folder)) if folder.is_dir() else str(path)
    except ValueError as error:
        raise SettingError(_KEY, f"{folder / 'checkpoint'} is damaged: give one of the checkpoints beside it") from error
    if found is None or not tf.train.checkpoint_exists(found):
        raise SettingError(_KEY, f"there is no checkpoint at {path}: give a run's folder, or a checkpoint in it")
    return str(found)
