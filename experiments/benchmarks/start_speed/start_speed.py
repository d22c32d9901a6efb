"""What it takes to begin: importing the engine and a script's first step, in fresh processes; and what is installed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from experiments.benchmarks.measuring import OURS, THEIRS, Figure, Options, environment, in_turn

_IMPORTS = {OURS: "import tfexp as tf", THEIRS: "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()"}
_FIRST_STEP = """
x = tf.placeholder(tf.float32, [None, 8])
w = tf.Variable(tf.zeros([8, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train, {x: [[1.0] * 8] * 4})
"""
_PROGRAMS = {"import": ("", 8.0), "import and first step of a script": (_FIRST_STEP, 4.0)}


def figures(options: Options) -> Iterator[Figure]:
    def seconds(engine: str, program: str) -> float:
        code = f"{_IMPORTS[engine]}\n{_PROGRAMS[program][0]}"
        began = time.perf_counter()
        subprocess.run(
            [options.engines[engine], "-c", code], check=True, env=environment(), stderr=subprocess.DEVNULL, cwd="/"
        )
        return time.perf_counter() - began

    for engine in options.engines:
        seconds(engine, "import")  # the files are in memory from then on
    ask = {engine: lambda program, engine=engine: seconds(engine, program) for engine in options.engines}
    for program, rounds in in_turn(_PROGRAMS, ask, options):
        yield Figure("start", program, "s", rounds, _PROGRAMS[program][1])
    if options.wants("installed") and OURS in (sizes := _installed(options)):
        yield Figure("start", "installed, with all that it needs", "MB", [sizes], 3.0)


_SIZE = """
import importlib.metadata, os, re, sys
def needs(name, seen):
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return
    if found.metadata["Name"] in seen:
        return
    seen[found.metadata["Name"]] = found
    for line in found.requires or ():
        if "extra ==" not in line:
            needs(re.match(r"[A-Za-z0-9_.-]+", line)[0], seen)
seen = {}
for name in sys.argv[1:]:
    needs(name, seen)
files = {os.path.realpath(f.locate()) for d in seen.values() for f in d.files or ()}
print(sum(os.path.getsize(f) for f in files if os.path.isfile(f) and not f.endswith(".pyc")))
"""


def _installed(options: Options) -> dict[str, float]:
    """Megabytes of each engine and of everything that it requires, where it is installed (not from a source tree)."""
    roots = {OURS: ["tfexp"], THEIRS: ["tensorflow", "tensorflow-cpu"]}
    sizes = {}
    for engine, python in options.engines.items():
        found = subprocess.run(
            [python, "-c", _SIZE, *roots[engine]], check=True, env=environment(), capture_output=True, text=True, cwd="/"
        )
        sizes[engine] = int(found.stdout) / 1e6
    return {engine: size for engine, size in sizes.items() if size > 0}


if __name__ == "__main__":
    sys.exit("run it as `python -m experiments.benchmarks start`")
