"""The experiments in which one network is on several tasks, or each task has a network of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from run_files import numbers, records

import tfexp as tf
from experiments.ensemble.queues import Asker, Digits, serve
from tests.distributed.clusters import running

EXPERIMENTS = Path(next(iter(tf.__path__))).parent / "experiments"
# Where a variable is that shows that the network is cut: (folder, variable, task).
CUT = {
    "layers_apart": ("model_parallel", "model/hidden1/weights", "/job:worker/task:1"),
    "columns_apart": ("model_parallel", "model/columns1/weights", "/job:worker/task:1"),
    "rnn_pipeline": ("model_parallel", "model/layer1/rnn/basic_rnn_cell/kernel", "/job:worker/task:1"),
    "ensemble_apart": ("ensemble", "model/member2/hidden1/weights", "/job:worker/task:1"),
}


@pytest.mark.usefixtures("tasks_are_threads")
@pytest.mark.parametrize("name", CUT)
def test_a_network_on_several_tasks_learns_what_it_learns_in_one_process(name: str, cli: Callable, tmp_path: Path) -> None:
    folder, variable, task = CUT[name]
    words = ["--config-dir", str(EXPERIMENTS / folder / "conf"), f"experiment={name}", "train.steps=4"]
    words += ["train.eval_every=2", "train.summary_every=0", "update=sync", "hydra.run.dir=cut"]
    ended = cli(*words)
    assert ended.code == 0, ended.err
    graph = tf.GraphDef()
    text_format.Parse((tmp_path / "cut" / "graph.pbtxt").read_text(), graph)
    assert next(node.device for node in graph.node if node.name == variable).startswith(task)

    one = ["model.tasks=0", "cluster=local", "replication=in_graph", "hydra.run.dir=one"]
    ended = cli(*words[:-1], *one)
    assert ended.code == 0, ended.err
    for here, there in zip(records(tmp_path / "one"), records(tmp_path / "cut"), strict=True):
        assert there["test"]["loss"] == pytest.approx(here["test"]["loss"], rel=1e-3)
    assert numbers(tmp_path / "cut")["step"] == 4


def test_an_ensemble_between_graphs_answers_in_time_without_a_member(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = Digits.load()
    with running(asker=1, member=2) as servers:
        threads = [
            threading.Thread(target=_served, args=(servers[f"member:{member}"].target, member, digits), daemon=True)
            for member in range(2)
        ]
        for thread in threads:
            thread.start()
        asker = Asker(servers["asker:0"].target, 2, timeout=60.0)
        answer = asker.ask(digits.test_features)
        assert answer.by == (0, 1) and answer.late == ()
        assert answer.mean.shape == (len(digits.test_labels), 10)

        servers["member:0"].stop()
        threads[0].join(60)
        monkeypatch.setattr(asker._session, "run", _hurried(asker))
        for _ in range(6):  # more often than it is asked while it does not keep up
            answer = asker.ask(digits.test_features[:7])
            assert (answer.by, answer.late) == ((1,), (0,))
        asker.close()
        threads[1].join(60)
        assert not threads[1].is_alive()


def _hurried(asker: Asker) -> Callable[..., Any]:
    """Its session's `run`, for which the time is nearly over once somebody has answered the question."""
    run, answered = asker._session.run, 0

    def hurried(fetches: Any, feeds: Any = None, options: Any = None) -> Any:
        nonlocal answered
        if fetches is not asker._take:
            return run(fetches, feeds, options)
        answer = run(fetches, feeds, tf.RunOptions(timeout_in_ms=50) if answered == asker._number else options)
        answered = answer[0]
        return answer

    return hurried


def _served(target: str, member: int, digits: Digits) -> None:
    try:
        serve(target, member, digits, steps=20)
    except (tf.errors.UnavailableError, tf.errors.AbortedError):
        return  # its server was stopped
