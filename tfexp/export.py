"""`python -m tfexp.export FOLDER OUT`: a run's trained model as a SavedModel, to be asked for predictions.

  FOLDER   of the run
  OUT      a new folder, for the SavedModel
  --best   of the checkpoint with the lowest test loss (train.keep_best=true) instead of the last one

The model takes rows as the data has them and answers in the data's own unit: what standardizes the rows is in its graph.
TensorFlow, TensorFlow Serving and `tf.saved_model.load` run it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tfexp.experiment.checkpoints import one_checkpoint
from tfexp.experiment.cli import reported, settings_of_run
from tfexp.experiment.exporting import export
from tfexp.experiment.outputs import RunFiles
from tfexp.usage import while_read

_MOST_COLUMNS = 8


def main(argv: list[str] | None = None) -> int:
    """Export what the arguments name; the exit status is 2 for arguments that cannot be, 1 for folders that cannot."""
    parser = argparse.ArgumentParser(prog="python -m tfexp.export", description="A run's trained model as a SavedModel.")
    parser.add_argument("folder", type=Path, help="of the run")
    parser.add_argument("out", type=Path, help="a new folder")
    parser.add_argument("--best", action="store_true", help="the checkpoint with the lowest test loss, not the last one")
    given = parser.parse_args(sys.argv[1:] if argv is None else argv)
    return reported(lambda: _export(given.folder, given.out, given.best))


def _export(folder: Path, out: Path, best: bool) -> int:
    files = RunFiles(folder)
    settings = settings_of_run(folder)
    done = export(files, settings, one_checkpoint(files, best=best), out)
    names = done.dataset.columns
    columns = ", ".join(names[:_MOST_COLUMNS]) + (", …" if len(names) > _MOST_COLUMNS else "")
    print(f"{settings.title} after step {done.step}: {out}")
    inputs = {"features": done.features}
    for name, tensor in (*inputs.items(), *done.predictions.items()):
        shape = ", ".join("rows" if size is None else str(size) for size in tensor.shape.as_list())
        print(f"  {name:13}  {tensor.dtype.name} [{shape}]" + (f": {columns}" if name in inputs else ""))
    print(f'load it with tf.saved_model.load(session, ["serve"], {str(out)!r})')
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
