"""Folders of TFRecord files with a row in each record, and the description that goes with them.

A record is a `tf.Example` with the float list `features` and the list `label`: one int64 where the data has classes, else
one float. `description.json` says what the rows are, and how many are in which file; `python -m tfexp.records` writes both.
Files that have none beside them are counted, which reads them once.
"""

from __future__ import annotations

import dataclasses
import glob
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Examples, Spec
from tfexp.experiment.errors import ExperimentError

__all__ = ["DESCRIPTION", "FORMAT", "Description", "RecordFiles", "describe", "examples", "locate", "parsed", "schema_of"]

DESCRIPTION = "description.json"
FORMAT = "tfexp records, version 1"
_READ_AT_ONCE = 4096


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
class RecordFiles:
    """`files` are absolute paths, in the order of their rows; `counts` the rows in each; all in one `compression`.

    `descriptions` are those of the folders that have one.
    """

    files: tuple[str, ...]
    counts: tuple[int, ...]
    compression: str
    descriptions: tuple[Description, ...]

    @property
    def rows(self) -> int:
        return sum(self.counts)

    def read(self, spec: Spec, limit: int | None = None) -> Examples:
        """The first `limit` rows, or all. Raises ExperimentError naming file and record."""
        features, labels = [np.empty((0, spec.width), np.float32)], [_no_labels(spec)]
        with tf.Graph().as_default(), tf.Session() as session:
            strings = tf.placeholder(tf.string, [None])
            rows = parsed(strings, spec)
            records = itertools.islice(self._records(), limit)
            while block := list(itertools.islice(records, _READ_AT_ONCE)):
                try:
                    some = session.run(rows, {strings: np.array(block, object)})
                except tf.errors.InvalidArgumentError:
                    raise ExperimentError(str(self.fault(spec))) from None
                features.append(some[0])
                labels.append(some[1])
        return Examples(np.concatenate(features), np.concatenate(labels))

    def _records(self) -> Iterator[bytes]:
        for file in self.files:
            try:
                yield from tf.python_io.tf_record_iterator(file, tf.python_io.TFRecordOptions(self.compression))
            except tf.errors.OpError as error:
                raise ExperimentError(error.message) from error

    def fault(self, spec: Spec) -> str | None:
        """The first record that is not what it must be, looked for in all files: file, record, offset and what is wrong."""
        options = tf.python_io.TFRecordOptions(self.compression)
        for file in self.files:
            offset = 0
            try:
                for number, record in enumerate(tf.python_io.tf_record_iterator(file, options)):
                    problem = _problem(record, spec)
                    if problem:
                        return f"{file}: record {number} at offset {offset}: {problem}"
                    offset += len(record) + 16  # two checksums and the length
            except tf.errors.OpError as error:
                return error.message
        return None


def schema_of(spec: Spec) -> dict[str, tf.FixedLenFeature]:
    """What `tf.parse_example` finds in a record."""
    label = tf.FixedLenFeature([1], tf.float32) if spec.classes is None else tf.FixedLenFeature([], tf.int64)
    return {"features": tf.FixedLenFeature([spec.width], tf.float32), "label": label}


def parsed(strings: tf.Tensor, spec: Spec) -> tuple[tf.Tensor, tf.Tensor]:
    """Serialized Examples [rows] as features [rows, width] and labels."""
    found = tf.parse_example(strings, schema_of(spec))
    return found["features"], found["label"]


def examples(rows: Examples, spec: Spec) -> Iterator[bytes]:
    """The records of rows."""
    for features, label in zip(rows.features, rows.labels, strict=True):
        listed = (
            tf.train.Feature(float_list=tf.train.FloatList(value=label))
            if spec.classes is None
            else tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)]))
        )
        row = {"features": tf.train.Feature(float_list=tf.train.FloatList(value=features)), "label": listed}
        yield tf.train.Example(features=tf.train.Features(feature=row)).SerializeToString(deterministic=True)


