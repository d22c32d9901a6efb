"""`data=records`: what `python -m tfexp.records` wrote. With `input=tfrecord`, the rows to train on stay in their files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tfexp.experiment.datasets.dataset import Dataset, Prepared
from tfexp.experiment.datasets.record_files import DESCRIPTION, locate
from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import bounded

__all__ = ["Recorded"]


@dataclass(frozen=True, kw_only=True)
class Recorded(Prepared):
    """`files`: folders, each with its description. A run is evaluated on the first `evaluated` rows that it trains on,
    and on all of those kept for testing, which have to fit into memory.
    """

    files: tuple[str, ...] = bounded(says="folders that python -m tfexp.records has written")
    evaluated: int = bounded(least=1, says="evaluations use the first so many of the training rows")
    ignore_errors: bool = bounded(says="records that cannot be read are passed over and counted, instead of ending the run")

    def dataset(self) -> Dataset:
        if not self.files:
            raise SettingError("data.files", "give at least one folder that python -m tfexp.records has written")
        train = locate(self.files, damaged=self.ignore_errors)
        if len({(d.spec, d.columns) for d in train.descriptions}) != 1:
            said = ", ".join(f"{d.origin}: {d.spec}" for d in train.descriptions)
            problem = f"the rows are not all of one kind ({said})" if said else f"there is no {DESCRIPTION} in these folders"
            raise SettingError("data.files", problem)
        first = train.descriptions[0]
        test = locate(self.files, "test", damaged=self.ignore_errors)
        if self.ignore_errors:
            train, test = train.checked(first.spec), test.checked(first.spec)
        skipped = train.skipped + test.skipped
        digests = sorted(description.rows_sha256 for description in train.descriptions)
        if skipped.rows:
            digests += [f"{train.counts} {test.counts}"]
        return Dataset(
            train.read(first.spec, self.evaluated),
            test.read(first.spec),
            first.spec,
            first.columns,
            ", ".join(dict.fromkeys(description.origin for description in train.descriptions)),
            hashlib.sha256(" ".join(digests).encode()).hexdigest(),
            train,
            skipped,
        )
