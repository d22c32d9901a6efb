"""`python -m tfexp.records data=<choice> out=<folder>`: write a data set as TFRecord files that `input=tfrecord` reads.

  data=digits data.<setting>=<value>   what to write: any choice of the config group `data`, prepared as a run prepares it
  out=FOLDER                           a new folder: train-*.tfrecord, test-*.tfrecord and description.json
  shards=4                             files for the rows to train on
  compression=none                     none, gzip or zlib

Each record is a tf.train.Example with a float list `features` and the list `label` (int64 for classes, else float). The
folder appears when everything is written. Then:

  python -m tfexp model=mlp data=digits  input=tfrecord input.files=[FOLDER]
  python -m tfexp model=mlp data=records data.files=[FOLDER] input=tfrecord
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from tfexp.experiment.cli import data_of, reported
from tfexp.experiment.datasets.dataset import prepare
from tfexp.experiment.errors import Interrupted, SettingError, no_such
from tfexp.experiment.progress import Rows
from tfexp.experiment.recording import write_records
from tfexp.experiment.signals import StopRequest
from tfexp.usage import helped, while_read

_USAGE = "usage: python -m tfexp.records data=<choice> out=<folder> [shards=4] [compression=none|gzip|zlib]"
_COMPRESSIONS = {"none": "", "gzip": "GZIP", "zlib": "ZLIB"}


def main(argv: list[str] | None = None) -> int:
    """Write what the arguments name; the exit status is 2 for settings that cannot be, 1 for what goes wrong later."""
    words = sys.argv[1:] if argv is None else argv
    if (code := helped(words, _USAGE, __doc__, needs_words=True)) is not None:
        return code
    return reported(lambda: _write(words))


def _write(words: list[str]) -> int:
    own = {"out": "", "shards": "4", "compression": "none"}
    others = []
    for word in words:
        key, equals, value = word.partition("=")
        if key in own and equals:
            own[key] = value
        elif key in own or key.partition(".")[0] != "data":
            raise SettingError("", no_such("setting", key, [*own, "data"]) + f"\n{_USAGE}")
        else:
            others.append(word)
    if not own["out"]:
        raise SettingError("out", "give the folder to write: out=<folder>")
    if not own["shards"].isdecimal() or int(own["shards"]) < 1:
        raise SettingError("shards", f"'{own['shards']}' is not a whole number of at least 1")
    if own["compression"] not in _COMPRESSIONS:
        raise SettingError("compression", no_such("choice", own["compression"], _COMPRESSIONS))
    dataset, folder = prepare(data_of(others)).in_memory(), Path(own["out"])
    shards = int(own["shards"])
    if shards > dataset.train.rows:
        raise SettingError("shards", f"{shards} is more than the {dataset.train.rows} training rows")
    rows = dataset.train.rows + dataset.test.rows
    with StopRequest() as stop, contextlib.closing(Rows(f"writing {dataset.origin}", rows)) as progress:

        def watch(written: int) -> None:
            progress.done(written)
            if stop.signal is not None:
                raise Interrupted(stop.signal, "stopped: nothing was written")

        write_records(dataset, folder, shards, _COMPRESSIONS[own["compression"]], watch)
    print(f"{dataset.train.rows} rows to train on in {shards} files and {dataset.test.rows} to test on: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(while_read(main))
