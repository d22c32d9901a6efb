"""Training with each `input` beside data in memory.

The training step is the runner's: its graph, its fetches, its feeds. All inputs are built in one process and take turns,
in many short stretches, in an order that is drawn anew each time. An input's speed in a round is its steps over the time of
all its stretches (a fastest one would be one in which no block was read), and is compared with the faster of `feed` and
`preload` in the same round.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import tfexp as tf
from experiments.benchmarks.measuring import OURS, Figure, Options, Worker, serve
from tfexp.experiment.build import build, session_config
from tfexp.experiment.composing import settings_of
from tfexp.experiment.datasets.dataset import prepare
from tfexp.experiment.inputs.feed import Feed
from tfexp.experiment.inputs.from_memory import FromMemory
from tfexp.experiment.inputs.from_records import FromRecords
from tfexp.experiment.inputs.input import Input
from tfexp.experiment.inputs.preload import Preload
from tfexp.experiment.inputs.queue_runners import Queue
from tfexp.experiment.schema import Settings

IN_MEMORY = ("feed", "preload")
_STRETCHES = 10


def inputs(cache: str) -> dict[str, Input]:
    records = FromRecords(files=(), cache=cache, shards=4, shuffle=10000, ignore_errors=False, prefetch=0)
    return {
        "feed": Feed(),
        "preload": Preload(),
        "dataset": FromMemory(prefetch=0),
        "dataset, prefetch=4": FromMemory(prefetch=4),
        "tfrecord": records,
        "tfrecord, shuffle=500": replace(records, shuffle=500),
        "queue": Queue(capacity=64, threads=1),
    }


MODELS = {
    "softmax, 32": ["model=softmax", "train.batch_size=32"],
    "mlp 64-32, 32": ["model=mlp", "model.hidden=[64,32]", "train.batch_size=32"],
    "mlp 300-100, 128": ["model=mlp", "model.hidden=[300,100]", "train.batch_size=128"],
}
"""What is chosen for a run, by the models' names here."""


def settings(words: list[str], given: Input) -> Settings:
    return replace(settings_of(["data=digits", "optimizer=adam", "train.seed=0", *words]), input=given)


@dataclass
class Trained:
    """`steps(n)` makes n steps."""

    steps: Callable[[int], None]


@contextlib.contextmanager
def training(chosen: Settings) -> Iterator[Trained]:
    """The runner's training step, with the input begun."""
    program = build(chosen, chosen.input.prepare(prepare(chosen.data)))
    with tf.Session(graph=program.graph, config=session_config(chosen)) as session:
        session.run(program.initialize)
        program.batches.start(session, 0)
        fetches, next_feeds = (program.train, program.objective, ()), program.batches.next_feeds

        def steps(count: int) -> None:
            for _ in range(count):
                session.run(fetches, next_feeds())

        yield Trained(steps)
        program.batches.stop()


def measure(words: list[str], given: dict[str, Input], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Steps in a second, in each round."""
    speeds: dict[str, list[float]] = {name: [] for name in given}
    with contextlib.ExitStack() as stack:
        entered = {name: stack.enter_context(training(settings(words, each))) for name, each in given.items()}
        counts = {}
        for name, each in entered.items():
            each.steps(200)
            began = time.perf_counter()
            each.steps(200)
            counts[name] = max(1, int(200 * seconds / _STRETCHES / (time.perf_counter() - began)))
        order = list(entered)
        for _ in range(rounds):
            spent = dict.fromkeys(order, 0.0)
            for _ in range(_STRETCHES):
                random.shuffle(order)
                for name in order:
                    began = time.perf_counter()
                    entered[name].steps(counts[name])
                    spent[name] += time.perf_counter() - began
            for name, taken in spent.items():
                speeds[name].append(_STRETCHES * counts[name] / taken)
    return speeds


def figures(options: Options) -> Iterator[Figure]:
    with contextlib.closing(Worker(OURS, sys.executable, __spec__.name)) as worker:
        for title in MODELS:
            if not options.wants(title):
                continue
            speeds = worker.ask(model=title, rounds=options.rounds, seconds=options.seconds)
            best = [max(both) for both in zip(*(speeds[name] for name in IN_MEMORY), strict=True)]
            for name, found in speeds.items():
                rounds = [{OURS: speed, "in memory": most} for speed, most in zip(found, best, strict=True)]
                aim = 0.95 if name == "dataset" else None
                yield Figure("input", f"{title}, {name}", "steps/s", rounds, aim, smaller_is_better=False, base="in memory")


def work() -> None:
    with tempfile.TemporaryDirectory() as cache:
        serve(
            lambda request: measure(
                MODELS[request["model"]], inputs(str(Path(cache))), request["rounds"], request["seconds"]
            )
        )


if __name__ == "__main__":
    work()
