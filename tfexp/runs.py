"""`python -m tfexp.runs`: look at the runs in a tree of folders.

  python -m tfexp.runs [FOLDER] [CONDITION …]       list the runs in FOLDER (default: outputs) and below it
  python -m tfexp.runs show FOLDER                  one run: settings, numbers, environment, files
  python -m tfexp.runs compare FOLDER FOLDER …      in what runs differ, and what came of it
  python -m tfexp.runs report FOLDER … --out FILE   one HTML page of a run, of several, or of a sweep

A condition is `key=value`, `!=`, `<`, `<=`, `>`, `>=` or `~` (contains); quote those with < and >. A key is a status, a
metric, a setting, or anything else that `--json` shows: status=running  'loss<0.5'  'test.accuracy>=0.9'  model=mlp
optimizer.learning_rate=0.01. `loss` is the test loss, `learning_rate` the setting that ends so.

  --sort KEY [--reverse]   in this order; default: as they were started
  --limit N                no more than the last N
  --columns KEY,KEY,…      what to show
  --json, --csv            for programs; --csv has everything unless there are --columns

Folders that are half written, damaged, or still written to are listed with what can be said of them.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from tfexp.core.wording import plural
from tfexp.experiment.errors import ExperimentError, nearest, not_allowed
from tfexp.experiment.outputs import RunFiles, is_sweep
from tfexp.experiment.reporting.find import find_runs
from tfexp.experiment.reporting.run import Run, is_run, read_run
from tfexp.experiment.reporting.select import Condition, is_condition, name_of, sort_runs
from tfexp.usage import while_read

_COMMANDS = ("list", "show", "compare", "report")


def main(argv: list[str] | None = None) -> int:
    """Show what the arguments ask for; the exit status is 2 for arguments that cannot be, 1 for folders that cannot."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    command, rest = (words[0], words[1:]) if words and words[0] in _COMMANDS else ("list", words)
    try:
        return {"list": _list, "show": _show, "compare": _compare, "report": _report}[command](rest)
    except ExperimentError as error:
        print(f"tfexp: {error}", file=sys.stderr)
        return error.exit_code
    except PermissionError as error:
        print(f"tfexp: {not_allowed(error)}", file=sys.stderr)
        return 1


def _list(words: list[str]) -> int:
    parser = _list_parser()
    given = parser.parse_intermixed_args(words)
    if given.limit is not None and given.limit < 1:
        parser.error(f"--limit: {given.limit} must be at least 1")
    folders = [word for word in given.words if not is_condition(word) or Path(word).is_dir()]
    if len(folders) > 1:
        meant = None if Path(folders[0]).exists() else nearest(folders[0], _COMMANDS)
        guess = f"; did you mean the command '{meant}'?" if meant else ""
        parser.error(f"one folder to look in, not {len(folders)}: {' '.join(folders)}{guess}")
    root = Path(folders[0] if folders else "outputs")
    if not root.exists():
        named = "" if folders else ": name the folder to look in"
        raise ExperimentError(f"there is no folder {root}{named}")
    try:
        found = find_runs(root)
    except OSError as error:
        raise ExperimentError(f"{root} cannot be read: {error.strerror}") from error
    runs = found
    for word in given.words:
        if word not in folders:
            condition = Condition.of(word, runs)
            runs = [run for run in runs if condition.holds(run)]
    runs = sort_runs(runs, name_of(given.sort or "started", runs), given.reverse)
    runs = runs[-given.limit :] if given.limit else runs
    columns = None if given.columns is None else [name_of(key, runs) for key in given.columns.split(",") if key]

    from tfexp.experiment.reporting import listing

    if given.json:
        print(listing.as_json(runs))
    elif given.csv:
        print(listing.as_csv(runs, columns), end="")
    else:
        of = "" if len(runs) == len(found) else f"of {len(found)} "
        listing.show_runs(runs, columns, f"{of}in {root}")
    return 0


