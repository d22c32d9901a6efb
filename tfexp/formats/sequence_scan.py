"""Reads the values of features out of serialized `tf.SequenceExample`s: the context's, and those of the lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfexp.formats.example_scan import Column, column_of
from tfexp.formats.example_wire import MalformedError, scan_sequences

Wanted = Sequence[tuple[bytes, int]]


@dataclass(frozen=True)
class Lists:
    """A list of features in all records: `present` and `lengths` (its number of features) of each record.

    features: of all records' features, one after the other; a step without values counts as one.
    """

    present: np.ndarray
    lengths: np.ndarray
    features: Column


def read_sequences(records: Sequence[bytes], context: Wanted, lists: Wanted) -> tuple[list[Column], list[Lists]]:
    """The (key, kind) pairs that are wanted of the contexts and of the lists. MalformedError for other bytes."""
    scanned = []
    for position, record in enumerate(records):
        try:
            scanned.append(scan_sequences(record))
        except ValueError:
            raise MalformedError(position) from None
    rows = np.arange(len(records))
    columns = [column_of(records, rows, [found.get(key, (0, 0, 0)) for found, _ in scanned], kind) for key, kind in context]
    sequences = []
    for key, kind in lists:
        present = np.fromiter((key in found for _, found in scanned), np.bool_, len(records))
        steps = [found.get(key, []) for _, found in scanned]
        lengths = np.fromiter(map(len, steps), np.int64, len(records))
        spans = [span for of_record in steps for span in of_record]
        sequences.append(Lists(present, lengths, column_of(records, np.repeat(rows, lengths), spans, kind)))
    return columns, sequences
