"""Measure `Session.run` of tfexp and TensorFlow side by side: `python experiments/benchmarks/step_speed/step_speed.py`.

Each engine builds the same programs (`programs.py`) in a process of its own; the two are measured in turn, round by round,
and never at the same time, so that what else the machine does hits both. The figures are medians over the rounds of each
round's fastest stretch. The processes start without OPENBLAS_* and the like, which some machines export and which cost
NumPy up to half its speed. Measure on a quiet machine: two BLAS threads wait for each other when a core is taken.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
_STRETCHES = 10
_PINNED = ("OPENBLAS_", "OMP_", "MKL_", "GOTO_")


# --- a worker: one engine ----------------------------------------------------------------------------------------


def load(engine: str) -> Any:
    if engine == "tfexp":
        import tfexp

        return tfexp
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


def work(engine: str) -> None:
    """Answer requests on stdin: a program's name and the seconds to spend; µs per step on stdout."""
    from programs import PROGRAMS

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever an engine prints is not an answer
    tf = load(engine)
    steps = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["program"]
        if name not in steps:
            with tf.Graph().as_default():
                steps[name] = PROGRAMS[name][0](tf)
            for _ in range(20):
                steps[name]()
        print(json.dumps(measure(steps[name], request["seconds"])), file=answers, flush=True)


def measure(step: Any, seconds: float) -> float:
    """µs per call: the fastest of ten stretches, which together take about that many seconds.

    What else runs on the machine only ever makes a stretch slower.
    """
    began = time.perf_counter()
    step()
    count = max(3, int(seconds / _STRETCHES / max(time.perf_counter() - began, 1e-6)))
    stretches = []
    for _ in range(_STRETCHES):
        began = time.perf_counter()
        for _ in range(count):
            step()
        stretches.append((time.perf_counter() - began) / count * 1e6)
    return min(stretches)


# --- the table ---------------------------------------------------------------------------------------------------


class Worker:
    def __init__(self, engine: str, python: str):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(_PINNED)}
        environment |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}", "TF_CPP_MIN_LOG_LEVEL": "3"}
        self._process = subprocess.Popen(
            [python, __file__, "--worker", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if engine != "tfexp" else None,
            text=True,
            env=environment,
        )

    def ask(self, program: str, seconds: float) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps({"program": program, "seconds": seconds}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._process.args[-1]} gave up on {program!r}")
        return float(answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def has_tensorflow(python: str) -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorflow') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def main() -> None:
    from programs import PROGRAMS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="per program, engine and round")
    parser.add_argument("--only", default="", help="part of the names of the programs to measure")
    parser.add_argument(
        "--tensorflow-python", default=sys.executable, help="the interpreter that has tensorflow-cpu, if not this one"
    )
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return
    workers = {"tfexp": Worker("tfexp", sys.executable)}
    if has_tensorflow(arguments.tensorflow_python):
        workers["tensorflow"] = Worker("tensorflow", arguments.tensorflow_python)
    print("| program | tfexp, µs | TensorFlow, µs | ratio | aim |\n|---|---|---|---|---|")
    for name, (_, aim) in PROGRAMS.items():
        if arguments.only not in name:
            continue
        rounds = [{e: w.ask(name, arguments.seconds) for e, w in workers.items()} for _ in range(arguments.rounds)]
        times = {engine: statistics.median(r[engine] for r in rounds) for engine in workers}
        # Ratios within a round, so that a slow moment of the machine counts for both.
        ratio = statistics.median(r["tensorflow"] / r["tfexp"] for r in rounds) if "tensorflow" in workers else None
        shown = "- | -" if ratio is None else f"{times['tensorflow']:,.1f} | {ratio:.1f}x"
        print(f"| {name} | {times['tfexp']:,.1f} | {shown} | {'' if aim is None else f'{aim:g}x'} |", flush=True)
    for worker in workers.values():
        worker.close()


if __name__ == "__main__":
    main()
