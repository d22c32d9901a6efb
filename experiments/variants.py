"""Variants of one experiment, run one after the other with the command line, and how each went: for the comparisons here."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tfexp as tf

__all__ = ["Course", "arguments", "course_of", "run"]


@dataclass(frozen=True)
class Course:
    """A run's evaluations: steps, seconds since the first of them, the losses on the training and the test rows."""

    steps: list[int]
    seconds: list[float]
    train: list[float]
    test: list[float]
    result: Mapping[str, Any]


def arguments(program: str) -> argparse.Namespace:
    """--out FOLDER, and words for each run's command line."""
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{program}")
    parser.add_argument("--out", type=Path, default=Path("outputs") / program, help="where the runs and the plot go")
    parser.add_argument("words", nargs="*", help="more for each run's command line, such as train.steps=200")
    return parser.parse_args()


def run(experiment: str, variants: Mapping[str, Sequence[str]], out: Path, words: Sequence[str]) -> dict[str, Course]:
    """Run `experiment` with the words that each variant adds to the command line; a run that is there is not repeated."""
    courses = {}
    for name, own in variants.items():
        folder = out / name.replace(" ", "_")
        if not (folder / "result.json").exists():
            command = [sys.executable, "-m", "tfexp", f"experiment={experiment}", *own, *words, f"hydra.run.dir={folder}"]
            print(" ".join(command[1:]), flush=True)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        courses[name] = course_of(folder)
    return courses


def course_of(folder: Path) -> Course:
    """Of the run in the folder; the seconds are those that its event files have."""
    records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    times = {
        event.step: event.wall_time
        for path in sorted(folder.glob("events.*"))
        for event in tf.train.summary_iterator(str(path))
        if any(value.tag == "train/loss" for value in event.summary.value)
    }
    steps = [record["step"] for record in records]
    return Course(
        steps,
        [times[step] - times[steps[0]] for step in steps],
        [record["train"]["loss"] for record in records],
        [record["test"]["loss"] for record in records],
        json.loads((folder / "result.json").read_text(encoding="utf-8")),
    )
