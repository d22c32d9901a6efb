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
from tfexp.experiment.datasets.bundled import Digits
from tfexp.experiment.datasets.dataset import prepare
from tfexp.experiment.inputs.feed import Feed
from tfexp.experiment.inputs.from_memory import FromMemory
from tfexp.experiment.inputs.from_records import FromRecords
from tfexp.experiment.inputs.input import Input
from tfexp.experiment.inputs.preload import Preload
from tfexp.experiment.inputs.queue_runners import Queue
from tfexp.experiment.models.mlp import Activation, Mlp
from tfexp.experiment.models.model import Model
from tfexp.experiment.models.softmax import Softmax
from tfexp.experiment.optimizers import Adam
from tfexp.experiment.replication import Single
from tfexp.experiment.schedules import Constant
from tfexp.experiment.schema import Cluster, Device, EarlyStop, Hosting, Placement, Settings, Train
from tfexp.experiment.update import Async

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


def models() -> dict[str, tuple[Model, int]]:
    """Models with the rows in a batch."""
    return {
        "softmax, 32": (Softmax(l2=0.0), 32),
        "mlp 64-32, 32": (Mlp(hidden=(64, 32), activation=Activation.relu, l2=0.0), 32),
        "mlp 300-100, 128": (Mlp(hidden=(300, 100), activation=Activation.relu, l2=0.0), 128),
    }


def settings(model: Model, batch_size: int, given: Input) -> Settings:
    train = Train(
        steps=1, epochs=None, batch_size=batch_size, seed=0, eval_every=0, checkpoint_every=0, summary_every=0,
        keep_checkpoints=1, early_stop=EarlyStop(patience=None, min_delta=0.0),
    )  # fmt: skip
    cluster = Cluster(
        hosting=Hosting.ray, ps=0, workers=0, ps_hosts=(), worker_hosts=(), address="local", placement=Placement.pack,
        ps_cpus=0, worker_cpus=0, ps_gpus=0, worker_gpus=0, start_within=60,
    )  # fmt: skip
    return Settings(
        model=model,
        data=Digits(standardize=True, test_fraction=0.2, split_seed=0),
        input=given,
        optimizer=Adam(learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8),
        schedule=Constant(),
        device=Device(name="/cpu:0", intra_op_threads=0, inter_op_threads=0, soft_placement=False, log_placement=False),
        cluster=cluster,
        replication=Single(),
        update=Async(),
        train=train,
    )


@dataclass
class Trained:
    """`steps(n)` makes n steps."""

    steps: Callable[[int], None]


@contextlib.contextmanager
def training(chosen: Settings) -> Iterator[Trained]:
    """The runner's training step, with the input begun."""
    program = build(chosen, chosen.input.prepare(prepare(chosen.data)))
    with tf.Session(graph=program.graph, config=session_config(chosen.device)) as session:
        session.run(program.initialize)
        program.batches.start(session, 0)
        fetches, next_feeds = (program.train, program.objective, ()), program.batches.next_feeds

        def steps(count: int) -> None:
            for _ in range(count):
                session.run(fetches, next_feeds())

        yield Trained(steps)
        program.batches.stop()


def measure(model: Model, batch_size: int, given: dict[str, Input], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Steps in a second, in each round."""
    speeds: dict[str, list[float]] = {name: [] for name in given}
    with contextlib.ExitStack() as stack:
        entered = {name: stack.enter_context(training(settings(model, batch_size, each))) for name, each in given.items()}
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
        for title in models():
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
                *models()[request["model"]], inputs(str(Path(cache))), request["rounds"], request["seconds"]
            )
        )


if __name__ == "__main__":
    work()
