"""What a worker that is killed costs the others: they train by themselves, and should hardly notice.

One parameter server and three workers, as processes of this machine. Every worker begins `pace` steps a second, so that
the machine has time left: what is measured is who waits for whom, not that a process which starts takes the CPU from the
others, who would have machines of their own. With a pace of 0 they train as fast as they can, and it is both.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.distributed.gang import Gang, Restarts
from tfexp.distributed.hosted import Member
from tfexp.distributed.hosting import Hosting, TaskSpec, Work

__all__ = ["Round", "measure", "train"]

_WORKERS, _VICTIM = 3, "worker:2"
_TELL_EVERY = 0.2
"""Seconds between two words of a worker."""
_FEATURES, _BATCH = 100, 32


@dataclass(frozen=True)
class Round:
    """Steps a second of all workers that go on: in two windows before the kill, and from it until the other trains again."""

    first: float
    second: float
    without: float
    seconds: float
    """From the kill until the one that was killed trains again."""

    @property
    def cost(self) -> float:
        """The part of their steps that the others have lost."""
        return 1 - self.without / ((self.first + self.second) / 2)

    @property
    def nothing(self) -> float:
        """What would be called a cost though nobody was killed: the second window beside the first."""
        return 1 - self.second / self.first


def measure(hosting: Callable[[Path], Hosting], rounds: int, pace: float, window: float) -> Iterator[Round]:
    """Kill a worker so many times; `window` is the seconds of each of the windows before."""
    work = Work("experiments.survival.killed:train", {"pace": pace})
    tasks = [TaskSpec("ps", 0), *(TaskSpec("worker", index, work) for index in range(_WORKERS))]
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        with Gang(hosting(logs), tasks, logs, lambda text: None, restarts=Restarts(rounds)) as gang:
            following = _Following(gang)
            following.until(lambda: len(following.ready) == _WORKERS)
            following.let_go()
            following.until(lambda: all(following.times.values()))
            for _ in range(rounds):
                yield following.round(window)
            following.end()
            gang.dismiss()


class _Following:
    """What is heard of the workers: when each of their steps ended, by the clock that all processes of a machine have."""

    def __init__(self, gang: Gang):
        self.gang = gang
        self.times: dict[str, list[float]] = {f"worker:{index}": [] for index in range(_WORKERS)}
        self.ready: set[str] = set()
        self.going = False
        self.ended: set[str] = set()

    def let_go(self) -> None:
        self.going = True
        self.gang.tell("go", *self.times)

    def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            name, message = self.gang.next()
            match message["kind"]:
                case "ready":
                    self.ready.add(name)
                    if self.going:
                        self.gang.tell("go", name)
                case "steps":
                    self.times[name] += message["times"]
                case "ended":
                    self.ended.add(name)

    def until_heard_after(self, moment: float) -> None:
        """All workers have told of steps after that."""
        self.until(lambda: all(times[-1] > moment for times in self.times.values()))

    def round(self, window: float) -> Round:
        begin = time.monotonic()
        self.until_heard_after(begin + 2 * window)
        killed = time.monotonic()
        os.kill(next(row.pid for row in self.gang.rows if row.task == _VICTIM and row.pid), signal.SIGKILL)
        self.times[_VICTIM] = [killed]
        self.until(lambda: len(self.times[_VICTIM]) > 1)
        back = self.times[_VICTIM][1]
        self.until_heard_after(back)
        first, second = self._rate(begin, begin + window), self._rate(begin + window, begin + 2 * window)
        return Round(first, second, self._rate(killed, back), back - killed)

    def _rate(self, begin: float, end: float) -> float:
        others = [times for name, times in self.times.items() if name != _VICTIM]
        return sum(begin < moment <= end for times in others for moment in times) / (end - begin)

    def end(self) -> None:
        self.gang.tell("stop", *self.times)
        self.until(lambda: len(self.ended) == _WORKERS)


def train(member: Member, arguments: dict[str, Any]) -> dict[str, Any]:
    """The work of a worker: steps of a regression, until it is told to stop."""
    task = f"/job:worker/task:{member.index}"
    generator = np.random.RandomState(member.index)
    feed_x = generator.randn(_BATCH, _FEATURES).astype(np.float32)
    feed_y = feed_x.sum(1, keepdims=True)
    with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(cluster=member.cluster, worker_device=task)):
        x, y = tf.placeholder(tf.float32, [None, _FEATURES]), tf.placeholder(tf.float32, [None, 1])
        step = tf.train.get_or_create_global_step()
        weights = tf.get_variable("weights", [_FEATURES, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
        update = tf.train.GradientDescentOptimizer(1e-3).minimize(loss, global_step=step)
        initialize, missing = tf.global_variables_initializer(), tf.report_uninitialized_variables()
        config = tf.ConfigProto(device_filters=["/job:ps", task])
        with tf.Session(member.target, config=config) as session:
            if member.index == 0:
                session.run(initialize)
            member.send("ready")
            member.wait_for("go")
            assert not len(session.run(missing)), "the server has the variables as long as it lives"
            _steps(member, lambda: session.run(update, {x: feed_x, y: feed_y}), arguments["pace"])
    return {}


def _steps(member: Member, step: Callable[[], Any], pace: float) -> None:
    times: list[float] = []
    due = told = time.monotonic()
    while not member.stopping:
        step()
        now = time.monotonic()
        times.append(now)
        if now - told >= _TELL_EVERY:
            member.send("steps", times=times)
            times, told = [], now
        if pace:
            # A pace, for which nobody is waited for. One that is late begins at once, and does not make up for it: a stall
            # is seen as steps that are not made.
            due = max(due + 1 / pace, now)
            time.sleep(due - now)
