"""One run, as its folder tells of it. Whatever is missing or damaged is said in `problems`, never raised."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfexp.experiment.choices import choice_of
from tfexp.experiment.compare import flat
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.reporting.liveness import at_work

__all__ = ["STATUSES", "History", "Run", "is_run", "read_run"]

STATUSES = ("finished", "stopped early", "halved", "interrupted", "failed", "diverged", "running", "unknown")
"""halved: ended by a sweep, for others were better. interrupted: by a signal, or its process is gone. unknown: the folder
does not say, or another machine would know.
"""

Record = dict[str, Any]
"""A line of metrics.jsonl, see `history.Record`."""

_SECTIONS = ("model", "data", "optimizer", "train")
_TAIL = 8192
"""Bytes at the end of metrics.jsonl in which its last whole line is looked for."""


@dataclass(frozen=True)
class History:
    """The evaluations that could be read, in order of their steps, and what could not be."""

    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """`numbers` is the part {"train", "test"} of the last evaluation, `step` and `epoch` are those of that evaluation."""

    path: Path
    name: str
    """The path below the folder that was searched."""
    status: str
    problems: tuple[str, ...]
    config: dict[str, Any]
    manifest: dict[str, Any]
    numbers: dict[str, dict[str, float]]
    step: int | None
    epoch: float | None
    timing: dict[str, Any]

    @functools.cached_property
    def settings(self) -> dict[str, Any]:
        """Settings by their dotted names; a section's own name stands for the choice that was made."""
        found: dict[str, Any] = {}
        for section, values in self.config.items():
            if isinstance(values, dict):
                if "target" in values:
                    found[section] = choice_of(str(section), str(values["target"]))
                found |= flat({section: {name: value for name, value in values.items() if name != "target"}})
            else:
                found[str(section)] = values
        return found

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """What there is beside the settings and the metrics."""
        git, process = self.manifest.get("git"), self.manifest.get("process")
        return {
            "run": self.name,
            "status": self.status,
            "step": self.step,
            "epoch": self.epoch,
            "seconds": self.timing.get("seconds"),
            "steps_per_second": self.timing.get("steps_per_second"),
            "started": self.manifest.get("started"),
            "host": process.get("host") if isinstance(process, dict) else None,
            "commit": git.get("commit") if isinstance(git, dict) else None,
            "command": self.manifest.get("command"),
            "problem": "; ".join(self.problems) or None,
        }

    @functools.cached_property
    def values(self) -> dict[str, Any]:
        """All of it by dotted names: facts, metrics (`test.loss`), settings (`optimizer.learning_rate`)."""
        return {**self.settings, **flat(self.numbers), **self.facts}

    def history(self) -> History:
        """The evaluations in metrics.jsonl."""
        return _history(RunFiles(self.path).metrics)


def is_run(names: set[str]) -> bool:
    """Whether a folder with these files and folders in it is a run's, whole or in part."""
    return ("config.yaml" in names and not names.isdisjoint(_BESIDE)) or {"manifest.json", "metrics.jsonl"} <= names


_BESIDE = {"manifest.json", "metrics.jsonl", "result.json", "checkpoints"}


def read_run(path: Path, name: str | None = None) -> Run:
    """The run in the folder `path`."""
    files, problems = RunFiles(path), []
    config, problem = _yaml(files.config)
    if problem:
        problems.append(problem)
    manifest, problem = _json(files.manifest)
    if problem:
        problems.append(problem)
    result, problem = _json(files.result)
    if problem and files.result.exists():
        problems.append(problem)
    told = result.get("numbers")
    told = told if isinstance(told, dict) else {}
    numbers, step, epoch = _numbers(told), _number(told.get("step")), _number(told.get("epoch"))
    status = _status(manifest, told)
    if not numbers or status == "running":
        last = _last_record(files.metrics)
        if last is not None:
            numbers = _numbers(last)
            step, epoch = (_number(last.get(key)) for key in ("step", "epoch"))
    ending = manifest.get("ending")
    if isinstance(ending, dict):
        problems += str(ending.get("message") or "").splitlines()[:1]
    elif status == "interrupted":
        problems.append("its process is gone")
    timing = result.get("timing")
    return Run(
        path=path,
        name=str(path) if name is None else name,
        status=status,
        problems=tuple(problems),
        config=config,
        manifest=manifest,
        numbers=numbers,
        step=None if step is None else int(step),
        epoch=epoch,
        timing=timing if isinstance(timing, dict) else {},
    )


def _status(manifest: dict[str, Any], told: dict[str, Any]) -> str:
    ending, process = manifest.get("ending"), manifest.get("process")
    if isinstance(ending, dict):
        said = ending.get("status")
    elif isinstance(process, dict):
        at_it = at_work(process)
        said = "unknown" if at_it is None else "running" if at_it else "interrupted"
    else:
        said = told.get("status")  # the manifest is missing or damaged: only the result tells
    return said if said in STATUSES else "unknown"


def _numbers(told: dict[str, Any]) -> dict[str, dict[str, float]]:
    found = {}
    for part in ("train", "test"):
        metrics = told.get(part)
        if isinstance(metrics, dict):
            found[part] = {str(name): value for name, value in metrics.items() if _number(value) is not None}
    return found


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _json(path: Path) -> tuple[dict[str, Any], str]:
    """The object in the file, and what is wrong with the file."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}, f"there is no {path.name}"
    except OSError as error:
        return {}, f"{path.name} cannot be read: {error.strerror}"
    except ValueError as error:
        return {}, f"{path.name} is damaged: {error}"
    return (content, "") if isinstance(content, dict) else ({}, f"{path.name} is damaged: it holds no object")


def _yaml(path: Path) -> tuple[dict[str, Any], str]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # eight times as fast, where libyaml is there
    try:
        content = yaml.load(path.read_bytes(), loader)
    except FileNotFoundError:
        return {}, f"there is no {path.name}"
    except OSError as error:
        return {}, f"{path.name} cannot be read: {error.strerror}"
    except (yaml.YAMLError, ValueError) as error:
        where = getattr(error, "problem_mark", None)
        line = "" if where is None else f", line {where.line + 1}"
        return {}, f"{path.name} is damaged{line}"
    if content is None:
        return {}, f"{path.name} is empty: the run had not begun"
    if not isinstance(content, dict) or not all(isinstance(content.get(section), dict) for section in _SECTIONS):
        return {}, f"{path.name} is no run's configuration"
    return content, ""


def _last_record(path: Path) -> Record | None:
    """The last line that is whole."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL))
            lines = file.read().split(b"\n")[:-1]
    except OSError:
        return None
    for line in reversed(lines):
        record = _record(line)
        if record is not None:
            return record
    return None


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    whole = isinstance(record, dict) and _number(record.get("step")) is not None
    return record if whole and all(isinstance(record.get(part), dict) for part in ("train", "test")) else None


def _history(path: Path) -> History:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return History((), (f"there is no {path.name}",))
    except OSError as error:
        return History((), (f"{path.name} cannot be read: {error.strerror}",))
    problems = []
    if lines.pop():
        problems.append(f"the last line of {path.name} is cut short")
    records, damaged = [], []
    for number, line in enumerate(lines, start=1):
        record = _record(line)
        if record is None:
            damaged.append(number)
        else:
            records.append(record)
    if damaged:
        shown = ", ".join(map(str, damaged[:5])) + (", …" if len(damaged) > 5 else "")
        problems.append(f"{path.name}: {len(damaged)} of {len(lines)} lines are damaged (line {shown})")
    return History(tuple(sorted(records, key=lambda record: float(record["step"]))), tuple(problems))
