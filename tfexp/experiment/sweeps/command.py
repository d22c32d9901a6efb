"""`python -m tfexp -m …` from its words to its exit code."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.types import Override

from tfexp.experiment.compare import flat
from tfexp.experiment.errors import ExperimentError, Interrupted, SettingError
from tfexp.experiment.outputs import make_unique
from tfexp.experiment.sweeps.curves import draw_learning
from tfexp.experiment.sweeps.driver import Driver, planned_event
from tfexp.experiment.sweeps.hparams import write_hparams
from tfexp.experiment.sweeps.journal import Event, Journal, go_on
from tfexp.experiment.sweeps.launching import pool_of
from tfexp.experiment.sweeps.ledger import Ledger
from tfexp.experiment.sweeps.plan import Door, Planner
from tfexp.experiment.sweeps.plots import draw_sweep
from tfexp.experiment.sweeps.results import Row, as_csv, ranking, rows
from tfexp.experiment.sweeps.schema import Sweep
from tfexp.experiment.sweeps.searching import Search
from tfexp.experiment.sweeps.space import Space, space_of
from tfexp.experiment.sweeps.table import LiveTable, show_planned, show_ranking, watcher_for
from tfexp.experiment.sweeps.trial import Trial, label_of

__all__ = ["sweep"]

_OF_HYDRA = ("hydra.sweep.dir", "hydra.sweep.subdir", "hydra.searchpath")
_INSTEAD = {
    "hydra/launcher": "sweep.launcher=local, process or ray",
    "hydra/sweeper": "sweep=grid, random or optuna (pip install 'tfexp[search]')",
}
"""What takes the place of Hydra's plugins."""
_NOW = ("sweep.resume", "sweep.dry", "sweep.launcher", "sweep.parallel", "sweep.cpus", "sweep.address", "sweep.retries")
"""What may be given anew when a sweep is taken up: where its trials run, how often they are tried; never what they are."""


def sweep(overrides: Sequence[Override], door: Door, choices: Any, command: str, config_dir: str | None) -> int:
    """Run, list or take up the sweep that the overrides describe; returns the exit code: 1 if a trial failed."""
    own = [o for o in overrides if o.key_or_group.partition(".")[0] == "sweep"]
    for override in own:
        if override.is_sweep_override():
            raise SettingError(override.key_or_group, f"'{override.input_line}' is several values, and a sweep has one")
        if override.is_delete():
            raise SettingError(override.key_or_group, "a setting cannot be taken away (~): give another value")
    for override in overrides:
        if override.key_or_group in _INSTEAD:
            raise SettingError(override.key_or_group, f"sweeps are tfexp's own: give {_INSTEAD[override.key_or_group]}")
        if override.is_hydra_override() and override.key_or_group not in _OF_HYDRA:
            door.compose([override])  # which says it better if there is no such choice
            raise SettingError(override.key_or_group, f"of Hydra's own settings, a sweep takes {', '.join(_OF_HYDRA)}")
    words = [str(o.input_line) for o in overrides if o not in own]
    given = {o.key_or_group: str(o.input_line) for o in own}
    settings = door.sweep(door.compose(own))
    if settings.resume is not None:
        return _take_up(Path(settings.resume), words, given, door, choices, command)
    space = space_of(door.parse(words), choices)
    planner = Planner(door, space, settings)
    search = settings.search(space, None)
    trials, events = _plan(planner, search)
    if settings.dry:
        show_planned(trials, _same(events), {})
        return 0
    folder = _folder(space, door)
    if not search.ahead:
        search = settings.search(space, folder)
    journal = Journal.create(folder)
    with contextlib.closing(journal):
        about = {"kind": "sweep", "version": 1, "command": command, "words": words, "sweep": sorted(given.values())}
        about["config_dir"] = None if config_dir is None else os.path.abspath(config_dir)
        journal.add([about, *events])
        return _run(folder, settings, command, planner, search, journal, [about, *events], trials)


def _plan(planner: Planner, search: Search) -> tuple[list[Trial], list[Event]]:
    """All trials, if they can be known before the first has run; else every value that may come is tried out."""
    if not search.ahead:
        planner.try_out()
        return [], []
    trials, events, number = [], [], 0
    while (point := search.ask()) is not None:
        for trial in planner.trials(number, point):
            trials.append(trial)
            events.append(planned_event(trial, point, planner.same_as(trial)))
        number += 1
    return trials, events


def _folder(space: Space, door: Door) -> Path:
    """The sweep's folder: the one that the user names, or one that the time of day names, made unique."""
    config = door.compose(door.parse(list(space.fixed)))
    if not config.hydra.sweep.dir:
        raise SettingError("hydra.sweep.dir", "a folder must be given: hydra.sweep.dir=outputs/…")
    path = Path(str(config.hydra.sweep.dir))
    try:
        if not any(word.startswith("hydra.sweep.dir=") for word in space.fixed):
            return make_unique(path)
        path.mkdir(parents=True, exist_ok=True)
        return path
    except OSError as error:
        raise ExperimentError(f"cannot make the sweep's folder {path}: {error.strerror}") from error


