"""`python -m tfexp.reproduce <folder>`: run what a run's folder holds once more, and say whether the numbers agree.

  FOLDER           of a run that ended: its config.yaml is run again, in a folder of its own
  --out FOLDER     where; default: outputs/<date>/<time>-rerun
  --spread 0.1     of workers that are not synchronised: how far a metric may be off, as a part of the way that it went

A run of one process is deterministic: its numbers have to agree to the bit. What differs in the environment (versions,
code, data, machine) is shown. The exit status is 0 if the numbers agree and 1 if they do not. `python -m tfexp
rerun=<folder>` does the same.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from tfexp.experiment.cli import reported, reproduce
from tfexp.experiment.reproducing import SPREAD
from tfexp.usage import while_read


def main(argv: list[str] | None = None) -> int:
    """Run it again; the exit status is 0 where the numbers agree, 1 where they do not, 2 for arguments that cannot be."""
    parser = argparse.ArgumentParser(
        prog="python -m tfexp.reproduce", description="Run a run's folder once more and compare the numbers."
    )
    parser.add_argument("folder", type=Path, help="of a run that ended")
    parser.add_argument("--out", metavar="FOLDER", help="of the new run; default: outputs/<date>/<time>-rerun")
    parser.add_argument(
        "--spread",
        type=float,
        default=SPREAD,
        help="of workers that are not synchronised: how far a metric may be off, as a part of the way that it went in "
        f"training; default: {SPREAD:g}",
    )
    words = sys.argv[1:] if argv is None else argv
    given = parser.parse_args(words)
    if not 0 <= given.spread < float("inf"):
        parser.error(f"--spread: {given.spread} must be at least 0")
    command = f"python -m tfexp.reproduce {shlex.join(words)}"
    return reported(
        lambda: reproduce(given.folder, None if given.out is None else _quoted(given.out), given.spread, command)
    )


def _quoted(path: str) -> str:
    """As a value in Hydra's grammar."""
    escaped = path.replace("'", "\\'")
    return f"'{escaped}'"


if __name__ == "__main__":
    sys.exit(while_read(main))
