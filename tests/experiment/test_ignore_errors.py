"""Records that cannot be read are passed over and counted where errors are ignored; all others come as without them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from test_inputs import PER_EPOCH, ROWS, SIZE, Running, data, flat, running, tfrecord
from test_records import SOFTMAX, digits, written_digits

import tfexp as tf
from tfexp.experiment.datasets.record_files import RecordFiles, locate
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.inputs.from_records import FromRecords
from tfexp.experiment.recording import write_records

__all__ = ["digits", "running", "written_digits"]  # fixtures


def rewrite(file: Path, change: Callable[[int, tf.train.Example], None]) -> None:
    found = [tf.train.Example.FromString(record) for record in tf.python_io.tf_record_iterator(str(file))]
    with tf.python_io.TFRecordWriter(str(file)) as writer:
        for number, example in enumerate(found):
            change(number, example)
            writer.write(example.SerializeToString(deterministic=True))


def wrong(number: int, example: tf.train.Example) -> None:
    """Record 2 has too few features, record 5 a label that is no class."""
    if number == 2:
        example.features.feature["features"].float_list.value.pop()
    elif number == 5:
        example.features.feature["label"].int64_list.value[0] = 7


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five files of 10, 11, 10, 11, 11 rows; two of the second are no rows, from row 7 on of the third is damage."""
    write_records(data(), tmp_path / "rows", 5, "")
    files = sorted((tmp_path / "rows").glob("train*"))
    rewrite(files[1], wrong)
    content = bytearray(files[2].read_bytes())
    content[len(content) // 10 * 7 + 20] ^= 1
    files[2].write_bytes(content)
    return tmp_path / "rows"


LOST = {10 + 2, 10 + 5, 21 + 7, 21 + 8, 21 + 9}


def given(folder: Path, **settings: object) -> FromRecords:
    return tfrecord(folder, **{"files": (str(folder),), "ignore_errors": True, **settings})


def test_they_are_counted_and_named(folder: Path) -> None:
    prepared = given(folder).prepare(data())
    assert isinstance(prepared.records, RecordFiles)
    assert prepared.rows == ROWS - len(LOST)
    assert prepared.skipped.rows == len(LOST)
    said = [
        r"rows/train-00001-of-00005\.tfrecord: record 2 at offset \d+: its 'features' has 2 values, and the data has 3",
        r"rows/train-00001-of-00005\.tfrecord: record 5 at offset \d+: its label 7 is not one of the classes 0 to 6",
        r"rows/train-00002-of-00005\.tfrecord: corrupted record at \d+ \(record 7\): checksum",
    ]
    assert len(prepared.skipped.first) == len(said)
    for first, pattern in zip(prepared.skipped.first, said, strict=True):
        assert re.search(pattern, first)
    assert prepared.digest != data().digest, "other rows, another digest"
    assert sorted(prepared.in_memory().train.features[:, 0]) == sorted(set(range(ROWS)) - LOST)


@pytest.mark.parametrize("workers", [1, 2])
def test_all_others_come_once_in_an_epoch(workers: int, folder: Path, running: Callable[..., Running]) -> None:
    steps = (ROWS - len(LOST)) // SIZE // workers
    shares = [running(given(folder), worker=worker, workers=workers) for worker in range(workers)]
    rows = flat([flat(share.rows(steps)) for share in shares])
    assert len(set(rows)) == len(rows) == steps * workers * SIZE
    assert not LOST & set(rows)


@pytest.mark.parametrize(("shards", "workers"), [("*", 1), ("*", 2), ("*1-of*", 2)])
def test_all_others_come_once_in_an_epoch_of_a_stream(
    shards: str, workers: int, folder: Path, running: Callable[..., Running]
) -> None:
    """Also where workers share one file, record by record."""
    files = (str(folder / f"train-{shards}"),)
    expected = {row for row in range(ROWS) if shards == "*" or 10 <= row < 21} - LOST
    shares = [running(given(folder, files=files, shuffle=4), worker=w, workers=workers, size=1) for w in range(workers)]
    epochs = [[flat(share.rows(share.batches._batches(epoch))) for share in shares] for epoch in range(3)]
    for epoch in epochs:
        assert sorted(flat(epoch)) == sorted(expected)
    assert epochs[0] != epochs[1]


def test_without_errors_the_batches_are_the_same(tmp_path: Path, running: Callable[..., Running]) -> None:
    write_records(data(), tmp_path / "rows", 5, "")
    ignoring, strict = (running(tfrecord(tmp_path, files=(str(tmp_path / "rows"),), ignore_errors=i)) for i in (True, False))
    assert ignoring.rows(PER_EPOCH) == strict.rows(PER_EPOCH)


def test_files_that_are_shorter_than_described(tmp_path: Path) -> None:
    write_records(data(), tmp_path / "rows", 2, "")
    first = tmp_path / "rows" / "train-00000-of-00002.tfrecord"
    first.write_bytes(b"")
    prepared = given(tmp_path / "rows").prepare(data())
    assert prepared.skipped.rows == ROWS // 2
    assert prepared.skipped.first[0].endswith(f"0 records are there, and description.json lists {ROWS // 2}")
    with pytest.raises(ExperimentError, match=r"no record can be read; the first reason: .*0 records are there"):
        locate([str(first)], damaged=True).checked(data().spec)


@pytest.mark.parametrize("words", [["data=digits", "input.files=[digits]"], ["data=records", "data.files=[digits]"]])
def test_a_run_says_what_it_skipped(words: list[str], cli: Callable, digits: Path, tmp_path: Path) -> None:
    second = digits / "train-00001-of-00004.tfrecord"
    rewrite(second, wrong)
    settings = [*SOFTMAX, *words, "input=tfrecord", "input.ignore_errors=true", "hydra.run.dir=run"]
    if words[0] == "data=records":
        settings.append("data.ignore_errors=true")
    ended = cli(*settings)
    assert ended.code == 0, ended.err
    assert f"skipped     1 row that could not be read; the first: {second}: record 2 at offset" in ended.out
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["skipped"]["rows"] == 1
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["data"]["skipped_rows"] == 1
    records = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert {record["skipped"] for record in records} == {1}
