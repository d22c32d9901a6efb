"""`python -m tfexp.new NAME`: begin an experiment of one's own, in the folder experiments/NAME.

It runs at once, from any folder, with an installed tfexp or a checkout:

  python -m tfexp.new my_experiment
  python -m tfexp experiment=my_experiment

The folder has a model class, a configuration, a test, and a README to fill with claim, command and result.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfexp.experiment.cli import reported
from tfexp.experiment.errors import SettingError
from tfexp.experiment.own import write_new
from tfexp.usage import helped, while_read

_USAGE = "usage: python -m tfexp.new NAME"


def main(argv: list[str] | None = None) -> int:
    """Write the folder that the argument names; the status is 2 for a name that cannot be, 1 if it cannot be written."""
    words = sys.argv[1:] if argv is None else argv
    if (code := helped(words, _USAGE, __doc__, needs_words=True)) is not None:
        return code
    return reported(lambda: _write(words))


def _write(words: list[str]) -> int:
    if len(words) > 1:
        raise SettingError("", f"one name, and nothing else: {_USAGE}")
    name = words[0]
    folder = write_new(name, Path("experiments"))
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(f"wrote {path}")
    print(f"\ntrain it          python -m tfexp experiment={name}")
    print(f"check the model   python -m pytest {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
