"""The readers themselves: what they are reading, how far they have come, and whose turn it is.

A reader takes work (as a rule, a file's name) from a queue when it has none. One read goes on at a time; the others wait
their turn, also while that one waits for the queue. Source: `tf.ReaderBase`, TF 1.15.
"""

from __future__ import annotations

import threading
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, ClassVar

from tfexp.core import dtypes
from tfexp.core.errors import DataLossError, InvalidArgumentError, OpError
from tfexp.core.waiting import Promise, Waiting, in_turn
from tfexp.formats.compressed_file import ByteStream, open_stream
from tfexp.formats.file_errors import file_error
from tfexp.formats.tfrecord import read_records
from tfexp.ops.queue_resource import Queue

# Key, value, and whether the work is done with this record.
Record = tuple[bytes, bytes, bool]

_CHUNK = 1 << 18


class Reader:
    """Work is read by `_records`; `_open` fails where the work cannot even begin, and the next read takes other work."""

    kind: ClassVar[str] = ""

    def __init__(self, name: str):
        self.name = name
        self.records_produced = 0
        self._finished = 0
        self._current: Iterator[Record] | None = None
        self._failure: OpError | None = None
        self._stream: ByteStream | None = None
        self._lock = threading.Lock()
        self._busy = False
        self._line: deque[Promise] = deque()

    # --- what kinds of readers differ in -----------------------------------------------------------------------------

    def _open(self, work: str) -> None:
        """Begin with some work."""
        self._stream = open_stream(work)

    def _records(self, work: str) -> Iterator[Record]:
        raise NotImplementedError

    # --- reading -----------------------------------------------------------------------------------------------------

    @property
    def units_completed(self) -> int:
        return self._finished

    def read(self, queue: Queue, count: int, make: Callable[[list[Record]], Any]) -> Any:
        """What `make` makes of up to `count` records, at least one if any, of one piece of work; or a Waiting for it."""
        return in_turn(self._read(queue, count, make)) if count > 0 else make([])

    def _read(self, queue: Queue, count: int, make: Callable[[list[Record]], Any]) -> Generator[Waiting, Any, Any]:
        turn = self._take_turn()
        if turn is not None:
            yield turn
        try:
            found: list[Record] = []
            while not found:
                if self._current is None:
                    yield from self._begin(queue)
                self._read_on(found, count)
            self.records_produced += len(found)
            return make(found)
        finally:
            self._end_turn()

    def _begin(self, queue: Queue) -> Generator[Waiting, Any, None]:
        if queue.types != (dtypes.string,):
            raise _not_a_name()
        element = queue.dequeue()
        if isinstance(element, Waiting):
            element = yield element
        if element[0].size != 1:
            raise _not_a_name()
        work = element[0].item().decode("utf-8", "surrogateescape")
        self._open(work)
        self._failure = None
        self._current = self._records(work)

    def _read_on(self, found: list[Record], count: int) -> None:
        """Read records of the current work; where it is damaged, every read from there on says so."""
        if self._failure is not None:
            raise self._failure
        assert self._current is not None
        while len(found) < count:
            try:
                record = next(self._current, None)
            except OpError as error:
                self._failure = error
                self._close_stream()
                if found:
                    return
                raise
            if record is not None:
                found.append(record)
            if record is None or record[2]:
                self._finished += 1
                self._leave()
                return

    def _leave(self) -> None:
        self._current = None
        self._close_stream()

    def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def _take_turn(self) -> Promise | None:
        with self._lock:
            if not self._busy:
                self._busy = True
                return None
            turn = Promise(lambda: f"its turn to read from {self.kind} '{self.name}'", self._withdraw)
            self._line.append(turn)
            return turn

    def _end_turn(self) -> None:
        with self._lock:
            following = self._line.popleft() if self._line else None
            self._busy = following is not None
        if following is not None:
            following.keep(None)

    def _withdraw(self, turn: Promise, reason: OpError) -> None:
        with self._lock:
            if turn not in self._line:
                return
            self._line.remove(turn)
        turn.fail(reason)

    # --- state -------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget the work and the counts."""
        self._leave()
        self.records_produced = self._finished = 0
        self._failure = None

    def dispose(self) -> None:
        """Nobody will read any more."""
        self._leave()