def _list_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tfexp.runs", description="List the runs in a tree of folders.")
    parser.add_argument("words", nargs="*", metavar="FOLDER|CONDITION", help="where to look, and for which")
    parser.add_argument("--sort", metavar="KEY", help="the order; default: as they were started")
    parser.add_argument("--reverse", action="store_true", help="the order the other way round")
    parser.add_argument("--limit", type=int, metavar="N", help="no more than the last N of that order")
    parser.add_argument("--columns", metavar="KEY,KEY,…", help="what to show")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a list of objects")
    form.add_argument("--csv", action="store_true", help="comma-separated values")
    return parser


def _show(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tfexp.runs show", description="One run: numbers, settings, files.")
    parser.add_argument("folder", type=Path)
    (run,) = _runs_of([parser.parse_args(words).folder])

    from tfexp.experiment.reporting.one_run import show_run

    show_run(run)
    return 0


def _compare(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tfexp.runs compare", description="In what runs differ.")
    parser.add_argument("folders", nargs="+", type=Path, help="of runs, or folders with runs below them")
    parser.add_argument("--curves", type=Path, metavar="FILE.png", help="draw the curves of the test rows")
    given = parser.parse_args(words)
    runs = _runs_below(given.folders)

    from tfexp.experiment.reporting.comparison import show_comparison

    show_comparison(runs, "compared")
    if given.curves is not None:
        from tfexp.experiment.reporting.picture import draw_curves

        try:
            drawn = draw_curves(given.curves, runs)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ExperimentError(f"cannot write {given.curves}: {why}") from error
        if not drawn:
            raise ExperimentError("there are no curves to draw: none of the runs has an evaluation in metrics.jsonl")
        print(f"curves      {given.curves}" + ("" if drawn == len(runs) else f" (of {drawn} of the {len(runs)} runs)"))
    return 0


def _report(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tfexp.runs report", description="One HTML page, with all in it.")
    parser.add_argument("folders", nargs="+", type=Path, help="of runs, or folders with runs below them: a sweep's, for one")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="default: report.html, of one folder in that folder")
    parser.add_argument("--title", help="default: the folder's name, or how many runs there are")
    given = parser.parse_args(words)
    runs = _runs_below(given.folders)
    alone = given.folders[0] if len(given.folders) == 1 else None
    out = given.out or (alone / "report.html" if alone else Path("report.html"))

    from tfexp.experiment.reporting.page import MARK, page_of

    try:
        if out.exists() and MARK not in out.read_bytes()[:200].decode("utf-8", "replace"):
            raise ExperimentError(f"{out} is there already and is no report: choose another --out")
        title = given.title or (alone.resolve().name if alone else f"{len(runs)} runs")
        RunFiles(out.parent).write_text(out, page_of(runs, title, out))
    except OSError as error:
        raise ExperimentError(f"cannot write {out}: {error.strerror}") from error
    print(f"{out}: {plural(len(runs), 'run')}, {out.stat().st_size / 1000:,.0f} kB")
    return 0


def _runs_of(folders: list[Path]) -> list[Run]:
    """The runs in the folders. Raises ExperimentError for one that is no run's."""
    for folder in folders:
        if not folder.is_dir():
            raise ExperimentError(f"there is no folder {folder}")
        if not is_run({path.name for path in folder.iterdir()}):
            if is_sweep(folder):
                raise ExperimentError(f"{folder} is a sweep's folder: python -m tfexp.runs report {folder} shows its trials")
            raise ExperimentError(f"{folder} is not a run's folder: a run has config.yaml, manifest.json and metrics.jsonl")
    return [read_run(folder) for folder in folders]


def _runs_below(folders: list[Path]) -> list[Run]:
    """The runs in the folders and below them, each once. Raises ExperimentError where there is none."""
    runs: dict[Path, Run] = {}
    for folder in folders:
        if not folder.is_dir():
            raise ExperimentError(f"there is no folder {folder}")
        found = find_runs(folder)
        if not found:
            raise ExperimentError(f"there is no run in {folder} or below it")
        for run in found:
            name = str(run.path) if len(folders) > 1 or run.name == "." else run.name
            runs.setdefault(run.path.resolve(), dataclasses.replace(run, name=name))
    return list(runs.values())


if __name__ == "__main__":
    sys.exit(while_read(main))
