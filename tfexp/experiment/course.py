"""How far a run goes, and in what portions: what follows from `train` and the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

from tfexp.core.wording import plural
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Settings

__all__ = ["Course", "due"]


@dataclass(frozen=True)
class Course:
    """`total_steps` steps of `batch_size` rows (of all copies together where they make a step together), of which an epoch
    has `steps_per_epoch`.
    """

    batch_size: int
    steps_per_epoch: int
    total_steps: int

    @classmethod
    def of(cls, settings: Settings, dataset: Dataset) -> Course:
        """Raises SettingError for a batch that the rows, or the workers, cannot fill."""
        train, rows, copies = settings.train, dataset.rows, settings.copies
        if train.batch_size is not None and train.batch_size > rows:
            raise SettingError("train.batch_size", f"{train.batch_size} is more than the {rows} training rows")
        batch_size = train.batch_size or rows
        per_epoch = rows // batch_size
        given = "null" if train.batch_size is None else str(batch_size)
        called = "workers" if settings.cluster.tasks else "towers"
        if copies > rows:
            where = "cluster.workers" if settings.cluster.tasks else "replication.towers"
            raise SettingError(where, f"{copies} {called} are more than the {rows} training rows")
        if settings.update.together and batch_size % copies:
            down = batch_size // copies * copies
            raise SettingError(
                "train.batch_size",
                f"{given} makes a batch of {batch_size} rows, which update=sync divides among the {copies} {called}: give a "
                f"multiple of {copies} such as {down or copies}",
            )
        if not settings.update.together and per_epoch < copies:
            raise SettingError(
                "train.batch_size",
                f"{given} makes {plural(per_epoch, 'batch')} of {batch_size} rows in an epoch of "
                f"{rows}, and each of the {copies} {called} needs one of its own: give at most {rows // copies}",
            )
        steps = train.steps if train.epochs is None else train.epochs * per_epoch
        assert steps is not None  # Train refuses settings with neither
        return cls(batch_size, per_epoch, steps)


def due(every: int, step: int, since: int | None = None) -> bool:
    """Whether something that happens `every` so many steps (0: never) happens at `step`, or with `since`, between the two.

    What only happens at `step` itself happens at step 0, too.
    """
    if since is None:
        return step == 0 or (every > 0 and step % every == 0)
    return every > 0 and step // every > since // every
