"""`tf.estimator.train_and_evaluate`: alone, and the parts of a cluster; exporters; early ends."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from lines import line, receiver, rows

import tfexp as tf
from tests.distributed.clusters import free_ports

E = tf.estimator


def exports(folder: Path, name: str) -> list[str]:
    return sorted(path.name for path in (folder / "export" / name).glob("*"))


def test_every_checkpoint_is_evaluated_and_the_best_and_last_are_kept(tmp_path: Path) -> None:
    model = line(tmp_path, save_checkpoints_steps=2)
    exporters = [
        E.FinalExporter("final", receiver),
        E.LatestExporter("latest", receiver, exports_to_keep=1),
        E.BestExporter("best", receiver, compare_fn=lambda best_eval_result, current_eval_result: False),
    ]
    evaluation = E.EvalSpec(rows(1), name="n", exporters=exporters, throttle_secs=0)
    results, exported = E.train_and_evaluate(model, E.TrainSpec(rows(), max_steps=3), evaluation)
    assert results["global_step"] == 3
    assert [path is None for path in exported] == [False, False, True]
    assert [len(exports(tmp_path, name)) for name in ("final", "latest", "best")] == [1, 1, 1]
    assert exports(tmp_path, "latest") >= exports(tmp_path, "best")  # called after seconds, which may be the same
    assert E.train_and_evaluate(model, E.TrainSpec(rows(), max_steps=3), evaluation) == (None, None)


def test_between_two_evaluations_time_passes_and_the_last_model_is_always_evaluated(tmp_path: Path) -> None:
    steps: list[int] = []

    class Seen(E.Exporter):
        name = "seen"

        def export(self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any, **kwargs: Any) -> None:
            steps.append(int(eval_result["global_step"]))

    model = line(tmp_path, save_checkpoints_steps=1)
    E.train_and_evaluate(model, E.TrainSpec(rows(), max_steps=4), E.EvalSpec(rows(1), exporters=Seen(), throttle_secs=600))
    assert steps == [1, 4]


def test_the_best_model_before_is_read_from_event_files(tmp_path: Path) -> None:
    model = line(tmp_path)
    model.train(rows(), steps=1)
    good = model.evaluate(rows(1))
    for loss, better in ((good["loss"] * 2, False), (good["loss"] / 2, True)):
        best = E.BestExporter("best", receiver)
        found = best.export(
            model, str(tmp_path / "export"), model.latest_checkpoint(), {"loss": loss, "global_step": 9}, False
        )
        assert (found is not None) == better
    with pytest.raises(ValueError, match="current_eval_result cannot be empty or no loss is found in it"):
        best.export(model, "", "", {}, False)
    with pytest.raises(ValueError, match="needs a serving_input_receiver_fn"):
        E.BestExporter().export(model, "", "", {"loss": 0.0}, False)


class Unnamed(E.Exporter):
    name = ""

    def export(self, *args: Any) -> None: ...


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: E.TrainSpec(3), TypeError, "`input_fn` must be callable, given: 3"),
        (lambda: E.TrainSpec(rows(), max_steps=0), ValueError, "Must specify max_steps > 0, given: 0"),
        (lambda: E.TrainSpec(rows(), hooks=[1]), TypeError, "All hooks must be `SessionRunHook` instances"),
        (lambda: E.EvalSpec(rows(), steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: E.EvalSpec(rows(), throttle_secs=-1), ValueError, "Must specify throttle_secs >= 0, given: -1"),
        (lambda: E.EvalSpec(rows(), name=3), TypeError, "`name` must be string, given: 3"),
        (lambda: E.EvalSpec(rows(), exporters=[1]), TypeError, "`exporters` must be an Exporter, an iterable of Exporter"),
        (lambda: E.EvalSpec(rows(), exporters=Unnamed()), ValueError, "cannot have a name that is `None` or empty"),
        (
            lambda: E.EvalSpec(rows(), exporters=[E.FinalExporter("a", receiver)] * 2),
            ValueError,
            r"must have unique names. All exporter names: \['a', 'a'\]",
        ),
        (lambda: E.LatestExporter("a", receiver, exports_to_keep=0), ValueError, "must be a positive number. Got 0"),
        (lambda: E.BestExporter(compare_fn=None), ValueError, "`compare_fn` must not be None"),
        (lambda: E.BestExporter(compare_fn=lambda a: True), ValueError, "must include best_eval_result argument"),
        (lambda: E.train_and_evaluate(1, 2, 3), TypeError, "`estimator` must have type `tf.estimator.Estimator`"),
    ],
)
def test_what_does_not_fit_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


# --- in a cluster -------------------------------------------------------------------------------------------------------


def in_task(monkeypatch: pytest.MonkeyPatch, folder: Path, cluster: Any, kind: str, index: int = 0) -> Any:
    """The estimator of a task, and what it is to do."""
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}}))
    model = line(folder, save_checkpoints_steps=2, experimental_max_worker_delay_secs=0)
    training = E.TrainSpec(rows(), max_steps=6)
    return model, training, E.EvalSpec(rows(1), start_delay_secs=0, throttle_secs=0, name=kind)


def test_chief_worker_and_server_train_what_an_evaluator_evaluates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cluster = {job: [f"localhost:{port}"] for job, port in zip(("chief", "worker", "ps"), free_ports(3), strict=True)}
    parts = [in_task(monkeypatch, tmp_path, cluster, kind) for kind in ("chief", "worker", "evaluator")]
    server = tf.train.Server(cluster, job_name="ps", task_index=0)  # as a process of type `ps` has it, without an end
    failures: list[BaseException] = []

    def do(part: Any) -> None:
        try:
            assert E.train_and_evaluate(*part) is None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=do, args=(part,), daemon=True) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    server.stop()
    assert not failures and not any(thread.is_alive() for thread in threads)
    model = parts[0][0]
    assert model.get_variable_value("global_step") >= 6
    assert (tmp_path / "eval_evaluator").is_dir()
    assert "/job:ps/task:0" in (tmp_path / "graph.pbtxt").read_text()


@pytest.mark.parametrize(
    ("kind", "index", "message"),
    [("other", 0, "Task type other is not supported"), ("evaluator", 1, "there can only be one `evaluator` task")],
)
def test_other_tasks_have_no_part(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, index: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        E.train_and_evaluate(*in_task(monkeypatch, tmp_path, {"chief": ["a:1"], "other": ["b:1"]}, kind, index))


# --- early ends ---------------------------------------------------------------------------------------------------------


def test_a_training_ends_when_a_function_says_so(tmp_path: Path) -> None:
    asked: list[bool] = []

    def third_time() -> bool:
        asked.append(True)
        return len(asked) == 3

    model = line(tmp_path)
    hook = E.experimental.make_early_stopping_hook(model, third_time, run_every_secs=None, run_every_steps=1)
    model.train(rows(), steps=9, hooks=[hook])
    assert model.get_variable_value("global_step") == 3
    assert model.get_variable_value("signal_early_stopping/STOP")


def test_workers_end_when_the_chief_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worker, *_ = in_task(monkeypatch, tmp_path, {"chief": ["a:1"], "worker": ["b:1"]}, "worker")
    follows = E.experimental.make_early_stopping_hook(worker, lambda: False)
    chief = line(tmp_path / "chief").config
    assert chief.is_chief is False  # it is of the same environment
    monkeypatch.delenv("TF_CONFIG")
    decides = E.experimental.make_early_stopping_hook(line(tmp_path / "alone"), lambda: True, None, 1)
    tf.train.create_global_step()
    step = tf.assign_add(tf.train.get_global_step(), 1)
    with tf.train.MonitoredSession(hooks=[decides, follows]) as session:
        session.run(step)
        assert session.should_stop()


@pytest.mark.parametrize(
    ("make", "ends"),
    [
        (lambda model: E.experimental.stop_if_higher_hook(model, "loss", 0.5, None, 0, None, 1), True),
        (lambda model: E.experimental.stop_if_higher_hook(model, "loss", 0.5, None, 9, None, 1), False),
        (lambda model: E.experimental.stop_if_lower_hook(model, "loss", 0.5, None, 0, None, 1), True),
        (lambda model: E.experimental.stop_if_lower_hook(model, "loss", 0.1, None, 0, None, 1), False),
        (lambda model: E.experimental.stop_if_no_decrease_hook(model, "loss", 4, None, 0, None, 1), True),
        (lambda model: E.experimental.stop_if_no_decrease_hook(model, "loss", 5, None, 0, None, 1), False),
        (lambda model: E.experimental.stop_if_no_increase_hook(model, "loss", 2, None, 0, None, 1), True),
    ],
)
def test_a_training_ends_by_the_metrics_of_evaluations(tmp_path: Path, make: Any, ends: bool) -> None:
    model = line(tmp_path)
    with tf.summary.FileWriter(model.eval_dir()) as writer:
        for step, loss in ((1, 0.7), (2, 0.3), (4, 0.4), (6, 0.6)):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=loss)]), step)
    assert make(model)._should_stop_fn() is ends
    with pytest.raises(ValueError, match="have no metric 'other', but loss"):
        E.experimental.stop_if_lower_hook(model, "other", 0.0)._should_stop_fn()


def test_early_stopping_refuses(tmp_path: Path) -> None:
    model, make = line(tmp_path), E.experimental.make_early_stopping_hook
    with pytest.raises(TypeError, match=r"`should_stop_fn` must be callable\. Given: 3"):
        make(model, 3)
    with pytest.raises(TypeError, match=r"`estimator` must have type `tf.estimator.Estimator`\. Got: <class 'int'>"):
        make(3, lambda: True)
    with pytest.raises(ValueError, match="Only one of `run_every_secs` and `run_every_steps`"):
        make(model, lambda: True, run_every_steps=1)
    with pytest.raises(ValueError, match=r"invalid every_n_iter=0."):
        E.experimental.InMemoryEvaluatorHook(model, rows(1), every_n_iter=0)


def test_evaluations_within_the_training_see_its_variables(tmp_path: Path) -> None:
    model = line(tmp_path, save_checkpoints_steps=None, save_checkpoints_secs=None)
    hook = E.experimental.InMemoryEvaluatorHook(model, rows(1), name="within", every_n_iter=2)
    model.train(rows(), steps=3, hooks=[hook])
    assert model.latest_checkpoint() is None
    from tfexp.estimator.eval_metrics import metrics_of_folder

    tf.summary.FileWriterCache.clear()
    found = metrics_of_folder(model.eval_dir("within"))
    assert list(found) == [0, 2, 3]
    assert found[0]["error"] == 9.0 and found[3]["error"] < 0.5


def test_workers_wait_for_the_last_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make = E.experimental.make_stop_at_checkpoint_step_hook
    alone = line(tmp_path)
    assert isinstance(make(alone, 2), tf.train.StopAtStepHook)
    alone.train(rows(), steps=2)
    worker, *_ = in_task(monkeypatch, tmp_path, {"chief": ["a:1"], "worker": ["b:1"]}, "worker")
    tf.train.create_global_step()
    step = tf.assign_add(tf.train.get_global_step(), 1)
    with tf.train.MonitoredSession(hooks=[make(worker, 2, 0.01)]) as session:
        session.run(step)
        assert not session.should_stop()
        session.run(step)
        assert session.should_stop()
