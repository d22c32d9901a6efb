"""What the tasks of a run live on goes away, all at once: one error, which says how to go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from thread_hosting import ThreadHosting

from tfexp.distributed.hosting import Message, Say, Sink, TaskSpec
from tfexp.experiment import driver
from tfexp.experiment.composing import settings_of
from tfexp.experiment.watching import Watch


class Vanishing(ThreadHosting):
    """It is gone before the chief's last word is heard."""

    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        def vanish(name: str, message: Message) -> None:
            last = (name, message["kind"]) == ("worker:0", "ended")
            sink("" if last else name, {"kind": "gone", "why": "Ray went away"} if last else message)

        super().start(tasks, vanish, say)


def test_the_run_ends_with_one_error(cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_hosting", lambda cluster, logs: Vanishing())
    ended = cli("cluster=2workers", "cluster.hosting=process", "update=sync", "train.steps=20", "hydra.run.dir=run")
    assert ended.code == 1
    assert ended.err.startswith("tfexp: Ray went away\nsaved in run/checkpoints/model.ckpt-20\ngo on with: "), ended.err


@pytest.mark.parametrize(
    ("task", "same_process", "follows"),
    [
        ("ps:0", False, "waiting for it to come back"),
        ("worker:1", True, "waiting for it to come back"),
        ("worker:1", False, "starting it again"),
    ],
)
def test_what_is_started_again_of_a_cluster_of_somebody_elses_servers(
    task: str, same_process: bool, follows: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(["cluster=static", "cluster.ps_hosts=[a:1]", "cluster.worker_hosts=[a:2,a:3]"])
    course: Any = SimpleNamespace(total_steps=9)
    nothing: Any = None
    one = driver._Driver(nothing, settings, nothing, course, None, Watch())
    one.hosting = SimpleNamespace(starts_again=False)  # type: ignore[assignment]
    lost = {"kind": "lost", "why": "is gone", "attempt": 1, "of": 10, "same_process": same_process}
    one._tell_of(nothing, task, "lost", lost)
    assert capsys.readouterr().out == f"{task} is gone; {follows} (restart 1 of 10)\n"
