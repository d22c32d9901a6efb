"""A row as a record, and a record as a row: the `tf.Example`s that `record_files` are made of.

A record has the float list `features` and the list `label`: one int64 where the data has classes, else one float.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Examples, Spec

__all__ = ["RowReader", "examples", "no_rows", "parsed", "problem_of", "schema_of"]


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


def no_rows(spec: Spec) -> Examples:
    """Rows of such data, of which there are none."""
    labels = np.empty((0, 1), np.float32) if spec.classes is None else np.empty(0, np.int64)
    return Examples(np.empty((0, spec.width), np.float32), labels)


class RowReader(contextlib.AbstractContextManager["RowReader"]):
    """Reads many records at once."""

    def __init__(self, spec: Spec):
        self._spec = spec
        with tf.Graph().as_default() as graph:
            self._strings = tf.placeholder(tf.string, [None])
            self._rows = parsed(self._strings, spec)
            self._session = tf.Session(graph=graph)

    def __exit__(self, *error: object) -> None:
        self._session.close()

    def read(self, records: Sequence[bytes]) -> Examples:
        """Their rows. Raises InvalidArgumentError if one is no row of such data."""
        return Examples(*self._session.run(self._rows, {self._strings: np.array(records, object)}))

    def problems(self, records: Sequence[bytes]) -> dict[int, str]:
        """What is wrong with those that are no rows, by their places."""
        try:
            labels = self.read(records).labels
        except tf.errors.InvalidArgumentError:
            suspects: Sequence[int] = range(len(records))
        else:
            classes = self._spec.classes
            suspects = [] if classes is None else np.flatnonzero((labels < 0) | (labels >= classes)).tolist()
        found = ((place, problem_of(records[place], self._spec)) for place in suspects)
        return {place: problem for place, problem in found if problem is not None}


def problem_of(record: bytes, spec: Spec) -> str | None:
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
