"""Whether two runs came to the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfexp.experiment.errors import ExperimentError

__all__ = ["differences", "numbers_of"]


def numbers_of(folder: Path) -> dict[str, Any]:
    """The part of a run's result that its configuration decides. Raises ExperimentError if the run has no
    result.
    """
    path = folder / "result.json"
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))["numbers"]
    except FileNotFoundError as error:
        raise ExperimentError(f"{folder} has no result.json: that run did not finish (resume={folder})") from error
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ExperimentError(f"{path} is not a run's result: {error}") from error
    return dict(numbers)


def differences(before: dict[str, Any], after: dict[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    """(dotted name, value before, value after) of every number that is not equal; None stands for absent."""
    found: list[tuple[str, Any, Any]] = []
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += differences(old, new, f"{prefix}{name}.")
        elif old != new:
            found.append((f"{prefix}{name}", old, new))
    return found
