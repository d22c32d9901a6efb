"""Whether two runs came to the same numbers, and what differs in what they were made with."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.outputs import RunFiles, require_run

__all__ = ["Compared", "compare", "environment_differences", "flat", "numbers_of", "parting_step"]


@dataclass(frozen=True)
class Compared:
    """A number of two runs. `tolerance` is how far the two may be apart; None: they are to be equal, to the bit."""

    name: str
    before: Any
    after: Any
    tolerance: float | None = None

    @property
    def equal(self) -> bool:
        return bool(self.before == self.after)

    @property
    def agrees(self) -> bool:
        return self.equal or (self.tolerance is not None and abs(self.difference) <= self.tolerance)

    @property
    def difference(self) -> float:
        """nan for what is no number in both."""
        both = (self.before, self.after)
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in both)
        return float(self.after - self.before) if numbers else math.nan


def numbers_of(folder: Path) -> dict[str, Any]:
    """The part of a run's result that its configuration decides. Raises ExperimentError if the run has no
    result.
    """
    require_run(folder)
    path = RunFiles(folder).result
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))["numbers"]
    except FileNotFoundError as error:
        raise ExperimentError(f"{folder} has no result.json: that run did not finish (resume={folder})") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ExperimentError(f"{path} is not a run's result: {error}") from error
    return dict(numbers)


def compare(
    before: dict[str, Any], after: dict[str, Any], records: list[dict[str, Any]], spread: float | None
) -> list[Compared]:
    """Every number of two results, by its dotted name; None stands for one that is absent.

    With a `spread` (of runs that need not be equal), a metric may be off by this part of the way that it went over the
    evaluations `records`, and of what else there is only the data is compared.
    """
    flat_before, flat_after = flat(before), flat(after)
    found = []
    for name in {**flat_before, **flat_after}:
        tolerance = None
        if spread is not None:
            if name != "data_sha256" and not name.startswith(("train.", "test.")):
                continue
            part, _, metric = name.partition(".")
            values = [record[part][metric] for record in records if metric in record.get(part, {})]
            tolerance = spread * (max(values) - min(values)) if metric and values else None
        found.append(Compared(name, flat_before.get(name), flat_after.get(name), tolerance))
    return found


def parting_step(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> int | None:
    """The first step whose evaluations differ; None where all that both have are equal."""
    for old, new in zip(before, after, strict=False):
        if {**old, "bytes_per_step": None} != {**new, "bytes_per_step": None}:  # steps' numbers grow longer
            return int(min(old["step"], new["step"]))
    return None


_ENVIRONMENT = ("versions", "code", "git", "data", "start", "host", "runtime", "environment", "working_directory")
_NOT_CODE = ("git.changed_files", "git.new_files", "git.branch", "git.patch.file", "git.patch.bytes")
"""What the digest of the patch says as well."""


def environment_differences(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """(dotted name, value before, value after) of all that two manifests say differently of what could change numbers.

    A section that one of the manifests does not have is left out.
    """
    both = [name for name in _ENVIRONMENT if before.get(name) is not None and after.get(name) is not None]
    old, new = (flat({name: manifest[name] for name in both}) for manifest in (before, after))
    names = [name for name in {**old, **new} if not name.startswith(_NOT_CODE)]
    return [(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The leaves of nested dictionaries by dotted names."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
