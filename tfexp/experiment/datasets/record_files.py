"""Folders of TFRecord files with a row in each record, and the description that goes with them.

What a record is, is said in `record_rows`. `description.json` says what the rows are, and how many are in which file;
`python -m tfexp.records` writes both. Files that have none beside them are counted, which reads them once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Examples, Spec
from tfexp.experiment.datasets.record_rows import RowReader, no_rows, problem_of
from tfexp.experiment.datasets.skipped import NONE, Skipped, Tally
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.progress import Rows
from tfexp.formats.compressed_file import compression_by_name

__all__ = ["DESCRIPTION", "FORMAT", "Description", "Passed", "RecordFiles", "describe", "locate"]

T = TypeVar("T")

DESCRIPTION = "description.json"
FORMAT = "tfexp records, version 1"
_READ_AT_ONCE = 4096
_FRAME = 16
"""Bytes of a record beside its own: two checksums and the length."""


@dataclass(frozen=True)
class Description:
    """What `description.json` says: `train` and `test` are (file name, rows, bytes); see `Dataset` for the rest.

    `rows_sha256` is of the rows as they were written, `data_sha256` of the table that they were made from.
    """

    origin: str
    data_sha256: str
    rows_sha256: str
    spec: Spec
    columns: tuple[str, ...]
    compression: str
    train: tuple[tuple[str, int, int], ...]
    test: tuple[tuple[str, int, int], ...]

    def plain(self) -> dict[str, Any]:
        """In JSON's types."""
        plain = dataclasses.asdict(self)
        for part in ("train", "test"):
            plain[part] = [{"file": file, "rows": rows, "bytes": size} for file, rows, size in getattr(self, part)]
        return {"format": FORMAT, **plain}


@dataclass(frozen=True)
class Passed:
    """What is passed over in a file: the `records` of these numbers, and what follows where the file is `damaged`."""

    records: tuple[int, ...] = ()
    damaged: bool = False


@dataclass(frozen=True)
class RecordFiles:
    """`files` are absolute paths, in the order of their rows; `counts` the rows in each; all in one `compression`.

    `descriptions` are those of the folders that have one. `passed` says of each file what of it counts for nothing; empty
    where errors are not ignored.
    """

    files: tuple[str, ...]
    counts: tuple[int, ...]
    compression: str
    descriptions: tuple[Description, ...]
    passed: tuple[Passed, ...] = ()
    skipped: Skipped = NONE

    @property
    def rows(self) -> int:
        return sum(self.counts)

    @property
    def readable(self) -> tuple[int, ...]:
        """How many records can be read in each file, whether they are rows or not."""
        return tuple(rows + len(passed.records) for rows, passed in self._each(self.counts))

    def read(self, spec: Spec, limit: int | None = None) -> Examples:
        """The first `limit` rows, or all. Raises ExperimentError naming file and record."""
        parts = [no_rows(spec)]
        with RowReader(spec) as reader:
            for block in _blocks(itertools.islice(self._records(), limit)):
                try:
                    parts.append(reader.read(block))
                except tf.errors.InvalidArgumentError:
                    raise ExperimentError(str(self.fault(spec))) from None
        return Examples(np.concatenate([part.features for part in parts]), np.concatenate([part.labels for part in parts]))

    def _records(self) -> Iterator[bytes]:
        for file, passed in self._each(self.files):
            left_out = frozenset(passed.records)
            try:
                for number, record in enumerate(self._in(file)):
                    if number not in left_out:
                        yield record
            except tf.errors.OpError as error:
                if not passed.damaged:
                    raise ExperimentError(error.message) from error

    def _in(self, file: str) -> Iterator[bytes]:
        return tf.python_io.tf_record_iterator(file, tf.python_io.TFRecordOptions(self.compression))

    def _each(self, values: Sequence[T]) -> Iterator[tuple[T, Passed]]:
        return zip(values, self.passed or itertools.repeat(Passed()), strict=False)

    def fault(self, spec: Spec) -> str | None:
        """The first record that is not what it must be, looked for in all files: file, record, offset and what is wrong."""
        for file in self.files:
            offset = 0
            try:
                for number, record in enumerate(self._in(file)):
                    problem = problem_of(record, spec)
                    if problem:
                        return f"{file}: record {number} at offset {offset}: {problem}"
                    offset += len(record) + _FRAME
            except tf.errors.OpError as error:
                return error.message
        return None

    def checked(self, spec: Spec) -> RecordFiles:
        """The same files, each record of which was read: what cannot be, or is no row of such data, counts for nothing.

        As in tf.data, what follows a damaged record in its file is passed over, too. Raises ExperimentError where nothing is
        left.
        """
        tally, counts, passed = Tally(), [], []
        progress = Rows(f"looking for errors in {len(self.files)} files of records", self.rows)
        with RowReader(spec) as reader, contextlib.closing(progress):
            for file, listed in zip(self.files, self.counts, strict=True):
                readable, found = self._look_into(file, listed, reader, tally)
                counts.append(readable - len(found.records))
                passed.append(found)
                progress.done(min(sum(counts) + tally.skipped.rows, self.rows))
        if not any(counts):
            raise ExperimentError(f"no record can be read; the first reason: {tally.skipped.first[0]}")
        return dataclasses.replace(self, counts=tuple(counts), passed=tuple(passed), skipped=tally.skipped)

    def _look_into(self, file: str, listed: int, reader: RowReader, tally: Tally) -> tuple[int, Passed]:
        """How many records can be read, and what of them is to be passed over."""
        readable, offset, left_out = 0, 0, []
        try:
            for block in _blocks(self._in(file)):
                problems = reader.problems(block)
                for place, record in enumerate(block):
                    if place in problems:
                        tally.add(f"{file}: record {readable + place} at offset {offset}: {problems[place]}")
                        left_out.append(readable + place)
                    offset += len(record) + _FRAME
                readable += len(block)
        except tf.errors.DataLossError as error:
            tally.add(error.message, max(1, listed - readable))
            return readable, Passed(tuple(left_out), damaged=True)
        if readable < listed:
            tally.add(f"{file}: {readable} records are there, and {DESCRIPTION} lists {listed}", listed - readable)
        return readable, Passed(tuple(left_out))


