"""How long it takes to list, to compare and to report on many runs: see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "outputs"
        write_runs(root, given.runs)
        folders = sorted(str(path.parent) for path in root.rglob("config.yaml"))
        commands = {
            "list": [str(root)],
            "list, two conditions, sorted": [str(root), "loss<0.4", "activation=relu", "--sort", "loss"],
            "list --csv": [str(root), "--csv"],
            "list --json": [str(root), "--json"],
            f"compare {given.runs}": ["compare", *folders],
            f"compare {given.runs} --curves": ["compare", *folders, "--curves", f"{scratch}/curves.png"],
            "report on 100": ["report", *folders[:100], "--out", f"{scratch}/100.html"],
        }
        print(f"| command, on {given.runs} runs | seconds | of the processor |\n|---|---|---|")
        for name, words in {"--help, so only to start": ["--help"], **commands}.items():
            print("| {} | {:.2f} | {:.2f} |".format(name, *_seconds(words, given.rounds)), flush=True)
        print(f"\nthe page of 100 runs has {(Path(scratch) / '100.html').stat().st_size / 1e3:,.0f} kB")


def _seconds(words: list[str], rounds: int) -> tuple[float, float]:
    """The medians, over processes that do nothing else, of the time that passed and of the processor's."""
    passed, used = [], []
    for _ in range(rounds):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, "-m", "tfexp.runs", *words], check=True, stdout=subprocess.DEVNULL)
        passed.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(passed), median(used)


if __name__ == "__main__":
    main()
