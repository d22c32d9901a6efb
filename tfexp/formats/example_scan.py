"""Reads the values of features out of serialized `tf.Example`s, many at once, without an object for each.

Records that differ in the bytes of their values only are read at once (`example_template`). All others are gone through in
step (`example_steps`), but for what is written in an unusual way, which is scanned record by record. In all ways the values
of a feature end up in one array for all records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.formats.example_steps import MASKS, Found, find
from tfexp.formats.example_template import Alike, Templates
from tfexp.formats.example_wire import BYTES, FLOATS, MalformedError, Span, payloads, scan

_FEW = 4  # records below which going in step does not pay


@dataclass(frozen=True)
class Column:
    """A feature in all records: `counts` values for each record (0 also where `kinds` is 0), one after the other.

    kinds: BYTES, FLOATS, INTS of each record; 0 where the record does not have the feature. `values` is of the kind that
    was asked for; where kinds differ from that, there are none.
    """

    kinds: np.ndarray
    counts: np.ndarray
    values: np.ndarray


def read_columns(
    records: Sequence[bytes], wanted: Sequence[tuple[bytes, int]], templates: Templates | None = None
) -> list[Column]:
    """The (key, kind) pairs that are wanted, of all records. MalformedError for a record that is not an Example.

    `templates`: what is remembered of the records of earlier calls.
    """
    like_before, others = (templates or Templates()).split(records)
    read = [[_of_alike(group, key, kind) for group in like_before] for key, kind in wanted]
    if len(others):
        _read_others(records, others, wanted, read)
    return [_merged(parts, len(records), kind) for parts, (_, kind) in zip(read, wanted, strict=True)]


def _read_others(
    records: Sequence[bytes], others: np.ndarray, wanted: Sequence[tuple[bytes, int]], read: list[list[_Part]]
) -> None:
    """Adds the parts of `records[others]`."""
    own = [records[i] for i in others.tolist()]
    try:
        parts_of = _walked(own, wanted)
    except MalformedError as error:
        raise MalformedError(int(others[error.position])) from None
    for known, parts in zip(read, parts_of, strict=True):
        known += [(others[rows], column) for rows, column in parts]


def _walked(records: Sequence[bytes], wanted: Sequence[tuple[bytes, int]]) -> list[list[_Part]]:
    """The parts of each wanted feature: of records that are gone through in step, and of those that are not."""
    loose: Sequence[int] = range(len(records))
    read: list[list[_Part]] = [[] for _ in wanted]
    if len(records) >= _FEW and wanted:
        found = find(records, wanted)
        for number, (_, kind) in enumerate(wanted):
            read[number].append(_in_step(found, number, kind))
        loose = np.delete(np.arange(len(records)), found.rows).tolist()
    if loose:
        spans = [(position, _scanned(records, position)) for position in loose]
        for parts, (key, kind) in zip(read, wanted, strict=True):
            parts.append(_one_by_one(records, spans, key, kind))
    return read


def _scanned(records: Sequence[bytes], position: int) -> dict[bytes, Span]:
    try:
        return scan(records[position])
    except ValueError:
        raise MalformedError(position) from None


def _payloads(record: bytes, span: Span, position: int) -> list[tuple[int, int]]:
    try:
        return payloads(record, span)
    except ValueError:
        raise MalformedError(position) from None


# --- many records at once -------------------------------------------------------------------------------------------

_Part = tuple[np.ndarray, Column]


def _in_step(found: Found, number: int, kind: int) -> _Part:
    """A feature of the records that were gone through in step."""
    kinds, counts, begins, ends = found.features[number]
    if kind == BYTES:
        blob = found.blob
        texts = [blob[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        return found.rows, Column(kinds, counts, _values(kind, texts))
    sizes = ends - begins
    return found.rows, Column(kinds, *_numbers(_gathered(found.data, begins, sizes), sizes, kind, found.rows))


def _gathered(data: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """So many bytes from each place on, one after the other."""
    if not len(sizes):
        return data[:0]
    if (sizes == sizes[0]).all():
        if not sizes[0]:
            return data[:0]
        size = int(sizes[0])
        pieces: np.ndarray = np.ndarray(len(data) - size + 1, f"V{size}", data, strides=(1,))
        return pieces[begins].view(np.uint8)
    before = np.cumsum(sizes) - sizes
    return data[np.repeat(begins - before, sizes) + np.arange(int(sizes.sum()))]


def _of_alike(group: Alike, key: bytes, kind: int) -> _Part:
    """A feature of records that fit a template."""
    size = len(group.rows)
    own, places = group.template.features.get(key, (0, []))
    kinds = np.full(size, own)
    if own != kind or not places:
        return group.rows, Column(kinds, np.zeros(size, np.int64), _values(kind, []))
    if kind == BYTES:
        return group.rows, Column(kinds, np.full(size, len(places)), _values(kind, group.texts(key)))
    data = group.bytes_of(key)
    counts, values = _numbers(data.reshape(-1), np.full(size, data.shape[1]), kind, group.rows)
    return group.rows, Column(kinds, counts, values)


# --- records on their own -------------------------------------------------------------------------------------------


def _one_by_one(records: Sequence[bytes], scanned: Sequence[tuple[int, dict[bytes, Span]]], key: bytes, kind: int) -> _Part:
    rows = np.fromiter((position for position, _ in scanned), np.int64, len(scanned))
    spans = [found.get(key, (0, 0, 0)) for _, found in scanned]
    kinds = np.fromiter((span[0] for span in spans), np.int64, len(spans))
    pieces: list[bytes] = []
    counts = np.zeros(len(rows), np.int64)
    for index, (span, (position, _)) in enumerate(zip(spans, scanned, strict=True)):
        if span[0] == kind:
            record = records[position]
            places = _payloads(record, span, position)
            pieces += [record[begin:end] for begin, end in places]
            counts[index] = len(places) if kind == BYTES else sum(end - begin for begin, end in places)
    if kind == BYTES:
        return rows, Column(kinds, counts, _values(kind, pieces))
    return rows, Column(kinds, *_numbers(np.frombuffer(b"".join(pieces), np.uint8), counts, kind, rows))


def _numbers(data: np.ndarray, sizes: np.ndarray, kind: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(how many numbers each record has, the numbers) of packed bytes, `sizes` of them for each record."""
    if kind == FLOATS:
        if (sizes % 4).any():
            raise MalformedError(int(rows[np.argmax(sizes % 4 != 0)]))
        return sizes // 4, data.view("<f4").astype(np.float32, copy=False)
    last = data < 0x80
    ends = np.cumsum(sizes)
    whole = np.concatenate([[True], last])[ends] | (sizes == 0)
    if not whole.all():
        raise MalformedError(int(rows[np.argmin(whole)]))
    before = np.concatenate([[0], np.cumsum(last)])
    counts = before[ends] - before[ends - sizes]
    return counts, _varints(data, last)