def _take_up(folder: Path, words: list[str], given: dict[str, str], door: Door, choices: Any, command: str) -> int:
    with contextlib.closing(Journal.open(folder)) as journal:
        about, earlier = journal.events[0], Ledger(journal.events)
        if words and sorted(words) != sorted(about["words"]):
            _refuse(folder, [(word, word in about["words"]) for word in sorted({*words} ^ {*about["words"]})])
        before = {word.lstrip("+").split("=", 1)[0]: word for word in about["sweep"]}
        for key, word in given.items():
            if key not in _NOW and before.get(key) != word:
                pairs = [(word, False)] + ([(before[key], True)] if key in before else [])
                _refuse(folder, pairs)
        settings = door.sweep(door.compose(door.parse([*({**before, **given}).values()])))
        space = space_of(door.parse(about["words"]), choices)
        planner = Planner(door, space, settings)
        try:
            trials = _same_trials(folder, planner, earlier)
        except SettingError as error:
            if error.key != "sweep.resume":  # its words are not understood here
                error.add_note(f"it was begun by: {about['command']}")
            raise
        if settings.dry:
            show_planned(trials, _same(earlier.planned), {n: p.status for n, p in earlier.trials.items()})
            return 0
        search = settings.search(space, folder)
        search.take_up([event["point"] for event in earlier.planned if event["number"] % settings.seeds == 0])
        return _run(folder, settings, command, planner, search, journal, journal.events, trials)


def _same_trials(folder: Path, planner: Planner, earlier: Ledger) -> list[Trial]:
    """The trials that the journal has, composed anew. Raises SettingError with the difference if they are others now."""
    trials: list[Trial] = []
    points = {event["point_number"]: event["point"] for event in earlier.planned}
    for number, point in points.items():
        trials += planner.trials(number, point)
    for trial, event in zip(trials, earlier.planned, strict=True):
        planner.same_as(trial)
        then, now = (flat(yaml.safe_load(text)) for text in (event["config"], trial.config_yaml))
        names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
        if names:
            changes = "; ".join(f"{name} was {then.get(name)} and is {now.get(name)}" for name in names)
            raise SettingError(
                "sweep.resume", f"{folder} was begun with another configuration: in trial {trial.number}, {changes}"
            )
    return trials


def _refuse(folder: Path, words: list[tuple[str, bool]]) -> None:
    said = "; ".join(f"'{word}' was given {'then and not now' if then else 'now and not then'}" for word, then in words)
    raise SettingError(
        "sweep.resume",
        f"{folder} was begun with other words: {said}. Give sweep.resume alone, with at most {', '.join(_NOW[1:])}",
    )


def _same(events: Sequence[Event]) -> dict[int, int]:
    return {event["number"]: event["same_as"] for event in events if event["same_as"] is not None}


def _run(
    folder: Path,
    settings: Sweep,
    command: str,
    planner: Planner,
    search: Search,
    journal: Journal,
    events: Sequence[Event],
    trials: Sequence[Trial],
) -> int:
    ledger = Ledger(events)
    numbered = {trial.number: trial for trial in trials}
    total = len(trials) if search.ahead else getattr(settings, "trials", None)
    watcher = watcher_for(settings, numbered, total)
    pool = pool_of(settings, folder)
    driver = Driver(folder, settings, command, planner, search, journal, ledger, numbered, pool, watcher)
    try:
        driver.run()
    except Interrupted:
        _write_table(folder, rows(list(numbered.values()), ledger, settings))
        raise
    finally:
        if isinstance(watcher, LiveTable):
            watcher.close()
    found = rows(list(numbered.values()), ledger, settings)
    _write_table(folder, found)
    return _finish(folder, settings, found)


def _finish(folder: Path, settings: Sweep, found: list[Row]) -> int:
    ranked = ranking(found, settings)
    show_ranking(ranked, settings)
    print(f"table       {folder / 'sweep.csv'}")
    if draw_sweep(folder / "sweep.png", _title(found), settings, ranked):
        print(f"picture     {folder / 'sweep.png'}")
    if draw_learning(folder / "curves.png", _title(found), settings, ranked, folder):
        print(f"curves      {folder / 'curves.png'}")
    write_hparams(folder, settings, found)
    print(f"tensorboard --logdir {shlex.quote(str(folder))}   (the tab HParams compares the trials)", flush=True)
    failed = [row for row in found if row.status == "failed"]
    if not failed:
        return 0
    print(f"tfexp: {len(failed)} of {len(found)} trials failed:", file=sys.stderr)
    for row in failed:
        tries = "" if row.attempts == 1 else f" after {row.attempts} attempts"
        first = (row.message.strip().splitlines() or ["?"])[0]
        print(
            f"  {row.number} ({label_of(row.varied)}){tries}: {first}\n    log: {folder / row.folder / 'trial.log'}",
            file=sys.stderr,
        )
    return 1


def _title(found: Sequence[Row]) -> str:
    halved = sum(row.status == "halved" for row in found)
    valueless = sum(row.value is None for row in found)
    points = len({row.point for row in found})
    title = f"{len(found)} trials" + (f", {len(found) // points} of each: mean and spread" if points < len(found) else "")
    title += f", {halved} of them ended early (dashed, hollow)" if halved else ""
    return title + (f", {valueless} of them without a value (not shown)" if valueless else "")


def _write_table(folder: Path, found: Sequence[Row]) -> None:
    """Replace the file as a whole."""
    path = folder / "sweep.csv"
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_text(as_csv(found), encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise ExperimentError(
            f"cannot write {path}: {error.strerror}\nnothing is lost: once that is put right, {go_on(folder)}"
        ) from error
