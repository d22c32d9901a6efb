"""How long it takes to list, to compare and to report on a thousand runs, each time in a process of its own."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.benchmarks.measuring import OURS, Figure, Options, environment

_RUNS = 1000

CONFIG = """\
model:
  target: tfexp.experiment.models.mlp:Mlp
  hidden: [{hidden}, 32]
  activation: {activation}
  l2: 0.0
data: {{target: 'tfexp.experiment.datasets.bundled:Digits', standardize: true, test_fraction: 0.2, split_seed: 0}}
input: {{target: 'tfexp.experiment.inputs.feed:Feed'}}
optimizer:
  target: tfexp.experiment.optimizers:Adam
  learning_rate: {rate}
  beta1: 0.9
  beta2: 0.999
  epsilon: 1.0e-08
schedule: {{target: 'tfexp.experiment.schedules:Constant'}}
device: {{name: '/cpu:0', intra_op_threads: 0, inter_op_threads: 0, soft_placement: false, log_placement: false}}
cluster:
  hosting: ray
  ps: 0
  workers: 0
  ps_hosts: []
  worker_hosts: []
  address: local
  placement: pack
  ps_cpus: 0
  worker_cpus: 0.5
  ps_gpus: 0
  worker_gpus: 0
  start_within: 120
replication: {{target: 'tfexp.experiment.replication:Single'}}
update: {{target: 'tfexp.experiment.update:Async'}}
train:
  steps: {steps}
  epochs: null
  batch_size: 32
  seed: {seed}
  eval_every: 50
  checkpoint_every: 500
  summary_every: 50
  trace_every: 0
  keep_checkpoints: 5
  early_stop: {{patience: null, min_delta: 0.0}}
"""


def write_runs(root: Path, count: int, evaluations: int = 21) -> None:
    """`count` folders as runs leave them, below `root`: what the commands read of them, and the folders beside it."""
    chance = random.Random(0)
    versions = {"python": "3.11.7", "numpy": "2.4.6", "protobuf": "7.36.2", "ray": "2.60.0", "hydra-core": "1.3.8"}
    columns = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    for number in range(count):
        folder = root / f"2026-11-{1 + number // 100:02}" / f"12-{number // 60 % 60:02}-{number % 60:02}-mlp-{number}"
        (folder / "checkpoints").mkdir(parents=True)
        rate = 10 ** chance.uniform(-4, -1)
        hidden, activation = chance.choice((16, 32, 64, 128)), chance.choice(("relu", "tanh", "sigmoid"))
        steps, best = 50 * (evaluations - 1), 0.05 + 0.3 * abs(math.log10(rate) + 2.5) + 2 / hidden
        config = CONFIG.format(hidden=hidden, activation=activation, rate=rate, steps=steps, seed=number)
        (folder / "config.yaml").write_text(config)
        records = []
        for at in range(evaluations):
            loss = best + 2.3 * math.exp(-at / 4) * chance.uniform(0.9, 1.1)
            train, test = ({"loss": loss * by, "accuracy": math.exp(-loss * by)} for by in (0.9, 1.0))
            records.append({"step": 50 * at, "epoch": at / 1, "learning_rate": rate, "train": train, "test": test})
        (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        manifest = {
            "started": f"2026-11-{1 + number // 100:02}T12:{number // 60 % 60:02}:{number % 60:02}+00:00",
            "process": {"pid": 1, "host": "elsewhere", "began": "2026-11-01T12:00:00.000000+00:00"},
            "command": "python -m tfexp",
            "versions": versions,
            "git": {"commit": "0" * 40, "branch": "main", "changed_files": [], "new_files": []},
            "data": {"origin": "digits", "sha256": "0" * 64, "train_rows": 1438, "test_rows": 359, "columns": columns},
            "ending": {"status": "finished", "at": "", "message": ""},
        }
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=2))
        last = records[-1]
        numbers = {"status": "finished", **{key: last[key] for key in ("step", "epoch", "train", "test")}}
        timing = {"steps": steps, "seconds": chance.uniform(1, 90), "steps_per_second": 2500.0}
        (folder / "result.json").write_text(json.dumps({"numbers": numbers, "timing": timing}, indent=2))


def figures(options: Options) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "outputs"
        write_runs(root, _RUNS)
        folders = sorted(str(path.parent) for path in root.rglob("config.yaml"))
        # name -> the words of the command, and how many seconds it should take at most
        commands: dict[str, tuple[list[str], float | None]] = {
            "--help, so only to start": (["--help"], None),
            f"list {_RUNS}": ([str(root)], 2.0),
            f"list {_RUNS}, two conditions, sorted": ([str(root), "loss<0.4", "activation=relu", "--sort", "loss"], 2.0),
            f"list {_RUNS} as CSV": ([str(root), "--csv"], 2.0),
            f"list {_RUNS} as JSON": ([str(root), "--json"], 2.0),
            f"compare {_RUNS}": (["compare", *folders], 2.0),
            f"compare {_RUNS} with curves": (["compare", *folders, "--curves", f"{scratch}/curves.png"], None),
            "report on 100": (["report", *folders[:100], "--out", f"{scratch}/100.html"], None),
        }
        for name, (words, most) in commands.items():
            if options.wants(name):
                rounds = [{OURS: _seconds(words)} for _ in range(options.rounds)]
                yield Figure("runs", name, "s", rounds, at_most=most)


def _seconds(words: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tfexp.runs", *words], check=True, stdout=subprocess.DEVNULL, env=environment())
    return time.perf_counter() - began
