"""Folders of runs, written as runs leave them, without training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

NumbersOf = Callable[[int], float]


def write_run(
    folder: Path,
    *,
    model: str = "tfexp.experiment.models.mlp:Mlp",
    data: str = "tfexp.experiment.datasets.bundled:BreastCancer",
    rate: float = 0.1,
    hidden: tuple[int, ...] = (13,),
    seed: int = 0,
    steps: int = 100,
    loss: NumbersOf = lambda step: 2.0 / (1 + step),
    evaluate: int = 10,
    status: str | None = "finished",
    manifest: dict[str, Any] | None = None,
    result: bool = True,
) -> Path:
    """A run that was evaluated every `evaluate` steps; its accuracy is `1 / (1 + loss)`.

    Without a `status` it has no ending; `manifest` is added to what it says.
    """
    folder.mkdir(parents=True)
    config = {
        "model": {"target": model, "hidden": list(hidden), "activation": "relu"},
        "data": {"target": data, "standardize": True},
        "optimizer": {"target": "tfexp.experiment.optimizers:Adam", "learning_rate": rate},
        "cluster": {"workers": 0, "ps": 0},
        "train": {"steps": steps, "epochs": None, "batch_size": 32, "seed": seed, "early_stop": {"patience": None}},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    records = []
    for step in range(0, steps + 1, evaluate):
        parts = {part: {"loss": loss(step) * by, "accuracy": 1 / (1 + loss(step) * by)} for part, by in PARTS.items()}
        records.append({"step": step, "epoch": step / 11, "learning_rate": rate, **parts})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    facts: dict[str, Any] = {
        "started": "2026-03-04T05:06:07+00:00",
        "command": "python -m tfexp",
        "versions": {"python": "3.11.7", "numpy": "2.4.6"},
        "data": {"origin": "tumours", "sha256": "ab" * 32, "train_rows": 455, "test_rows": 114, "columns": ["radius"]},
    }
    if status is not None:
        facts["ending"] = {"status": status, "at": "2026-03-04T05:07:07+00:00", "message": ""}
    (folder / "manifest.json").write_text(json.dumps({**facts, **(manifest or {})}))
    if result:
        last = records[-1]
        numbers = {"status": status or "finished", **{key: last[key] for key in ("step", "epoch", "train", "test")}}
        timing = {"steps": steps, "seconds": 1.5, "steps_per_second": steps / 1.5}
        (folder / "result.json").write_text(json.dumps({"numbers": numbers, "timing": timing}))
    return folder


PARTS = {"train": 0.5, "test": 1.0}
