"""Where the features of many serialized `tf.Example`s are, found in all of them at once.

An Example is a map: entries, in any order, of a key and a list of values. The records are gone through in step, an entry of
each at a time; then the keys of all entries are read together, and then all lists. What is written in a way that is allowed
but that nobody writes (several maps, a value before its key, numbers that are not packed) is left to `example_wire`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfexp.formats.example_wire import BYTES

_WORD = 8
_PADDING = 2 * _WORD
MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WORD)] + [-1], np.int64)
"""For the first so many bytes of a word."""
_MIXED = np.int64(-7046029254386353131), np.int64(-4417276706812531889)  # odd, with their bits all over

Places = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Tags, and where the fields begin and end that they are of."""


@dataclass(frozen=True)
class Found:
    """`rows`: the records that could be read here, whose features are in `blob`, which is `data` as an array.

    Of each wanted feature, row by row: `kinds` as the records have it (0: not at all), and where the values are: the packed
    bytes of numbers from `begins` to `ends`, of texts as many of these, one after the other, as `counts` says.
    """

    rows: np.ndarray
    blob: bytes
    data: np.ndarray
    features: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


def find(records: Sequence[bytes], wanted: Sequence[tuple[bytes, int]]) -> Found:
    """Look for the (key, kind) pairs that are wanted."""
    return _Search(records).run(wanted)


