"""Writes prepared data into a folder of TFRecord files: all of it, or nothing (see `datasets.record_files`)."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Dataset, Examples
from tfexp.experiment.datasets.record_files import DESCRIPTION, Description
from tfexp.experiment.datasets.record_rows import examples
from tfexp.experiment.errors import ExperimentError

__all__ = ["rows_digest", "write_records"]

Watch = Callable[[int], None]
_WATCH_EVERY = 256
"""Rows between two words to `watch`."""
_SUFFIXES = {"": "", "GZIP": ".gz", "ZLIB": ".zlib"}


def rows_digest(dataset: Dataset) -> str:
    """SHA-256 of all rows as they are trained and tested on."""
    sha = hashlib.sha256(repr(dataset.spec).encode())
    for part in (dataset.train, dataset.test):
        for array in (part.features, part.labels):
            sha.update(f"{array.shape}".encode())
            sha.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return sha.hexdigest()


def write_records(
    dataset: Dataset, folder: Path, shards: int, compression: str, watch: Watch = lambda rows: None
) -> Description:
    """Write the rows to train on into `shards` files and those to test on into one more, with their description.

    `watch` hears how many rows are written; what it raises ends the writing. The folder appears when it is complete.
    Raises ExperimentError if it is there already or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExperimentError(f"{folder} is there already: choose another folder, or remove it first")
    with _whole(folder) as unfinished:
        parts: dict[str, tuple[tuple[str, int, int], ...]] = {}
        written = 0
        for part, rows, count in (("train", dataset.train, shards), ("test", dataset.test, 1)):
            files = []
            for number, piece in enumerate(_pieces(rows, count)):
                name = f"{part}-{number:05}-of-{count:05}.tfrecord{_SUFFIXES[compression]}"
                with tf.python_io.TFRecordWriter(str(unfinished / name), compression) as writer:
                    for record in examples(piece, dataset.spec):
                        writer.write(record)
                        written += 1
                        if not written % _WATCH_EVERY:
                            watch(written)
                files.append((name, piece.rows, (unfinished / name).stat().st_size))
            parts[part] = tuple(files)
        watch(written)
        description = Description(
            dataset.origin,
            dataset.digest,
            rows_digest(dataset),
            dataset.spec,
            dataset.columns,
            compression,
            parts["train"],
            parts["test"],
        )
        text = json.dumps(description.plain(), indent=2) + "\n"
        (unfinished / DESCRIPTION).write_text(text, encoding="utf-8")
    return description


def _pieces(rows: Examples, count: int) -> Iterator[Examples]:
    """The rows in order, in `count` pieces of nearly one size."""
    cuts = [rows.rows * at // count for at in range(count + 1)]
    for start, stop in itertools.pairwise(cuts):
        yield Examples(rows.features[start:stop], rows.labels[start:stop])


@contextlib.contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes its name at the end of the block, and is gone if the block fails."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = folder.parent / f".{folder.name}.unfinished-{secrets.token_hex(4)}"
        unfinished.mkdir()
        try:
            yield unfinished
            os.rename(unfinished, folder)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    except OSError as error:
        raise ExperimentError(f"cannot write {folder}: {error.strerror}") from error
