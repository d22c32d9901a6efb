"""Runs on a cluster of processes: what they learn and leave, how they stop, go on and fail."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from run_files import numbers, records

import tfexp as tf
from tests.processes import all_ended

ROOT = Path(next(iter(tf.__path__))).parent
TWO = ["cluster=2workers", "cluster.hosting=process"]
UNTIL_ENDED = ["train.steps=1000000", "train.checkpoint_every=50", "train.eval_every=0", "hydra.run.dir=run"]
LONG = [*TWO, *UNTIL_ENDED]
NO_RESTARTS = [*LONG, "cluster.restarts=0"]
PEERS = ["cluster=2peers", "cluster.hosting=process", *UNTIL_ENDED]


def task_pids(folder: Path) -> dict[str, int]:
    return {row["task"]: row["pid"] for row in json.loads((folder / "tasks.json").read_text())["tasks"]}


def test_learns_leaves_and_says_all_that_a_run_does_and_where_its_tasks_were(cli: Callable, tmp_path: Path) -> None:
    common = ["train.steps=300", "train.eval_every=100"]
    assert cli(*common, "hydra.run.dir=one").code == 0
    ended = cli(*common, *TWO, "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    run = tmp_path / "run"
    alone, together = numbers(tmp_path / "one"), numbers(run)
    assert together["train"]["loss"] == pytest.approx(alone["train"]["loss"], rel=0.02)
    assert together["test"]["r2"] == pytest.approx(alone["test"]["r2"], abs=0.05)
    assert {path.name.split(".out.")[0] for path in run.iterdir()} == {
        "config.yaml", "overrides.yaml", "manifest.json", "metrics.jsonl", "events", "checkpoints", "graph.pbtxt",
        "result.json", "tasks.json", "logs",
    }  # fmt: skip
    assert {path.name for path in (run / "logs").iterdir()} == {"ps-0.log", "worker-0.log", "worker-1.log"}
    assert "ps:0 serves at grpc://localhost:" in (run / "logs" / "ps-0.log").read_text()
    tasks = json.loads((run / "tasks.json").read_text())
    assert tasks["hosting"] == "process"
    assert [row["task"] for row in tasks["tasks"]] == ["ps:0", "worker:0", "worker:1"]
    assert len({row["port"] for row in tasks["tasks"]} | {row["pid"] for row in tasks["tasks"]}) == 6
    assert all(row["blas_threads"] == max(1, row["cores"] // 3) for row in tasks["tasks"])
    assert all_ended(task_pids(run).values())

    steps = json.loads((run / "result.json").read_text())["timing"]["steps_of"]
    assert sum(steps.values()) == 300
    assert all(made > 0 for made in steps.values()), "both workers trained"
    first, *_, last = records(run)
    assert (first["step"], last["step"]) == (0, 300)
    # The same values to begin with: the same seed, wherever the variables are.
    assert len(first.pop("staleness")) == 2
    assert first == records(tmp_path / "one")[0]
    values = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(run / "checkpoints")))
    assert values.get_tensor("global_step") == 300
    graph = (run / "graph.pbtxt").read_text()
    assert 'device: "/job:ps/task:0/device:CPU:0"' in graph
    assert 'device: "/job:worker/task:0/device:CPU:0"' in graph

    lines = ended.out.splitlines()
    for said in (
        "starting 3 processes",
        "waiting for ps:0, worker:0, worker:1 to start",
        "waiting for worker:0 to initialise the variables",
    ):
        assert said in lines
    assert any(re.fullmatch(r"the first step was made \d+\.\d s after the start", line) for line in lines)
    assert any(re.search(r"step \d+/300  loss .* steps/s .* left  worker:0 \d+, worker:1 \d+", line) for line in lines)
    for task in ("ps:0", "worker:0", "worker:1"):
        assert any(re.search(rf"{task} .* {task_pids(run)[task]} ", line) for line in lines), "the table of the tasks"
    assert "finished after step 300" in ended.out


@pytest.mark.usefixtures("tasks_are_threads")  # when it goes on
def test_a_signal_saves_and_the_run_goes_on(cli: Callable, tmp_path: Path) -> None:
    """SIGINT: what SIGTERM does, the next test and one of test_ray_runs look at."""
    with started(LONG, tmp_path) as process:
        wait_for(process, "the first step was made")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "stopping: every worker ends its step" in out
    found = re.fullmatch(
        r"tfexp: stopped after step (\d+) of 1000000, saved in run/checkpoints/model\.ckpt-(\d+)\n"
        r"go on with: python -m tfexp resume=run\n",
        err,
    )
    assert found is not None, err
    step = int(found[1])
    assert int(found[2]) == step > 0
    assert all_ended(task_pids(tmp_path / "run").values())
    assert not (tmp_path / "run" / "result.json").exists()

    ended = cli("resume=run", f"train.steps={step + 60}")
    assert ended.code == 0, ended.err
    assert "waiting for worker:0 to restore the variables" in ended.out
    assert numbers(tmp_path / "run")["step"] == step + 60
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert [stay["at_step"] for stay in manifest["resumed"]] == [step]
    assert "60 steps in " in ended.out

    ended = cli("resume=run")
    assert ended.code == 1
    assert ended.err.startswith(f"tfexp: run has ended, at step {step + 60} of {step + 60}")


def test_a_signal_while_the_tasks_start_ends_them(tmp_path: Path) -> None:
    with started(LONG, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "starting 3 processes\n"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert err == "tfexp: stopped before the first step: nothing was trained\n"
    assert "the first step" not in out
    assert until_no_process_names(str(tmp_path / "run"))


def until_no_process_names(folder: str, seconds: float = 60) -> bool:
    """Whether the tasks, whose logs are in the folder, have ended."""

    def open_there() -> bool:
        for path in Path("/proc").glob("[0-9]*/fd/1"):
            try:
                if os.readlink(path).startswith(folder):
                    return True
            except OSError:
                continue  # it has ended meanwhile, or is somebody else's
        return False

    return until(lambda: not open_there(), seconds)


@pytest.mark.usefixtures("tasks_are_threads")  # when it goes on
def test_a_killed_driver_takes_its_tasks_along_and_the_run_goes_on(cli: Callable, tmp_path: Path) -> None:
    with started(LONG, tmp_path) as process:
        wait_for(process, "step 100000/1000000", instead=lambda: saved(tmp_path / "run") >= 50)
        pids = list(task_pids(tmp_path / "run").values())
        process.kill()
        process.communicate(timeout=60)
    assert all_ended(pids)
    # The other worker makes steps while a checkpoint is written, so that it may hold a later one than its name says.
    step = int(tf.train.load_variable(str(tmp_path / "run" / "checkpoints"), "global_step"))
    ended = cli("resume=run", f"train.steps={step + 40}", "cluster.hosting=process")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["step"] >= step + 40


@pytest.mark.parametrize(
    ("task", "words"),
    [("ps:0", NO_RESTARTS), ("worker:0", NO_RESTARTS), ("worker:1", PEERS)],
)
def test_a_task_that_dies_ends_the_run_with_one_error_if_it_may_not_be_started_again(
    task: str, words: list[str], cli: Callable, tmp_path: Path
) -> None:
    def kill() -> dict[str, int]:
        assert until(lambda: saved(tmp_path / "run") >= 50)
        pids = task_pids(tmp_path / "run")
        os.kill(pids[task], signal.SIGKILL)
        return pids

    with ThreadPoolExecutor(1) as thread:
        killing = thread.submit(kill)
        ended = cli(*words)
        pids = killing.result()
    assert ended.code == 1
    lines = ended.err.splitlines()
    assert re.fullmatch(
        rf"tfexp: {task} is gone \(process {pids[task]} on .+\): its process was killed by SIGKILL", lines[0]
    )
    assert lines[1] == f"the end of run/logs/{task.replace(':', '-')}.log:"
    assert lines[2].startswith(f"  {task} serves at grpc://localhost:")
    assert re.fullmatch(r"saved in run/checkpoints/model\.ckpt-\d+", lines[-2])
    assert lines[-1] == "go on with: python -m tfexp resume=run"
    assert "Traceback" not in ended.err
    assert all_ended(pids.values())


def test_divergence_of_any_worker_ends_the_run(cli: Callable, tmp_path: Path) -> None:
    ended = cli(*TWO, "optimizer.learning_rate=1e4", "train.eval_every=0", "hydra.run.dir=run")
    assert ended.code == 1
    assert re.fullmatch(
        r"tfexp: worker:\d: the loss is (inf|nan) at step \d+; the last good checkpoint is run/checkpoints/model\.ckpt-0\. "
        r"A lower optimizer\.learning_rate than 10000 may help\n",
        ended.err,
    ), ended.err
    assert numbers(tmp_path / "run")["status"] == "diverged"


def test_a_fault_in_ones_own_model_is_shown_with_its_task(cli: Callable, tmp_path: Path) -> None:
    """It can be built where the run starts, and not in a task."""
    (tmp_path / "fragile_nets.py").write_text(
        "import sys\n"
        "from dataclasses import dataclass\n"
        "from tfexp.experiment.models.dense import dense\n"
        "from tfexp.experiment.models.model import Regression\n"
        "@dataclass(frozen=True)\n"
        "class Fragile(Regression):\n"
        "    def outputs(self, features, spec):\n"
        "        if 'tfexp.distributed.process_host' in sys.argv[0].replace('/', '.'):\n"
        "            raise OSError('there is no such file here')\n"
        "        return dense(features, 1, 'out')\n"
    )
    command = ["model=own", "model.target=fragile_nets:Fragile", *TWO, "hydra.run.dir=run"]
    with started(command, tmp_path) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    lines = err.splitlines()
    assert re.fullmatch(r"tfexp: worker:\d failed: OSError: there is no such file here", lines[0])
    assert lines[-2] == "  OSError: there is no such file here"
    assert lines[-1] == "nothing was saved yet"


class started:  # noqa: N801 -- reads as a verb
    """The command in a process of its own, ended with the block."""

    def __init__(self, words: list[str], folder: Path):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tfexp", *words],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __enter__(self) -> subprocess.Popen[str]:
        return self.process

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def wait_for(process: subprocess.Popen[str], text: str, instead: Callable[[], bool] = lambda: False) -> None:
    """Read on until a line has `text`, or something else is true."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line or "the first step was made" in line:
            break
    until(lambda: text in line or instead())


def until(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """Wait for it; whether it came."""
    ends = time.monotonic() + seconds
    while not holds() and time.monotonic() < ends:
        time.sleep(0.02)
    return holds()


def saved(folder: Path) -> int:
    """The step of the last checkpoint."""
    path = tf.train.latest_checkpoint(str(folder / "checkpoints"))
    return -1 if path is None else int(path.rpartition("-")[2])
