"""Event files: TensorFlow's are read, ours have its form, and TensorBoard's loader reads them."""

from __future__ import annotations

import re
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

from tests.golden import format_cases as cases
from tests.golden import oracle
from tfexp.core import errors
from tfexp.formats.event import EventFileWriter, read_events
from tfexp.formats.tfrecord import TFRecordWriter, tf_record_iterator


def scalar(step: int, tag: str = "loss", value: float = 0.5) -> Any:
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
    return Event(wall_time=1571234567.25, step=step, summary=summary)


def steps(path: str | Path) -> list[int]:
    return [event.step for event in list(read_events(path))[1:]]


def test_reads_tensorflows() -> None:
    first, *rest = read_events(cases.FORMATS / "events")
    assert first.file_version == "brain.Event:2"
    assert [(e.step, e.summary.value[0].tag, e.summary.value[0].simple_value) for e in rest] == cases.EVENTS


def test_file_has_tensorflows_form(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path / "new" / "folder", filename_suffix=".mine")
    for step, tag, value in cases.EVENTS:
        writer.add_event(scalar(step, tag, value))
    writer.close()
    (path,) = (tmp_path / "new" / "folder").iterdir()
    assert re.fullmatch(rf"events\.out\.tfevents\.\d{{10}}\.{re.escape(socket.gethostname())}\.mine", path.name)
    first, *rest = tf_record_iterator(path)
    version = Event.FromString(first)
    assert version.file_version == "brain.Event:2" and version.wall_time > 1.5e9
    assert rest == [scalar(*event).SerializeToString() for event in cases.EVENTS]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of tensorboard's own imports
def test_tensorboard_loads_it(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    writer = EventFileWriter(tmp_path)
    writer.add_event(scalar(7))
    writer.flush()
    loaded = list(LegacyEventFileLoader(writer.path).Load())
    assert [event.step for event in loaded] == [0, 7]
    assert loaded[1].summary.value[0].simple_value == 0.5
    writer.close()


@pytest.mark.skipif(not oracle.is_installed(), reason="TensorFlow reads what tfexp writes")
def test_tensorflow_reads_ours(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path)
    writer.add_event(scalar(7))
    writer.close()
    assert [event.step for event in oracle.tensorflow().train.summary_iterator(writer.path)] == [0, 7]


def test_events_wait_for_the_queue_a_flush_or_the_end(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path, max_queue=3)
    for step in (1, 2):
        writer.add_event(scalar(step))
    assert steps(writer.path) == []
    writer.add_event(scalar(3))
    assert steps(writer.path) == [1, 2, 3]
    writer.add_event(scalar(4))
    writer.flush()
    assert steps(writer.path) == [1, 2, 3, 4]
    writer.add_event(scalar(5))
    writer.close()
    assert steps(writer.path) == [1, 2, 3, 4, 5]


def test_an_event_flushes_those_before_it_when_time_is_up(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path, flush_secs=0)
    writer.add_event(scalar(1))
    assert steps(writer.path) == [1]
    writer.close()


def test_a_closed_writer_drops_events_until_it_is_reopened(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path)
    first = writer.path
    writer.close()
    writer.close()
    writer.add_event(scalar(1))
    writer.flush()
    writer.reopen()
    writer.reopen()
    writer.add_event(scalar(2))
    writer.close()
    assert steps(first) == []
    assert writer.path > first
    assert steps(writer.path) == [2]


def test_writers_in_one_second_have_files_of_their_own(tmp_path: Path) -> None:
    writers = [EventFileWriter(tmp_path) for _ in range(3)]
    for i, writer in enumerate(writers):
        writer.add_event(scalar(i))
        writer.close()
    assert [steps(writer.path) for writer in writers] == [[0], [1], [2]]


def test_threads_may_add(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path, max_queue=2)
    threads = [
        threading.Thread(target=lambda start=start: [writer.add_event(scalar(start + i)) for i in range(100)])
        for start in (0, 100, 200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert sorted(steps(writer.path)) == list(range(300))


def test_bad_files_are_named(tmp_path: Path) -> None:
    with TFRecordWriter(tmp_path / "foreign") as writer:
        writer.write(b"\x0a\xff\xff\xff\xff")
    with pytest.raises(errors.DataLossError, match="foreign: record 0 is no Event"):
        list(read_events(tmp_path / "foreign"))
    with pytest.raises(errors.NotFoundError, match="missing; No such file"):
        list(read_events(tmp_path / "missing"))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(errors.OpError, match="file"):
        EventFileWriter(tmp_path / "file")