@functools.lru_cache(maxsize=64)
def _codes(keys: tuple[bytes, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(a number for each key, made of its first and its last eight bytes and its length; the order of these numbers)."""
    texts = [(key[:_WORD].ljust(_WORD, b"\0"), key[-_WORD:] if len(key) > _WORD else bytes(_WORD)) for key in keys]
    words = np.frombuffer(b"".join(part for pair in texts for part in pair), "<i8").reshape(-1, 2)
    codes = words[:, 0] * _MIXED[0] + words[:, 1] * _MIXED[1] + np.array([len(key) for key in keys])
    return codes, np.argsort(codes)


class _Search:
    """`odd`: records that were found to be written in another way."""

    def __init__(self, records: Sequence[bytes]):
        self.blob = b"".join([*records, bytes(_PADDING)])
        self.data = np.frombuffer(self.blob, np.uint8)
        # the eight bytes from each place on
        self.words: np.ndarray = np.ndarray(len(self.blob) - _WORD + 1, "<i8", self.blob, strides=(1,))
        lengths = np.fromiter(map(len, records), np.int64, len(records))
        self.ends = np.cumsum(lengths)
        self.begins = self.ends - lengths
        self.odd = np.zeros(len(records), np.bool_)

    def run(self, wanted: Sequence[tuple[bytes, int]]) -> Found:
        keys = list(dict.fromkeys(key for key, _ in wanted))
        slots = [keys.index(key) for key, _ in wanted]
        kinds, begins, ends = (table[slots] for table in self._features(keys))
        asked = np.array([kind for _, kind in wanted], np.int64)[:, None]
        filled = (kinds == asked) & (begins < ends)
        self._unpack(filled & (asked != BYTES), begins, ends)
        texts = self._texts(filled & (asked == BYTES), begins, ends)
        rows = np.flatnonzero(~self.odd)
        features = []
        for number, (_, kind) in enumerate(wanted):
            own = kinds[number, rows]
            if kind == BYTES:
                of_row, first, last = (part[texts[0] == number] for part in texts[1:])
                even = ~self.odd[of_row]
                order = np.argsort(of_row[even], kind="stable")
                counts = np.bincount(of_row[even], minlength=len(self.odd))[rows]
                features.append((own, counts, first[even][order], last[even][order]))
            else:
                there = filled[number, rows]
                features.append((own, there, begins[number, rows] * there, ends[number, rows] * there))
        return Found(rows, self.blob, self.data, features)

    # --- fields ------------------------------------------------------------------------------------------------------

    def _word(self, at: np.ndarray) -> np.ndarray:
        """The eight bytes from each place on; places behind the end, as a false length gives them, are the last one's."""
        word: np.ndarray = self.words[np.minimum(at, len(self.words) - 1)]
        return word

    def _fields(self, at: np.ndarray) -> Places:
        """The fields at these places; a length of more than five bytes gives tag 0."""
        word = self._word(at)
        tag, byte = word & 0xFF, word >> 8 & 0xFF
        size, begin = byte & 0x7F, at + 2
        more = byte >= 0x80
        for shift in (7, 14, 21, 28):
            if not np.count_nonzero(more):
                break
            word >>= 8
            byte = word >> 8 & 0xFF
            size |= np.where(more, (byte & 0x7F) << shift, 0)
            begin += more
            more &= byte >= 0x80
        tag[more] = 0
        return tag, begin, begin + size

    # --- entries -----------------------------------------------------------------------------------------------------

    def _features(self, keys: Sequence[bytes]) -> Places:
        """Of each key, of each record: the kind of its list (0: none), and where that begins and ends."""
        rows, at, ends = self._entries()
        tag, key, key_end = self._fields(at)
        bad = (tag != 10) | (key_end > ends)
        tag, value, value_end = self._fields(key_end)
        bad |= (tag != 18) | (value_end != ends)
        tag, begin, end = self._fields(value)
        filled = value < ends
        bad |= filled & ((end != ends) | ((tag != 10) & (tag != 18) & (tag != 26)))
        self.odd[rows[bad]] = True
        slots = self._slots(keys, key, key_end)
        tables = np.zeros((3, len(keys) + 1, len(self.odd)), np.int64)
        # of equal keys in a record the last one counts, which is assigned last
        for table, values in zip(tables, (np.where(filled, tag >> 3, 0), begin, end), strict=True):
            table[slots, rows] = values
        return tables[0], tables[1], tables[2]

    def _entries(self) -> Places:
        """The records that entries are of, and where their contents begin and end."""
        tag, at, ends = self._fields(self.begins)
        self.odd |= (tag != 10) | (ends != self.ends)
        rows = np.flatnonzero(~self.odd)
        at, ends = at[rows], ends[rows]
        found: list[Places] = [(rows[:0], rows[:0], rows[:0])]
        while True:
            live = at < ends
            if not live.all():
                rows, at, ends = rows[live], at[live], ends[live]
            if not len(rows):
                break
            tag, begin, at = self._fields(at)
            bad = (tag != 10) | (at > ends)
            if bad.any():
                self.odd[rows[bad]] = True
                rows, begin, at, ends = rows[~bad], begin[~bad], at[~bad], ends[~bad]
            found.append((rows, begin, at))
        rows, begins, stops = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return rows, begins, stops

    def _slots(self, keys: Sequence[bytes], begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Which of the keys stands there; `len(keys)` for none of them."""
        sizes = ends - begins
        codes, order = _codes(tuple(keys))
        first = self._word(begins) & MASKS[np.minimum(sizes, _WORD)]
        last = np.where(sizes > _WORD, self._word(ends - _WORD), 0)
        found = first * _MIXED[0] + last * _MIXED[1] + sizes
        slots = order[np.minimum(np.searchsorted(codes[order], found), len(keys) - 1)]
        slots[codes[slots] != found] = len(keys)
        if max(map(len, keys)) > 2 * _WORD:  # of which this says nothing
            for slot, key in enumerate(keys):
                if len(key) > 2 * _WORD:
                    same = np.flatnonzero(sizes == len(key))
                    letters = self.data.take(begins[same][:, None] + np.arange(len(key)), mode="clip")
                    equal = (letters == np.frombuffer(key, np.uint8)).all(axis=1)
                    slots[same[equal]] = slot
                    slots[same[~equal & (slots[same] == slot)]] = len(keys)
        return slots

    # --- lists -------------------------------------------------------------------------------------------------------

    def _unpack(self, filled: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> None:
        """Let lists of numbers begin with the numbers."""
        features, rows = np.nonzero(filled)
        tag, begin, end = self._fields(begins[features, rows])
        self.odd[rows[(tag != 10) | (end != ends[features, rows])]] = True
        begins[features, rows] = begin

    def _texts(self, filled: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, ...]:
        """(feature, record, where it begins, where it ends) of each text; those of one list in its order."""
        features, rows = np.nonzero(filled)
        at, stops = begins[features, rows], ends[features, rows]
        found = [(features[:0], rows[:0], at[:0], at[:0])]
        while len(at):
            tag, begin, at = self._fields(at)
            bad = (tag != 10) | (at > stops)
            self.odd[rows[bad]] = True
            found.append((features, rows, begin, at))
            live = ~bad & (at < stops)
            features, rows, at, stops = features[live], rows[live], at[live], stops[live]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
