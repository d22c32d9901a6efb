"""`python -m tfexp.preview [override …]`: what a run would learn, from which data, and in how many steps.

  override       as for python -m tfexp: model=cnn, train.steps=100
  --config-dir   a folder with groups and choices of one's own, as for python -m tfexp

Nothing is run and nothing is written: the data is read, the graph is built, and shown are the columns and the labels, the
course of the steps, and the model's variables with their shapes and sizes.
"""

from __future__ import annotations

import argparse
import sys

from tfexp.experiment.cli import reported
from tfexp.experiment.composing import settings_of
from tfexp.usage import while_read


def main(argv: list[str] | None = None) -> int:
    """Show what the arguments choose; the exit status is 2 for settings that cannot be, 1 for what goes wrong later."""
    parser = argparse.ArgumentParser(prog="python -m tfexp.preview", description="What a run would be; nothing is run.")
    parser.add_argument("words", nargs="*", metavar="override", help="as for python -m tfexp: model=cnn, train.steps=100")
    parser.add_argument("--config-dir", metavar="FOLDER", help="with groups and choices of one's own")
    given = parser.parse_intermixed_args(sys.argv[1:] if argv is None else argv)
    return reported(lambda: _preview(given.words, given.config_dir))


def _preview(words: list[str], config_dir: str | None) -> int:
    settings = settings_of(words, config_dir)

    from tfexp.experiment.previewing import show_preview
    from tfexp.experiment.runner import Experiment

    show_preview(Experiment.of(settings))
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