def _blocks(records: Iterator[bytes]) -> Iterator[list[bytes]]:
    """So many at a time that reading them at once pays; those before an error come before it."""
    while True:
        block: list[bytes] = []
        try:
            for record in itertools.islice(records, _READ_AT_ONCE):
                block.append(record)
        except tf.errors.OpError:
            if block:
                yield block
            raise
        if not block:
            return
        yield block


# --- finding them ------------------------------------------------------------------------------------------------------


def describe(folder: Path) -> Description | None:
    """What is said of the folder's files; None if nothing is. Raises ExperimentError for a description that is none."""
    path = folder / DESCRIPTION
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if plain.pop("format") != FORMAT:
            raise ValueError(f"its format is not '{FORMAT}'")
        for part in ("train", "test"):
            plain[part] = tuple((str(f["file"]), int(f["rows"]), int(f["bytes"])) for f in plain[part])
        spec = Spec(**{**plain["spec"], "class_names": tuple(plain["spec"].get("class_names", ()))})
        return Description(**{**plain, "spec": spec, "columns": tuple(plain["columns"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExperimentError(f"{path} is not a description of records: {error}") from error


def locate(patterns: Sequence[str], part: str = "train", *, damaged: bool = False) -> RecordFiles:
    """The files of that part that folders, file names and globs stand for. Raises ExperimentError.

    In a folder with a description these are the files that it lists, which must be there in full; in one without, all
    whose names have `.tfrecord` in them. They may be `damaged` where they will be `checked`.
    """
    found: dict[str, int | None] = {}
    descriptions: dict[Path, Description] = {}
    for pattern in patterns:
        paths = [Path(p) for p in sorted(glob.glob(pattern, recursive=True))] if glob.has_magic(pattern) else [Path(pattern)]
        if not paths:
            raise ExperimentError(f"there is no file or folder {pattern}")
        for path in paths:
            folder = path if path.is_dir() else path.parent
            description = describe(folder)
            if description is not None:
                descriptions[folder.resolve()] = description
            for file, rows in _files(path, description, part, damaged):
                found[str(file.resolve())] = rows
    if not found:
        raise ExperimentError(f"there are no records in {', '.join(patterns)}")
    compression = _compression(list(found), descriptions)
    options = tf.python_io.TFRecordOptions(compression)
    return RecordFiles(
        tuple(found),
        tuple(_counted(file, options, damaged) if rows is None else rows for file, rows in found.items()),
        compression,
        tuple(descriptions.values()),
    )


def _files(path: Path, description: Description | None, part: str, damaged: bool) -> Iterator[tuple[Path, int | None]]:
    """The files that `path` stands for, with their rows where they are known."""
    if not path.exists():
        raise ExperimentError(f"there is no file or folder {path}")
    if description is None:
        if not path.is_dir():
            yield path, None
        else:
            yield from ((file, None) for file in sorted(path.glob("*.tfrecord*")) if file.is_file())
        return
    folder = path if path.is_dir() else path.parent
    listed = {file for file, _, _ in (*description.train, *description.test)}
    if not path.is_dir() and path.name not in listed:
        if path.name != DESCRIPTION:
            yield path, None
        return
    for file, rows, size in getattr(description, part):
        if path.is_dir() or path.name == file:
            where = folder / file
            if not where.is_file():
                raise ExperimentError(f"{where} is missing: {folder / DESCRIPTION} lists it, with {rows} rows")
            there = where.stat().st_size
            if there != size and not damaged:
                raise ExperimentError(f"{where} has {there} bytes, and {folder / DESCRIPTION} says {size}: it is damaged")
            yield where, rows


def _counted(file: str, options: tf.python_io.TFRecordOptions, damaged: bool) -> int:
    """The records in the file; where it may be damaged, those that can be read."""
    rows = 0
    try:
        for _ in tf.python_io.tf_record_iterator(file, options):
            rows += 1
    except tf.errors.OpError as error:
        if not damaged:
            raise ExperimentError(error.message) from error
    if not rows and not damaged:
        raise ExperimentError(f"{file}: there are no records in it")
    return rows


def _compression(files: list[str], descriptions: dict[Path, Description]) -> str:
    """Of all files together: what their folder's description says, else what their names say."""
    kinds: dict[str, str] = {}
    for file in files:
        description = descriptions.get(Path(file).parent)
        kinds.setdefault(compression_by_name(file) if description is None else description.compression, file)
    if len(kinds) > 1:
        said = ", ".join(f"{file} ({kind.lower() or 'plain'})" for kind, file in kinds.items())
        raise ExperimentError(f"all files must be compressed in one way, and these differ: {said}")
    return next(iter(kinds))
