"""What ends a run early, each with the process's exit code.

The command line prints the message of any of these as it stands, without a traceback.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable

__all__ = ["FULL", "Diverged", "ExperimentError", "Interrupted", "SettingError", "nearest", "no_such", "not_allowed"]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""What the system says when a file cannot grow, whatever the program does."""


class ExperimentError(Exception):
    """A run that cannot begin or go on; the message says what, where, and what to do."""

    exit_code = 1


class SettingError(ExperimentError):
    """A setting that is unknown, of the wrong type or out of range. `key` is its dotted name, `where` the file that has it,
    or that has those that there are.
    """

    exit_code = 2

    def __init__(self, key: str, problem: str, where: str = "") -> None:
        named = f"{key} ({where})" if where else key
        super().__init__(f"{named}: {problem}" if key else problem)
        self.key = key
        self.problem = problem
        self.where = where

    def under(self, section: str) -> SettingError:
        """The same complaint seen from outside, where the key stands in `section`."""
        return SettingError(f"{section}.{self.key}" if self.key else section, self.problem, self.where)

    def at(self, where: str) -> SettingError:
        """The same complaint with the file that it is about, unless one is named already."""
        return SettingError(self.key, self.problem, self.where or where)


class Diverged(ExperimentError):  # noqa: N818 -- what happened, not an error of the program
    """The loss or a variable stopped being a finite number."""

    def __init__(self, step: int, message: str) -> None:
        super().__init__(message)
        self.step = step


class Interrupted(ExperimentError):  # noqa: N818
    """A signal stopped the run after its state was saved; shells expect 128 + the signal's number."""

    def __init__(self, signal_number: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number


def not_allowed(error: PermissionError) -> ExperimentError:
    """What to say of a file or folder that this user may not look into; the error itself is raised if it names none."""
    if error.filename is None:
        raise error
    return ExperimentError(f"{error.filename}: {error.strerror}")


def nearest(given: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant: the same last part, the same initials, or similar letters."""
    if not given:
        return None
    names = sorted(choices)
    for name in names:
        last = name.rpartition(".")[2]
        if given == last or given == "".join(word[:1] for word in last.split("_") if "_" in last):
            return name
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if not close:
        by_last = {name.rpartition(".")[2]: name for name in names}
        close = [by_last[match] for match in difflib.get_close_matches(given, by_last, n=1, cutoff=0.6)]
    return close[0] if close else None


def no_such(what: str, given: str, choices: Iterable[str]) -> str:
    """'there is no <what> <given>', the nearest match if one is near, and the choices."""
    names = sorted(choices)
    meant = nearest(given, names)
    guess = f"; did you mean '{meant}'?" if meant is not None else "."
    return f"there is no {what} '{given}'{guess} The choices are: {', '.join(names) or '(none)'}"