def _no_labels(spec: Spec) -> np.ndarray:
    return np.empty((0, 1), np.float32) if spec.classes is None else np.empty(0, np.int64)


def _problem(record: bytes, spec: Spec) -> str | None:
    """Why a record is no row of such data."""
    example = tf.train.Example()
    try:
        example.ParseFromString(record)
    except Exception as error:  # protobuf's implementations differ in what they raise
        return f"it is not a tf.Example: {error}"
    found = example.features.feature
    label = "float_list" if spec.classes is None else "int64_list"
    for name, kind, count in (("features", "float_list", spec.width), ("label", label, 1)):
        if name not in found:
            return f"it has no '{name}', only {', '.join(sorted(found)) or 'nothing'}"
        given = found[name].WhichOneof("kind")
        values = getattr(found[name], kind).value
        if given != kind:
            return f"its '{name}' is a {given}, and must be a {kind}"
        if len(values) != count:
            return f"its '{name}' has {len(values)} values, and the data has {count}"
    if spec.classes is not None and not 0 <= found["label"].int64_list.value[0] < spec.classes:
        return f"its label {found['label'].int64_list.value[0]} is not one of the classes 0 to {spec.classes - 1}"
    return None


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
        return Description(**{**plain, "spec": Spec(**plain["spec"]), "columns": tuple(plain["columns"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExperimentError(f"{path} is not a description of records: {error}") from error


def locate(patterns: Sequence[str], part: str = "train") -> RecordFiles:
    """The files of that part that folders, file names and globs stand for. Raises ExperimentError.

    In a folder with a description these are the files that it lists, which must be there in full; in one without, all
    whose names have `.tfrecord` in them.
    """
    found: dict[str, int | None] = {}
    descriptions: dict[Path, Description] = {}
    for pattern in patterns:
        paths = [Path(p) for p in sorted(glob.glob(pattern))] if glob.has_magic(pattern) else [Path(pattern)]
        if not paths:
            raise ExperimentError(f"there is no file or folder {pattern}")
        for path in paths:
            folder = path if path.is_dir() else path.parent
            description = describe(folder)
            if description is not None:
                descriptions[folder.resolve()] = description
            for file, rows in _files(path, description, part):
                found[str(file.resolve())] = rows
    if not found:
        raise ExperimentError(f"there are no records in {', '.join(patterns)}")
    compression = _compression(list(found), descriptions)
    options = tf.python_io.TFRecordOptions(compression)
    return RecordFiles(
        tuple(found),
        tuple(_counted(file, options) if rows is None else rows for file, rows in found.items()),
        compression,
        tuple(descriptions.values()),
    )


def _files(path: Path, description: Description | None, part: str) -> Iterator[tuple[Path, int | None]]:
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
            if there != size:
                raise ExperimentError(f"{where} has {there} bytes, and {folder / DESCRIPTION} says {size}: it is damaged")
            yield where, rows


def _counted(file: str, options: tf.python_io.TFRecordOptions) -> int:
    try:
        rows = sum(1 for _ in tf.python_io.tf_record_iterator(file, options))
    except tf.errors.OpError as error:
        raise ExperimentError(error.message) from error
    if not rows:
        raise ExperimentError(f"{file}: there are no records in it")
    return rows


def _compression(files: list[str], descriptions: dict[Path, Description]) -> str:
    """Of all files together: what their folder's description says, else what their names say."""
    kinds: dict[str, str] = {}
    for file in files:
        description = descriptions.get(Path(file).parent)
        named = {".gz": "GZIP", ".zlib": "ZLIB", ".zz": "ZLIB"}.get(Path(file).suffix, "")
        kinds.setdefault(named if description is None else description.compression, file)
    if len(kinds) > 1:
        said = ", ".join(f"{file} ({kind.lower() or 'plain'})" for kind, file in kinds.items())
        raise ExperimentError(f"all files must be compressed in one way, and these differ: {said}")
    return next(iter(kinds))
