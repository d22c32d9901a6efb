"""Real runs of `python -m tfexp` on a cluster of processes, whose tasks are killed and suspended by a seeded schedule.

What must hold of each: it comes to its last step and its loss, in one go; evaluations and checkpoints have rising steps; it
goes back to a checkpoint only when a parameter server was lost (or, where one task updates for all, that one in the middle
of an update), and then to one that it had saved; nothing is left running. Where all workers make each step together, every
evaluation is that of one process that nothing happened to: so each gradient was applied once, whoever was lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tfexp as tf
from tests.processes import all_ended

__all__ = ["MODES", "Action", "Broken", "Mode", "Run", "run", "schedule"]


@dataclass(frozen=True)
class Mode:
    """A way to train, by its settings. `as_one`: to the numbers of one process. `steps`: for some seconds of training."""

    words: tuple[str, ...]
    steps: int
    as_one: bool = False

    @property
    def one_updates(self) -> bool:
        """Whether it is one task, the chief, that makes the updates for all."""
        return "update=sync" in self.words


MODES = {
    "async": Mode((), 8000),
    "sync": Mode(("update=sync",), 4000, as_one=True),
    "spare": Mode(("update=sync", "update.spare=1"), 4000),
    "in_graph": Mode(("replication=in_graph", "update=sync"), 4000, as_one=True),
    "in_graph_async": Mode(("replication=in_graph",), 4000),
}

ROOT = Path(next(iter(tf.__path__))).parent
TASKS = ("ps:0", "worker:0", "worker:1")
CHECKPOINT_EVERY = 200
# The loss of linreg on its data, to which any number of steps beyond these comes within that, however they were divided.
_LOSS, _WITHIN = 0.447, 0.02
_PATIENCE = 240.0
_LOST = re.compile(r"^(\S+) is gone \(process (\d+) on .*?\): .* SIGKILL; starting it again")
_RESTORED = re.compile(r"^the variables were restored from model\.ckpt-(\d+): going on after step (\d+)")


class Broken(AssertionError):  # noqa: N818 -- what happened
    """A run did what none may do."""


@dataclass(frozen=True)
class Action:
    """After so many seconds since the action before: SIGKILL, or SIGSTOP and after `pause` seconds SIGCONT."""

    after: float
    task: str
    pause: float | None = None

    def __str__(self) -> str:
        return f"{self.task} {'killed' if self.pause is None else f'suspended {self.pause:.1f} s'}"


@dataclass(frozen=True)
class Run:
    """What a run was put through, its result, and what it said (with the second in which it did)."""

    actions: tuple[Action, ...]
    result: dict[str, Any]
    said: tuple[tuple[float, str], ...]

    @property
    def recoveries(self) -> dict[str, list[float]]:
        """The seconds from a task's loss to the next step of who missed it."""
        found: dict[str, list[float]] = self.result["timing"].get("recovery_seconds", {})
        return found

    @property
    def restored(self) -> int:
        """How often it went back to a checkpoint."""
        return sum(_RESTORED.match(line) is not None for _, line in self.said)


def schedule(seed: int, count: int = 4) -> tuple[Action, ...]:
    chance = random.Random(seed)
    return tuple(
        Action(chance.uniform(0.2, 2.5), chance.choice(TASKS), chance.uniform(0.2, 2.0) if chance.random() < 0.3 else None)
        for _ in range(count)
    )


