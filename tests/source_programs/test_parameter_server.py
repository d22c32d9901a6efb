"""One parameter server and two workers as three processes of one program, stopped half-way and started again."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import tfexp as tf
from tests.distributed.clusters import free_ports

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "experiments" / "parameter_server" / "linear.py"


@contextlib.contextmanager
def _tasks(folder: Path, steps: int) -> Iterator[dict[str, subprocess.Popen[str]]]:
    ps, *workers = free_ports(3)
    common = [
        f"--ps_hosts=localhost:{ps}",
        f"--worker_hosts={','.join(f'localhost:{port}' for port in workers)}",
        f"--logdir={folder}",
        f"--steps={steps}",
        "--save_secs=1",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started: dict[str, subprocess.Popen[str]] = {}
    try:
        for job, index in (("ps", 0), ("worker", 0), ("worker", 1)):
            command = [sys.executable, str(PROGRAM), f"--job_name={job}", f"--task_index={index}", *common]
            started[f"{job}:{index}"] = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
            )
        yield started
    finally:
        for process in started.values():
            process.kill()
            process.communicate()


def _line_with(process: subprocess.Popen[str], words: str) -> str:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return line
    raise AssertionError(f"{words!r} was not printed, but\n{''.join(seen)}")


def _number_after(words: str, line: str) -> int:
    found = re.search(rf"{words}\s*(\d+)", line)
    assert found is not None, line
    return int(found[1])


def test_training_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    with _tasks(folder, 10**9) as tasks:
        assert _line_with(tasks["ps:0"], "waiting") == "waiting....\n"
        for worker in ("worker:0", "worker:1"):
            _line_with(tasks[worker], "sess ok")
        while tf.train.latest_checkpoint(str(folder)) is None or _saved_step(folder) == 0:
            _line_with(tasks["worker:0"], "cost=")
            _line_with(tasks["worker:1"], "cost=")
        for process in tasks.values():
            process.send_signal(signal.SIGKILL)
    # Workers update while the chief saves, so the file's name may be a few steps behind the counter in it.
    saved = int(tf.train.load_variable(str(folder), "global_step"))
    with _tasks(folder, saved + 1000) as tasks:
        for worker in ("worker:0", "worker:1"):
            assert _number_after("begins at step", _line_with(tasks[worker], "sess ok")) >= saved
        for worker in ("worker:0", "worker:1"):
            assert _line_with(tasks[worker], "Finished!") == "Finished!\n"
            assert tasks[worker].wait(30) == 0
    assert _saved_step(folder) >= saved + 1000
    weight = tf.train.load_variable(str(folder), "weight")
    assert abs(float(weight[0]) - 2) < 0.5


def _saved_step(folder: Path) -> int:
    path = tf.train.latest_checkpoint(str(folder))
    assert path is not None
    return int(path.rpartition("-")[2])
