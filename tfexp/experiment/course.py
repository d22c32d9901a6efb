"""How far a run goes, and in what portions: what follows from `train` and the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Settings

__all__ = ["Course", "due"]


@dataclass(frozen=True)
class Course:
    """`total_steps` steps of `batch_size` rows, `steps_per_epoch` of them to an epoch."""

    batch_size: int
    steps_per_epoch: int
    total_steps: int

    @classmethod
    def of(cls, settings: Settings, dataset: Dataset) -> Course:
        """Raises SettingError for a batch that the rows, or the workers, cannot fill."""
        train, rows, workers = settings.train, dataset.rows, settings.cluster.worker_count
        if train.batch_size is not None and train.batch_size > rows:
            raise SettingError("train.batch_size", f"{train.batch_size} is more than the {rows} training rows")
        batch_size = train.batch_size or rows
        per_epoch = rows // batch_size
        if per_epoch < workers:
            raise SettingError(
                "train.batch_size",
                f"{'null' if train.batch_size is None else batch_size} makes {per_epoch} batch"
                f"{'' if per_epoch == 1 else 'es'} of {batch_size} rows in an epoch of {rows}, and each of the {workers} "
                f"workers needs one of its own: give at most {rows // workers}",
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
