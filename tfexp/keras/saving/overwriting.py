"""Whether a file may be written over: on the terminal, when `overwrite=False`."""

from __future__ import annotations

import os


def may_write(filepath: str, overwrite: bool, shown_by: str | None = None) -> bool:
    """Whether to write there: the file is not there, may be overwritten, or whoever is asked says `y`.

    shown_by: the file whose presence shows that it is there, when it is not `filepath`.
    """
    if overwrite or not os.path.isfile(shown_by or filepath):
        return True
    return ask_to_proceed_with_overwrite(filepath)


def ask_to_proceed_with_overwrite(filepath: str) -> bool:
    """Whether whoever is asked says `y`; asked again until it is `y` or `n`."""
    answer = input(f"[WARNING] {filepath} already exists - overwrite? [y/n]").strip().lower()
    while answer not in {"y", "n"}:
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    if answer == "y":
        print("[TIP] Next time specify overwrite=True!")
    return answer == "y"
