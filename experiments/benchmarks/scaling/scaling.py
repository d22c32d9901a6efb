"""How the cost grows: with the nodes of a graph, the size of its parameters, and the trials of a sweep.

Each point is a row, measured in turn beside TensorFlow where it has the same thing; `growth.png` shows the curves.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from experiments.benchmarks.measuring import OURS, Figure, Options, Worker, load, serve, workers

_NODES = (10, 100, 1_000, 10_000, 100_000)
_BYTES = (1_000, 1_000_000, 100_000_000, 1_000_000_000)
_TRIALS = (1, 10, 100, 1_000)
_PARTS = ("build", "gradients", "first step", "step")
_STEPS = 5


def figures(options: Options) -> Iterator[Figure]:
    yield from _of_graphs(options)
    yield from _of_parameters(options)
    yield from _of_trials(options)


def _of_graphs(options: Options) -> Iterator[Figure]:
    """Chains of tanh(h + x): building, gradients, planning, and a known step; µs per node."""
    with workers(options.engines, __spec__.name) as running:
        for nodes in _NODES:
            names = {part: f"graph of {nodes:,} nodes: {part}, per node" for part in _PARTS}
            if any(map(options.wants, names.values())):
                answers = [{e: w.ask(what="graph", size=nodes) for e, w in running.items()} for _ in range(options.rounds)]
                for part, name in names.items():
                    rounds = [{e: a[part] for e, a in row.items()} for row in answers]
                    yield Figure("scaling", name, "µs", rounds, point=(f"{part}, µs per node", nodes))


def _of_parameters(options: Options) -> Iterator[Figure]:
    """A step that adds to a variable, and saving it."""
    for size in _BYTES:
        names = {part: f"{_bytes(size)} of parameters: {part}" for part in ("update", "save")}
        if any(map(options.wants, names.values())):
            with workers(options.engines, __spec__.name) as running:  # no round has what another left
                answers = [
                    {e: w.ask(what="parameters", size=size) for e, w in running.items()} for _ in range(options.rounds)
                ]
            for part, name in names.items():
                rounds = [{e: a[part] for e, a in row.items()} for row in answers]
                yield Figure("scaling", name, "ms", rounds, point=(f"{part}, ms for bytes", size))


def _of_trials(options: Options) -> Iterator[Figure]:
    """Composing and checking the trials of a grid, and showing them (`sweep.dry=true`): ms per trial."""
    for count in _TRIALS:
        name = f"sweep of {count:,}: checked and shown, per trial"
        if options.wants(name):
            with contextlib.closing(Worker(OURS, sys.executable, __spec__.name)) as worker:
                worker.ask(what="trials", size=1)  # imported and warm
                rounds = [{OURS: worker.ask(what="trials", size=count)} for _ in range(options.rounds)]
            yield Figure("scaling", name, "ms", rounds, point=("dry sweep, ms per trial", count))


def _bytes(size: int) -> str:
    return f"{size / 1e9:g} GB" if size >= 1e9 else f"{size / 1e6:g} MB" if size >= 1e6 else f"{size / 1e3:g} kB"


# --- in a worker -----------------------------------------------------------------------------------------------------


def work(engine: str) -> None:
    tf = functools.cache(lambda: load(engine))
    known: dict[str, Callable[[int], Any]] = {
        "graph": lambda size: graph(tf(), size),
        "parameters": lambda size: parameters(tf(), size),
        "trials": trials,
    }
    serve(lambda request: known[request["what"]](request["size"]))


def graph(tf: Any, nodes: int) -> dict[str, float]:
    """µs per node of a graph with about that many."""
    taken: dict[str, float] = {}

    def timed(part: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = work()
        taken[part] = (time.perf_counter() - began) / nodes * 1e6
        return result

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [10])

        def build() -> Any:
            h = x
            for _ in range(nodes // 2):
                h = tf.tanh(h + x)
            return h

        h = timed("build", build)
        timed("gradients", lambda: tf.gradients(h, x))
        feeds = {x: np.ones(10, np.float32)}
        timed("first step", lambda: session.run(h, feeds))
        session.run(h, feeds)
        session.run(h, feeds)
        timed("step", lambda: [session.run(h, feeds) for _ in range(_STEPS)])
        taken["step"] /= _STEPS
    return taken


def parameters(tf: Any, size: int) -> dict[str, float]:
    """ms of a step and of a checkpoint with that many bytes in one variable."""
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        variable = tf.Variable(tf.zeros([size // 4]))
        update, saver = tf.assign_add(variable, variable).op, tf.train.Saver()
        session.run(tf.global_variables_initializer())
        session.run(update)
        taken = {}
        for part, work in (
            ("update", lambda: session.run(update)),
            ("save", lambda: saver.save(session, f"{folder}/model", write_meta_graph=False)),
        ):
            began = time.perf_counter()
            work()
            taken[part] = (time.perf_counter() - began) * 1e3
    return taken


def trials(count: int) -> float:
    """ms per trial."""
    from tfexp.experiment import cli

    before, folder = os.getcwd(), tempfile.mkdtemp(prefix="scaling-")
    os.chdir(folder)
    words = ["-m", "data=line", "train.steps=1", f"train.seed=range({count})", "sweep.dry=true"]
    began = time.perf_counter()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            if status := cli.main(words):
                raise RuntimeError(f"{' '.join(words)} ended with {status}")
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    return (time.perf_counter() - began) / count * 1e3


if __name__ == "__main__":
    work(sys.argv[1])