def _not_a_name() -> OpError:
    return InvalidArgumentError(None, None, "Expected to dequeue a one-element string tensor")


class IdentityReader(Reader):
    """Gives the work itself."""

    kind = "IdentityReader"

    def _open(self, work: str) -> None:
        pass

    def _records(self, work: str) -> Iterator[Record]:
        name = work.encode("utf-8", "surrogateescape")
        yield name, name, True


class WholeFileReader(Reader):
    """Gives a file's content as one record."""

    kind = "WholeFileReader"

    def _open(self, work: str) -> None:
        pass

    def _records(self, work: str) -> Iterator[Record]:
        with open_stream(work) as stream:
            try:
                content = stream.read(-1)
            except OSError as error:
                raise file_error(work, error) from error
        yield work.encode("utf-8", "surrogateescape"), content, True


class TextLineReader(Reader):
    """Gives lines, without their ends (nor any carriage return), by `file:number`, counted from 1."""

    kind = "TextLineReader"

    def __init__(self, name: str, skip_header_lines: int):
        super().__init__(name)
        self._skip = skip_header_lines

    def _records(self, work: str) -> Iterator[Record]:
        assert self._stream is not None
        lines: Any = self._stream
        name = work.encode("utf-8", "surrogateescape")
        try:
            for number, line in enumerate(lines, 1):
                if number > self._skip:
                    yield b"%s:%d" % (name, number), line.removesuffix(b"\n").replace(b"\r", b""), False
        except OSError as error:
            raise file_error(work, error) from error


class FixedLengthRecordReader(Reader):
    """Gives pieces of `record` bytes, one every `hop` bytes, between `header` and `footer`, by `file:number`, from 0."""

    kind = "FixedLengthRecordReader"

    def __init__(self, name: str, record: int, header: int, footer: int, hop: int, encoding: str):
        super().__init__(name)
        self._record, self._header, self._footer, self._hop = record, header, footer, hop or record
        self._encoding = encoding

    def _open(self, work: str) -> None:
        self._stream = open_stream(work, self._encoding)

    def _records(self, work: str) -> Iterator[Record]:
        assert self._stream is not None
        name = work.encode("utf-8", "surrogateescape")
        wanted = self._record + self._footer
        buffer, at, number = b"", self._header, 0  # `at`: where in (or beyond) the buffer the next record begins
        while True:
            while len(buffer) < at + wanted:
                more = self._more(work, number)
                if not more:
                    return
                if at >= len(buffer):
                    buffer, at = more, at - len(buffer)
                else:
                    buffer, at = buffer[at:] + more, 0
            yield b"%s:%d" % (name, number), buffer[at : at + self._record], False
            at += self._hop
            number += 1

    def _more(self, work: str, number: int) -> bytes:
        assert self._stream is not None
        try:
            return self._stream.read(max(_CHUNK, self._record + self._footer))
        except OSError as error:
            raise file_error(work, error) from error
        except zlib.error as error:
            raise DataLossError(None, None, f"{work}: damaged compression in record {number}: {error}") from None


class TFRecordReader(Reader):
    """Gives the records of TFRecord files, by `file:offset`."""

    kind = "TFRecordReader"

    def __init__(self, name: str, compression: str):
        super().__init__(name)
        self._compression = compression

    def _open(self, work: str) -> None:
        self._stream = open_stream(work, self._compression)

    def _records(self, work: str) -> Iterator[Record]:
        assert self._stream is not None
        name = work.encode("utf-8", "surrogateescape")
        offset = 0
        try:
            for record in read_records(self._stream, work):
                yield b"%s:%d" % (name, offset), record, False
                offset += _FRAME + len(record)
        except OSError as error:
            raise file_error(work, error) from error


# What stands around a record: length, its checksum, the data's checksum.
_FRAME = 16
