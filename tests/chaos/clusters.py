"""Real runs of `python -m tfexp` on a cluster of processes, whose tasks are killed and suspended by a seeded schedule.

What must hold of each: it comes to its last step and its loss, in one go; evaluations and checkpoints have rising steps; it
goes back to a checkpoint only when a parameter server was lost, and then to one that it had saved; nothing is left running.
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

__all__ = ["Action", "Broken", "Run", "run", "schedule"]

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


def schedule(seed: int, count: int = 4) -> tuple[Action, ...]:
    chance = random.Random(seed)
    return tuple(
        Action(chance.uniform(0.2, 2.5), chance.choice(TASKS), chance.uniform(0.2, 2.0) if chance.random() < 0.3 else None)
        for _ in range(count)
    )


def run(actions: Sequence[Action], folder: Path, steps: int = 8000, words: Sequence[str] = ()) -> Run:
    """Train in `folder` while the actions happen; raises Broken."""
    command = [
        sys.executable, "-m", "tfexp", "model=linreg", "cluster=2workers", "cluster.hosting=process",
        f"train.steps={steps}", f"train.checkpoint_every={CHECKPOINT_EVERY}", "train.eval_every=500",
        "train.summary_every=0", "hydra.run.dir=run", *words,
    ]  # fmt: skip
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
    _check(found, folder / "run", steps, text)
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


def _check(run: Run, folder: Path, steps: int, text: str) -> None:
    numbers = run.result["numbers"]
    if (numbers["status"], numbers["step"]) != ("finished", steps):
        raise Broken(f"it ended {numbers['status']} at step {numbers['step']} of {steps}:\n{text}")
    if abs(numbers["train"]["loss"] - _LOSS) > _WITHIN:
        raise Broken(f"its loss is {numbers['train']['loss']}, not {_LOSS}:\n{text}")
    evaluated = [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    if evaluated != sorted(set(evaluated)) or evaluated[-1] != steps:
        raise Broken(f"it was evaluated at the steps {evaluated}")
    made = sum(run.result["timing"]["steps_of"].values())
    servers_lost = 0
    for _, line in run.said:
        lost, restored = _LOST.match(line), _RESTORED.match(line)
        if lost is not None:
            servers_lost += lost[1].startswith("ps")
        elif restored is not None:
            if not servers_lost:
                raise Broken(f"it went back to a checkpoint though no parameter server was lost:\n{text}")
            if int(restored[1]) > int(restored[2]):
                raise Broken(f"the checkpoint of step {restored[1]} was restored as step {restored[2]}:\n{text}")
    if not servers_lost and made > steps:
        raise Broken(f"the workers say that they made {made} steps of {steps}, and none was lost:\n{text}")
    left = [row["task"] for row in json.loads((folder / "tasks.json").read_text())["tasks"] if _runs(row["pid"])]
    if left:
        raise Broken(f"{', '.join(left)} run on after the end")


def _runs(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