def _varints(data: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The int64s of varints; `last` marks the bytes that end one."""
    stops = np.flatnonzero(last)
    if len(stops) == len(data):
        return data.astype(np.int64)
    starts = np.concatenate([[0], stops[:-1] + 1]).astype(np.int64)
    if int((stops - starts).max()) < 8:
        return _of_seven_bits(data, starts, stops)
    numbers = np.zeros(len(stops), np.uint64)
    for step in range(int((stops - starts).max()) + 1):
        more = starts + step <= stops
        byte = data[np.minimum(starts + step, stops)].astype(np.uint64) & np.uint64(0x7F)
        if step < 10:
            numbers |= np.where(more, byte << np.uint64(7 * step), np.uint64(0))
    return numbers.view(np.int64)


def _of_seven_bits(data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The int64s of varints of at most eight bytes: seven bits of each byte, brought together in pairs."""
    words: np.ndarray = np.ndarray(len(data), "<i8", np.concatenate([data, np.zeros(8, np.uint8)]), strides=(1,))
    bits = words[starts] & MASKS[stops - starts + 1] & 0x7F7F7F7F7F7F7F7F
    bits = (bits & 0x007F007F007F007F) | (bits >> 1 & 0x3F803F803F803F80)
    bits = (bits & 0x00003FFF00003FFF) | (bits >> 2 & 0x0FFFC0000FFFC000)
    return (bits & 0x000000000FFFFFFF) | (bits >> 4 & 0x00FFFFFFF0000000)


def _values(kind: int, values: list[bytes]) -> np.ndarray:
    if kind == BYTES:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.empty(0, np.float32 if kind == FLOATS else np.int64)


def _merged(parts: Sequence[_Part], total: int, kind: int) -> Column:
    """The parts in the order of the records."""
    if len(parts) == 1 and len(parts[0][0]) == total:
        return parts[0][1]
    kinds, counts = np.zeros(total, np.int64), np.zeros(total, np.int64)
    for rows, column in parts:
        kinds[rows], counts[rows] = column.kinds, column.counts
    each = int(counts[0]) if len(counts) else 0
    if each and (counts == each).all():
        table: Any = np.empty((total, each), _values(kind, []).dtype)
        for rows, column in parts:
            table[rows] = column.values.reshape(-1, each)
        return Column(kinds, counts, table.reshape(-1))
    starts = np.cumsum(counts) - counts
    values: Any = np.empty(int(counts.sum()), _values(kind, []).dtype)
    for rows, column in parts:
        own = np.cumsum(column.counts) - column.counts
        values[np.repeat(starts[rows] - own, column.counts) + np.arange(len(column.values))] = column.values
    return Column(kinds, counts, values)
