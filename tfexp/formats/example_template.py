"""Serialized `tf.Example`s that are like ones seen before: only the bytes of their values differ.

A template is such a record with its values cut out. Records of its length that have its bytes in all other places have
their values in the same places, so that one comparison of a matrix of bytes reads them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfexp.formats.example_wire import INTS, MalformedError, Span, payloads, scan

_FEW = 4  # records below which a template does not pay
_SHARE = 4  # and one in so many records must have its length
_OF_ONE_LENGTH = 4  # templates that are kept for a length
_LENGTHS = 512  # lengths for which templates are kept

# (begin, end) of the texts, or packed parts, of a feature.
Places = list[tuple[int, int]]


@dataclass(frozen=True)
class Template:
    """`fixed`: which bytes of a record are no values; `features`: (kind, places) by key; `ends`: last bytes of integers."""

    data: np.ndarray
    fixed: np.ndarray
    features: dict[bytes, tuple[int, Places]]
    ends: np.ndarray

    @classmethod
    def of(cls, record: bytes, spans: dict[bytes, Span]) -> Template:
        """The template that `record` fits; ValueError where its lists are malformed."""
        features = {key: (span[0], payloads(record, span) if span[0] else []) for key, span in spans.items()}
        fixed = np.ones(len(record), np.bool_)
        ends: list[int] = []
        for kind, places in features.values():
            for begin, end in places:
                fixed[begin:end] = False
            if kind == INTS:
                ends += [end - 1 for begin, end in places if end > begin]
        where = np.flatnonzero(fixed)
        return cls(np.frombuffer(record, np.uint8)[where], where, features, np.array(ends, np.int64))

    def fits(self, matrix: np.ndarray) -> np.ndarray:
        """Which of these records, one in each row, are like it."""
        same: np.ndarray = (matrix.take(self.fixed, axis=1) == self.data).all(axis=1)
        if len(self.ends):
            same &= (matrix.take(self.ends, axis=1) < 0x80).all(axis=1)
        return same


@dataclass(frozen=True)
class Alike:
    """Records (`rows` of them, in `matrix`) that fit a template."""

    rows: np.ndarray
    records: Sequence[bytes]
    matrix: np.ndarray
    template: Template

    def texts(self, key: bytes) -> list[bytes]:
        """The feature's texts, record by record."""
        places = self.template.features[key][1]
        if len(places) == 1:
            begin, end = places[0]
            return [record[begin:end] for record in self.records]
        return [record[begin:end] for record in self.records for begin, end in places]

    def bytes_of(self, key: bytes) -> np.ndarray:
        """The feature's packed bytes, a row for each record."""
        parts = [self.matrix[:, begin:end] for begin, end in self.template.features[key][1]]
        return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))


class Templates:
    """The templates that records fitted so far. May be used by several threads."""

    def __init__(self) -> None:
        self._known: dict[int, list[Template]] = {}

    def split(self, records: Sequence[bytes]) -> tuple[list[Alike], np.ndarray]:
        """Groups of records that are alike, and the indices of the others. MalformedError for one that is no Example."""
        enough = max(_FEW, len(records) // _SHARE)
        sizes = Counter(map(len, records))
        tried = [size for size, count in sizes.items() if count >= enough or size in self._known]
        rows = np.arange(len(records))
        if not tried:
            return [], rows
        groups: list[Alike] = []
        if len(sizes) == 1:
            return groups, self._of_length(tried[0], rows, records, groups)
        lengths = np.fromiter(map(len, records), np.int64, len(records))
        rest = [np.flatnonzero(~np.isin(lengths, tried))]
        rest += [self._of_length(size, np.flatnonzero(lengths == size), records, groups) for size in tried]
        return groups, np.sort(np.concatenate(rest))

    def _of_length(self, size: int, rows: np.ndarray, records: Sequence[bytes], groups: list[Alike]) -> np.ndarray:
        """Adds the groups of records of one length; returns those that are in none."""
        known = self._known.get(size, [])
        own = records if len(rows) == len(records) else [records[i] for i in rows.tolist()]
        matrix = np.frombuffer(b"".join(own), np.uint8).reshape(len(rows), size)
        for template in known:
            rows, own, matrix = _taken(template, rows, own, matrix, groups)
            if not len(rows):
                return rows
        while len(rows) >= _FEW and len(known) < _OF_ONE_LENGTH and (known or len(self._known) < _LENGTHS):
            try:
                template = Template.of(own[0], scan(own[0]))
            except ValueError:
                raise MalformedError(int(rows[0])) from None
            known = [*known, template]
            self._known[size] = known
            before = len(rows)
            rows, own, matrix = _taken(template, rows, own, matrix, groups)
            if len(rows) == before:
                break
        return rows


def _taken(
    template: Template, rows: np.ndarray, records: Sequence[bytes], matrix: np.ndarray, groups: list[Alike]
) -> tuple[np.ndarray, Sequence[bytes], np.ndarray]:
    """What is left of the records when those that fit the template are a group."""
    fit = template.fits(matrix)
    if fit.all():
        groups.append(Alike(rows, records, matrix, template))
        return rows[:0], [], matrix[:0]
    if not fit.any():
        return rows, records, matrix
    chosen: Callable[[np.ndarray], list[bytes]] = lambda mask: [records[i] for i in np.flatnonzero(mask).tolist()]  # noqa: E731
    groups.append(Alike(rows[fit], chosen(fit), matrix[fit], template))
    return rows[~fit], chosen(~fit), matrix[~fit]
