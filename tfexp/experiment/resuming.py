"""What going on with a run needs: the same data, the evaluations so far, something left to do."""

from __future__ import annotations

import json
from typing import Any

from tfexp.experiment.course import Course, due
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.history import Record, read_records, should_stop
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.schema import Settings

__all__ = ["begun", "dropped_before", "earlier_records", "note_stay", "refuse_if_ended"]


def begun(files: RunFiles, dataset: Dataset) -> dict[str, Any]:
    """The manifest that the run was begun with. Raises ExperimentError if there is none, or it tells of other data."""
    try:
        manifest = json.loads(files.manifest.read_text(encoding="utf-8"))
        before = manifest["data"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExperimentError(f"{files.manifest} is not a run's manifest: {error}") from error
    if before != dataset.digest:
        raise ExperimentError(
            f"the data ({dataset.origin}) is not what {files.path} was begun with: its SHA-256 is "
            f"{dataset.digest}, in {files.manifest.name} it is {before}"
        )
    return dict(manifest)


def earlier_records(files: RunFiles, settings: Settings, step: int) -> list[Record]:
    """The evaluations up to `step` that an uninterrupted run would have made, too.

    The last one of a run that had ended is not among them, as it would not have been made if the run had gone on. Several
    workers pass the steps at which to evaluate without stopping there: of theirs, all up to `step` count.
    """
    several = settings.cluster.worker_count > 0
    return [
        record
        for record in read_records(files.metrics)
        if record["step"] <= step and (several or due(settings.train.eval_every, record["step"]))
    ]


def dropped_before(records: list[Record], workers: int) -> list[int]:
    """The gradients of each worker that had come too late, as the last evaluation said."""
    dropped: list[int] = records[-1].get("dropped", []) if records else []
    return dropped if len(dropped) == workers else [0] * workers


def refuse_if_ended(files: RunFiles, settings: Settings, course: Course, step: int, records: list[Record]) -> None:
    """Raises ExperimentError if nothing is left to do, or what was done is not known: every run is evaluated before its
    first step.
    """
    if not records:
        raise ExperimentError(
            f"{files.metrics} is missing or damaged: it has no evaluation up to step {step}, that of the last checkpoint. "
            f"train.start_from={files.path} begins another run with its variables"
        )
    further = []
    if step >= course.total_steps:
        further.append("a larger train.steps or train.epochs")
    if should_stop(records, settings.train.early_stop):
        further.append("a larger train.early_stop.patience, or null")
    if further:
        raise ExperimentError(
            f"{files.path} has ended, at step {step} of {course.total_steps}: to go further, give {' and '.join(further)}"
        )


def note_stay(files: RunFiles, manifest: dict[str, Any], step: int, facts: dict[str, Any]) -> None:
    """Add a stay that goes on from `step` to the manifest; how the one before ended is no longer how the run ended."""
    stays = [*manifest.get("resumed", []), {"at_step": step, **facts}]
    kept = {name: value for name, value in manifest.items() if name != "ending"}
    files.write_json(files.manifest, {**kept, "process": facts["process"], "resumed": stays})
