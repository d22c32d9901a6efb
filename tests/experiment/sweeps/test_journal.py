"""The journal: whole lines, one writer, and a word about a disk that is full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.sweeps import journal as of_journal
from tfexp.experiment.sweeps.journal import Journal


def test_what_is_added_is_there_for_the_next(tmp_path: Path) -> None:
    first = Journal.create(tmp_path)
    first.add([{"kind": "sweep"}, {"kind": "started", "trial": 3}])
    first.close()
    second = Journal.open(tmp_path)
    assert second.events == [{"kind": "sweep"}, {"kind": "started", "trial": 3}]
    second.add([{"kind": "over"}])
    second.close()
    assert [json.loads(line)["kind"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()] == [
        "sweep", "started", "over",
    ]  # fmt: skip


@pytest.mark.parametrize("torn", ['{"kind": "sta', "{", '{"kind": "started"}'])
def test_a_torn_last_line_is_taken_away(torn: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"kind": "sweep"}\n' + torn)
    found = Journal.open(tmp_path)
    found.add([{"kind": "over"}])
    found.close()
    assert path.read_text() == '{"kind": "sweep"}\n{"kind": "over"}\n'


def test_one_process_has_it(tmp_path: Path) -> None:
    first = Journal.create(tmp_path)
    first.add([{"kind": "sweep"}])
    with pytest.raises(ExperimentError, match="in use by another process"):
        Journal.open(tmp_path)
    first.close()
    Journal.open(tmp_path).close()


def test_what_cannot_be_taken_up(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"is not a sweep's folder: it has no journal\.jsonl"):
        Journal.open(tmp_path)
    (tmp_path / "journal.jsonl").write_text('{"kind": "sw')
    with pytest.raises(ExperimentError, match="was ended before its first trial; begin again"):
        Journal.open(tmp_path)
    assert (tmp_path / "journal.jsonl").read_text() == '{"kind": "sw', "what is no journal stays as it is"
    (tmp_path / "journal.jsonl").write_text("[]\n")
    with pytest.raises(ExperimentError, match="line 1: not an event of a sweep"):
        Journal.open(tmp_path)
    (tmp_path / "journal.jsonl").write_text('{"kind": "sweep"}\nnonsense\n{"kind": "over"}\n')
    with pytest.raises(ExperimentError, match="line 2: Expecting value"):
        Journal.open(tmp_path)
    with pytest.raises(ExperimentError, match=r"already holds a sweep: .*-m sweep\.resume="):
        Journal.create(tmp_path)


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Journal.create(tmp_path)

    def full(descriptor: int, text: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(of_journal.os, "write", full)
    with pytest.raises(
        ExperimentError, match=r"No space left on device\nonce that is put right, go on with: python -m tfexp"
    ):
        found.add([{"kind": "sweep"}])
    found.close()
