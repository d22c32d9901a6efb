"""What the tasks of a run live on goes away, all at once: one error, which says how to go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from thread_hosting import ThreadHosting

from tfexp.distributed.hosting import Message, Say, Sink, TaskSpec
from tfexp.experiment import driver


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
