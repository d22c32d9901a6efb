"""Shows where tfexp's graph of a golden program differs: `python -m tests.golden.diff_graphs [NAME ...]`.

A name is a program (`notes.counter`) or a group (`notes`); without names, all are compared. `--live` compares
with the installed TensorFlow instead of the recording, `--list` prints the names alone, `--brief` one line a
program, and `--no-run` compares graphs alone.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from typing import Any

from tests.golden import capture, oracle
from tests.golden.compare import graph_differences, run_differences
from tests.golden.programs import PROGRAMS, Program


def main(arguments: list[str]) -> int:
    """Prints the differences; returns the number of programs that differ or fail."""
    options = {argument for argument in arguments if argument.startswith("--")}
    prefixes = [argument for argument in arguments if not argument.startswith("--")] or [""]
    chosen = [
        program
        for name, program in PROGRAMS.items()
        if any(name == prefix or program.group == prefix or not prefix for prefix in prefixes)
    ]
    if "--list" in options:
        print("\n".join(program.full_name for program in chosen))
        return 0
    tfexp = importlib.import_module("tfexp")
    live = oracle.tensorflow() if "--live" in options else None
    differing = 0
    for program in chosen:
        found = _found(program, tfexp, live, run="--no-run" not in options)
        differing += bool(found)
        if found and "--brief" in options:
            print(f"{program.full_name}: {_brief(found[0])}")
        elif found:
            print("\n".join([f"== {program.full_name} ({program.source})", *found, ""]))
    print(f"{len(chosen) - differing} of {len(chosen)} programs agree")
    return differing


def _found(program: Program, tfexp: Any, live: Any, *, run: bool) -> list[str]:
    """The differences of `program`, those of the graph first; an error counts as one, told by its traceback."""
    try:
        expected = capture.take(program, live) if live else capture.load(program.group)[program.full_name]
        found = graph_differences(expected, capture.take(program, tfexp, run=False))
        if run and not found:
            found = run_differences(expected, capture.take(program, tfexp))
    except Exception:  # whatever it is, it belongs in the list of what differs
        return [traceback.format_exc()]
    return found


def _brief(paragraph: str) -> str:
    """One line for a paragraph: the last of a traceback, else the first, and the node that differs."""
    lines = paragraph.strip().split("\n")
    if lines[0].startswith("Traceback"):
        places = [line.strip() for line in lines if line.strip().startswith("File ")]
        return f"{lines[-1]} ({places[-1]})"
    return " ".join([lines[0], *[line for line in lines if line.startswith(("--- T", "+++ t"))]])


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 125))