def run(actions: Sequence[Action], folder: Path, mode: Mode = MODES["async"], steps: int | None = None) -> Run:
    """Train in `folder` while the actions happen; raises Broken."""
    steps = steps or mode.steps
    common = ["model=linreg", f"train.steps={steps}", "train.eval_every=500", "train.summary_every=0"]
    words = ["cluster=2workers", "cluster.hosting=process", f"train.checkpoint_every={CHECKPOINT_EVERY}", *mode.words]
    command = [sys.executable, "-m", "tfexp", *common, *words, "hydra.run.dir=run"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines: queue.SimpleQueue[tuple[float, str] | None] = queue.SimpleQueue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put((time.monotonic(), line.rstrip("\n")))
        lines.put(None)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    said: list[tuple[float, str]] = []
    try:
        for entry in _until_end(lines):
            said.append(entry)
            if "the first step was made" in entry[1]:
                _harass(process, actions, folder / "run")
        process.wait(_PATIENCE)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        assert process.stdout is not None
        process.stdout.close()
    text = "\n".join(line for _, line in said)
    if process.returncode:
        raise Broken(f"the run ended with {process.returncode}:\n{text}")
    found = Run(tuple(actions), json.loads((folder / "run" / "result.json").read_text()), tuple(said))
    _check(found, folder / "run", steps, mode, text)
    if mode.as_one:
        one = [sys.executable, "-m", "tfexp", *common, "hydra.run.dir=one"]
        subprocess.run(one, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
        _compare(_evaluations(folder / "one"), _evaluations(folder / "run"), text)
    return found


def _until_end(lines: queue.SimpleQueue[tuple[float, str] | None]) -> Iterator[tuple[float, str]]:
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            entry = lines.get(timeout=max(0.0, ends - time.monotonic()))
        except queue.Empty:
            raise Broken(f"the run has not ended within {_PATIENCE:g} s") from None
        if entry is None:
            return
        yield entry


def _harass(process: subprocess.Popen[str], actions: Sequence[Action], folder: Path) -> None:
    """Let the actions happen as long as the run goes on."""
    for action in actions:
        if _ended_within(process, action.after):
            return
        rows = json.loads((folder / "tasks.json").read_text())["tasks"]
        pid = next(row["pid"] for row in rows if row["task"] == action.task)
        # A task that is being started again may have no process now: then nothing happens.
        with contextlib.suppress(ProcessLookupError):
            if action.pause is None:
                os.kill(pid, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGSTOP)
                _ended_within(process, action.pause)
                os.kill(pid, signal.SIGCONT)


def _ended_within(process: subprocess.Popen[str], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _evaluations(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def _compare(one: list[dict[str, Any]], run: list[dict[str, Any]], text: str) -> None:
    if [record["step"] for record in run] != [record["step"] for record in one]:
        raise Broken(f"it was not evaluated at the steps at which one process is:\n{text}")
    for ours, theirs in zip(run, one, strict=True):
        loss, right = ours["train"]["loss"], theirs["train"]["loss"]
        if abs(loss - right) > 1e-5 * right:
            raise Broken(f"at step {ours['step']} its loss is {loss}, and that of one process {right}:\n{text}")


def _check(run: Run, folder: Path, steps: int, mode: Mode, text: str) -> None:
    numbers = run.result["numbers"]
    if (numbers["status"], numbers["step"]) != ("finished", steps):
        raise Broken(f"it ended {numbers['status']} at step {numbers['step']} of {steps}:\n{text}")
    if abs(numbers["train"]["loss"] - _LOSS) > _WITHIN:
        raise Broken(f"its loss is {numbers['train']['loss']}, not {_LOSS}:\n{text}")
    evaluated = [record["step"] for record in _evaluations(folder)]
    if evaluated != sorted(set(evaluated)) or evaluated[-1] != steps:
        raise Broken(f"it was evaluated at the steps {evaluated}")
    made = run.result["timing"]["steps_of"].values()
    may_be_lost = False
    for _, line in run.said:
        lost, back = _LOST.match(line), _RESTORED.match(line)
        if lost is not None:
            may_be_lost |= lost[1].startswith("ps") or (mode.one_updates and lost[1] == "worker:0")
        elif back is not None:
            if not may_be_lost:
                raise Broken(f"it went back to a checkpoint though nothing can have been lost:\n{text}")
            if int(back[1]) > int(back[2]):
                raise Broken(f"the checkpoint of step {back[1]} was restored as step {back[2]}:\n{text}")
    if not run.restored and (max(made) if mode.one_updates else sum(made)) > steps:
        raise Broken(f"the workers say that they made {made} of {steps} steps, and none was lost:\n{text}")
    left = [
        row["task"] for row in json.loads((folder / "tasks.json").read_text())["tasks"] if not all_ended([row["pid"]], 0)
    ]
    if left:
        raise Broken(f"{', '.join(left)} run on after the end")
