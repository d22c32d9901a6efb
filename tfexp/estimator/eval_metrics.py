"""The metrics of past evaluations, read from their event files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

from tfexp.formats.event import read_events


def metrics_of_files(files: Iterable[str]) -> dict[int, dict[str, float]]:
    """The scalars of event files by step, in the order of the steps."""
    found: dict[int, dict[str, float]] = {}
    for file in files:
        for event in read_events(file):
            scalars = {
                value.tag: value.simple_value for value in event.summary.value if value.WhichOneof("value") == "simple_value"
            }
            if scalars:
                found.setdefault(event.step, {}).update(scalars)
    return dict(sorted(found.items()))


def metrics_of_folder(eval_dir: str) -> dict[int, dict[str, float]]:
    """The same of a folder of evaluations, which need not be there yet."""
    return metrics_of_files(sorted(glob.glob(os.path.join(glob.escape(eval_dir), "*.tfevents.*"))))
