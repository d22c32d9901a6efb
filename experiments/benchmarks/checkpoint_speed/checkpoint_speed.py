"""Saving and restoring 200 MB of variables, with `tf.train.Saver`, to a folder in memory where there is one."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from experiments.benchmarks.measuring import Figure, Options, in_turn, load, serve, workers

_VARIABLES, _FLOATS = 20, 2_500_000  # each


def figures(options: Options) -> Iterator[Figure]:
    with workers(options.engines, __spec__.name) as running:
        ask = {
            engine: lambda program, worker=worker: float(worker.ask(program=program.partition(" ")[0]))
            for engine, worker in running.items()
        }
        for program, rounds in in_turn(("save 200 MB", "restore 200 MB"), ask, options):
            yield Figure("checkpoint", program, "s", rounds, 1.0)


def work(engine: str) -> None:
    tf = load(engine)
    variables = [tf.get_variable(f"v{i}", initializer=tf.random_normal([_FLOATS], seed=i)) for i in range(_VARIABLES)]
    saver = tf.train.Saver(variables)
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder,
        tf.Session() as session,
    ):
        session.run(tf.global_variables_initializer())
        path = saver.save(session, f"{folder}/model", write_meta_graph=False)

        def answer(request: dict[str, Any]) -> float:
            began = time.perf_counter()
            if request["program"] == "save":
                saver.save(session, f"{folder}/model", write_meta_graph=False)
            else:
                saver.restore(session, path)
            return time.perf_counter() - began

        serve(answer)


if __name__ == "__main__":
    work(sys.argv[1])
