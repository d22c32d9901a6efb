"""A disk that is full, and folders that a run left half-written: one message, and nothing that was saved is lost."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from run_files import numbers, records

from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.recorder import Recorder

RUN = [
    "model=mlp",
    "data=line",
    "train.steps=60",
    "train.eval_every=20",
    "train.checkpoint_every=20",
    "train.summary_every=20",
]


class Disk:
    """Full from the time at which a run does `method` at `step`, until there is room again."""

    def __init__(self) -> None:
        self._limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        self._patches = pytest.MonkeyPatch()

    def fills(self, method: str, step: int) -> None:
        does = getattr(Recorder, method)

        def first(recorder: Recorder, at: int, *others: object) -> None:
            if at == step:
                resource.setrlimit(resource.RLIMIT_FSIZE, (0, self._limits[1]))
            does(recorder, at, *others)

        self._patches.setattr(Recorder, method, first)

    def has_room(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._limits)
        self._patches.undo()


@pytest.fixture
def disk() -> Iterator[Disk]:
    one = Disk()
    yield one
    one.has_room()


@pytest.mark.parametrize(
    ("method", "step", "saved"), [("evaluate", 40, 20), ("save", 40, 20), ("summarize", 40, 20), ("evaluate", 0, None)]
)
def test_a_full_disk(method: str, step: int, saved: int | None, cli: Callable, disk: Disk, tmp_path: Path) -> None:
    disk.fills(method, step)
    ended = cli(*RUN, "hydra.run.dir=run")
    disk.has_room()
    assert ended.code == 1
    first, second = ended.err.splitlines()
    assert first.startswith("tfexp: ")
    assert first.endswith(" cannot be written: File too large")
    if saved is None:
        assert second == "nothing was saved yet: make room, and run it again"
        return
    assert second == (f"saved in run/checkpoints/model.ckpt-{saved}; make room, and go on with: python -m tfexp resume=run")
    assert cli("resume=run").code == 0
    assert cli(*RUN, "hydra.run.dir=whole").code == 0
    assert numbers(tmp_path / "run") == numbers(tmp_path / "whole")
    assert records(tmp_path / "run") == records(tmp_path / "whole")


@pytest.mark.usefixtures("tasks_are_threads")
def test_a_full_disk_of_a_chief(cli: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evaluate, run = Recorder.evaluate, tmp_path / "run"

    def evaluate_or_fail(recorder: Recorder, step: int) -> None:
        if step == 40:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "metrics.jsonl")
        evaluate(recorder, step)

    monkeypatch.setattr(Recorder, "evaluate", evaluate_or_fail)
    ended = cli(
        *RUN, "cluster=2workers", "cluster.hosting=process", "replication=in_graph", "update=sync", "hydra.run.dir=run"
    )
    assert ended.code == 1
    assert ended.err.splitlines() == [
        "tfexp: metrics.jsonl cannot be written: No space left on device",
        f"saved in {run}/checkpoints/model.ckpt-20; make room, and go on with: python -m tfexp resume={run}",
    ]


def half_written(folder: Path) -> dict[str, str]:
    """What a run that was ended in its first moments may leave, and what is said of it."""
    RunFolder.create(folder, exactly=True).close()
    return {
        "resume=half": "half/config.yaml is empty: that run was ended before it began; start it again",
        "rerun=half": "half has no result.json: that run did not finish (resume=half)",
    }


def test_half_written_folders(cli: Callable, tmp_path: Path) -> None:
    for command, message in half_written(tmp_path / "half").items():
        ended = cli(command)
        assert (ended.code, ended.err) == (1, f"tfexp: {message}\n")
    assert cli(*RUN, "hydra.run.dir=run").code == 0
    config = tmp_path / "run" / "config.yaml"
    whole = config.read_text()
    for text, message in {
        whole.replace("steps: 60", "steps: -3"): "train.steps (run/config.yaml): -3 must be at least 1",
        whole.replace("steps: 60", "stepz: 60"): "train.stepz (run/config.yaml): there is no setting 'stepz'; did you mean",
        whole[: whole.index("train:") + 3]: "run/config.yaml ",
        whole[: whole.index("train:")]: "run/config.yaml is not a run's configuration: it must have ",
    }.items():
        config.write_text(text)
        ended = cli("resume=run")
        assert ended.code != 0
        assert ended.err.startswith(f"tfexp: {message}"), ended.err
        assert len(ended.err.splitlines()) < 6
