"""`python -m tfexp.predict FOLDER FILE`: what a run's trained model says of each row of a CSV file.

  FOLDER   of the run
  FILE     of comma-separated values, with the columns that the run learned from, in any order
  --out    a new file for the rows; without it, they are printed
  --best   the checkpoint with the lowest test loss (train.keep_best=true) instead of the last one

The rows come out as they are in the file, with what the model says in columns behind. If the file has the column of the
labels, too (data=csv), the loss and the metrics over its rows are said, in a line on standard error.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from tfexp.core.wording import plural
from tfexp.experiment.checkpoints import one_checkpoint
from tfexp.experiment.cli import reported, settings_of_run
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.exporting import serving
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.predicting import evaluated, predicted, read_rows
from tfexp.usage import while_read


def main(argv: list[str] | None = None) -> int:
    """Write what the arguments ask for; the exit status is 2 for arguments that cannot be, 1 for files that cannot."""
    parser = argparse.ArgumentParser(prog="python -m tfexp.predict", description="What a run's model says of a file's rows.")
    parser.add_argument("folder", type=Path, help="of the run")
    parser.add_argument("file", help="of comma-separated values, with the columns that the run learned from")
    parser.add_argument("--out", type=Path, help="a new file for the rows; without it, they are printed")
    parser.add_argument("--best", action="store_true", help="the checkpoint with the lowest test loss, not the last one")
    given = parser.parse_args(sys.argv[1:] if argv is None else argv)
    return reported(lambda: _predict(given.folder, given.file, given.out, given.best))


def _predict(folder: Path, file: str, out: Path | None, best: bool) -> int:
    files = RunFiles(folder)
    settings = settings_of_run(folder)
    with serving(files, settings, one_checkpoint(files, best=best)) as model:
        rows = read_rows(file, settings, model)
        table = predicted(rows, model)
        if out is None:
            _write(sys.stdout, *table)
        else:
            try:
                with out.open("x", encoding="utf-8", newline="") as written:
                    _write(written, *table)
            except OSError as error:
                raise ExperimentError(f"cannot write {out}: {error.strerror}") from error
        if rows.labels is not None:
            numbers = evaluated(rows, settings, model)
            said = "  ".join(f"{name} {value:.6g}" for name, value in numbers.items())
            over = plural(len(rows.cells), "row")
            print(f"{settings.title} after step {model.step}, over {over}: {said}", file=sys.stderr)
    return 0


def _write(stream: TextIO, names: list[str], rows: Iterable[list[str]]) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(while_read(main))
