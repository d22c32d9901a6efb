"""A run once more, from its folder: whether it comes to the same numbers, and if it does not, what may be the reason.

`rerun=<folder>` and `python -m tfexp.reproduce <folder>` are both this.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfexp.experiment.compare import compare, environment_differences, numbers_of, parting_step
from tfexp.experiment.errors import Diverged, ExperimentError
from tfexp.experiment.history import Record, read_records
from tfexp.experiment.outputs import RunFiles, RunFolder
from tfexp.experiment.report import show_environment, show_reproduction
from tfexp.experiment.runner import Experiment, Origin

__all__ = ["SPREAD", "Earlier"]

SPREAD = 0.1
"""How far a metric of workers that are not synchronised may be off, as a part of the way that it went in training."""


class Earlier:
    """What the folder of a run says of it. Raises ExperimentError if the run has no result to compare with."""

    def __init__(self, folder: Path) -> None:
        self.files = RunFiles(folder)
        self.numbers = numbers_of(folder)
        self.records = read_records(self.files.metrics)

    def reproduce(self, experiment: Experiment, folder: RunFolder, origin: Origin, spread: float = SPREAD) -> bool:
        """Run `experiment`, with the earlier run's settings, in `folder`; says, and returns, whether the numbers agree."""
        try:
            after = experiment.run(folder, origin)["numbers"]
        except Diverged as error:
            if self.numbers["status"] != "diverged":
                raise
            print(error)
            after = numbers_of(folder.path)
        repeatable = experiment.settings.repeatable
        found = compare(self.numbers, after, self.records, None if repeatable else spread)
        agree = all(one.agrees for one in found)
        records: list[Record] = read_records(folder.metrics)
        parted = parting_step(self.records, records) if repeatable and not agree else None
        self._show_environment(folder, agree)
        show_reproduction(found, self.files.path, parted, None if repeatable else spread)
        return agree

    def _show_environment(self, folder: RunFolder, agree: bool) -> None:
        try:
            before = self._manifest()
        except ExperimentError as error:
            print(error)
            return
        after = json.loads(folder.manifest.read_text(encoding="utf-8"))
        show_environment(environment_differences(before, after), agree, self._way_back(before, after))

    def _manifest(self) -> dict[str, Any]:
        """What the run was made with; of a run that went on, in its last stay."""
        path = self.files.manifest
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            return dict((manifest.get("resumed") or [manifest])[-1])
        except (OSError, ValueError, AttributeError) as error:
            raise ExperimentError(f"{path} cannot be read, so nothing is known of its environment: {error}") from error

    def _way_back(self, before: dict[str, Any], after: dict[str, Any]) -> str | None:
        """The commands that bring back the code of then, where it was another and is known."""
        git = before.get("git")
        same = before.get("code") == after.get("code") and git == after.get("git")
        if git is None or same:
            return None
        patch = git.get("patch")
        back = f"git checkout {git['commit']}"
        if patch is None:
            return back
        if patch["file"] is None:
            return f"{back} (its {patch['bytes']:,} bytes of uncommitted changes were too many to keep)"
        return f"{back} && git apply {(self.files.path / patch['file']).resolve()}"
