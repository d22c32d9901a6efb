"""Which of many runs, and in what order: `model=mlp`, `loss<0.5`, `status!=finished`; sorted by any of their values."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.experiment.errors import SettingError, nearest
from tfexp.experiment.reporting.run import Run

__all__ = ["Condition", "differing", "is_condition", "metric_names", "name_of", "sort_runs", "text_of"]

_FORM = re.compile(r"^([A-Za-z_][\w.]*)\s*(<=|>=|!=|==?|<|>|~)(.*)$", re.DOTALL)
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def is_condition(word: str) -> bool:
    return _FORM.match(word) is not None


@dataclass(frozen=True)
class Condition:
    """`key op value`. Numbers are compared as numbers, all else as text; `~` is 'contains'."""

    key: str
    op: str
    value: str

    @classmethod
    def of(cls, word: str, runs: Sequence[Run]) -> Condition:
        """Raises SettingError if `word` is no condition, none of the runs has such a value, or numbers of theirs are to be
        more or less than what is none.
        """
        found = _FORM.match(word)
        if found is None:
            raise SettingError(word, "is no condition: give, for example, model=mlp, 'loss<0.5' or status!=finished")
        key, op, value = found.groups()
        name = name_of(key, runs)
        in_order = op in _ORDERS and _as_number(value) is None
        if in_order and any(_as_number(run.values.get(name)) is not None for run in runs):
            raise SettingError(word, f"{name} is a number, and '{value}' is none")
        return cls(name, "=" if op == "==" else op, value)

    def holds(self, run: Run) -> bool:
        """Of a run that has no such value, only `!=` holds."""
        found = run.values.get(self.key)
        if found is None and self.value != "null":
            return self.op == "!="
        text = text_of(found)
        if self.op == "~":
            return self.value.lower() in text.lower()
        ours, theirs = _as_number(found), _as_number(self.value)
        numbers = ours is not None and theirs is not None
        if self.op in ("=", "!="):
            same = ours == theirs if numbers else text.replace(" ", "") == self.value.replace(" ", "")
            return same == (self.op == "=")
        left, right = (ours, theirs) if numbers else (text, self.value)
        return _ORDERS[self.op](left, right)


def name_of(key: str, runs: Sequence[Run]) -> str:
    """The dotted name of the value that `key` means: its name, or the end of one (`loss` is `test.loss`).

    Raises SettingError where there is none, or several settings end like that.
    """
    names = dict.fromkeys(name for run in runs for name in run.values)
    if key in names or not names:
        return key
    ends = [name for name in names if name.endswith(f".{key}")]
    for part in ("test", "train"):
        if any(key in run.numbers.get(part, {}) for run in runs):
            return f"{part}.{key}"
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise SettingError(key, f"could be {', '.join(sorted(ends))}")
    guess = nearest(key, names)
    raise SettingError(key, f"no run has such a value{f'; did you mean {guess!r}?' if guess else ''}")


def sort_runs(runs: Iterable[Run], name: str, descending: bool = False) -> list[Run]:
    """By numbers where they are numbers, else by text; runs without the value come last."""
    having = [run for run in runs if run.values.get(name) is not None]
    numeric = all(_as_number(run.values[name]) is not None for run in having)

    def key(run: Run) -> Any:
        return _as_number(run.values[name]) if numeric else text_of(run.values[name])

    without = [run for run in runs if run.values.get(name) is None]
    return sorted(having, key=key, reverse=descending) + without


def differing(runs: Sequence[Run]) -> list[str]:
    """The settings that differ among the runs that have them, sections first, in the order of the configuration."""
    known = [run.settings for run in runs]
    names = dict.fromkeys(name for settings in known for name in settings)
    found = [name for name in names if len({text_of(settings[name]) for settings in known if name in settings}) > 1]
    return sorted(found, key=lambda name: "." in name)


def metric_names(runs: Sequence[Run]) -> list[str]:
    """What the runs were evaluated by: the loss, then what says most of how good a model is."""
    names = dict.fromkeys(name for run in runs for part in run.numbers.values() for name in part)
    first = [name for name in ("loss", "accuracy", "r2") if name in names]
    return first + [name for name in names if name not in first]


def text_of(value: Any) -> str:
    """A value as one would type it on the command line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(text_of, value))}]"
    return str(value)


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
