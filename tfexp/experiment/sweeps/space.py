"""The space of a sweep: what each setting may be, from Hydra's words for it.

`a=1,2`, `choice()`, `range()`, `glob()` are several values, `interval()` all numbers between two (`int(interval(…))`: whole
ones), and `tag(log, …)` looks at orders of magnitude. A tag that is itself `key=value`, in quotes, is a condition: in

    optimizer=sgd,momentum 'optimizer.momentum=tag("optimizer=momentum", interval(0.5, 0.99))'

the second setting is only given where the first has that value.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hydra._internal.grammar.utils import escape_special_characters
from hydra.core.override_parser.types import ChoiceSweep, Glob, IntervalSweep, Override, QuotedString, RangeSweep

from tfexp.experiment.errors import SettingError

__all__ = ["Choices", "Dimension", "Interval", "Point", "Space", "space_of"]

Point = dict[str, str]
"""The value, as it is written in an override, of each dimension whose conditions hold."""


@dataclass(frozen=True)
class Choices:
    """Several values, as they are written in overrides; `log` and order are for searches that look at them as numbers."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Interval:
    low: float
    high: float
    log: bool
    whole: bool

    def at(self, share: float) -> str:
        """The number that lies at `share`, in [0, 1), of the way from low to high."""
        if self.whole:
            low, high = self.low - 0.5, self.high + 0.5
        else:
            low, high = self.low, self.high
        if self.log:
            number = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            number = low + share * (high - low)
        return self.written(number)

    def written(self, number: float) -> str:
        """To six digits, which are enough to tell trials apart, and inside."""
        if self.whole:
            return str(int(min(max(round(number), self.low), self.high)))
        return repr(min(max(float(f"{number:.6g}"), self.low), self.high))


@dataclass(frozen=True)
class Dimension:
    """`key` as it stands in an override (with + or ++); `conditions` are (key, value) that must hold for it to be given."""

    key: str
    values: Choices | Interval
    conditions: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return self.key.lstrip("+")


@dataclass(frozen=True)
class Space:
    """`fixed`: the overrides that are the same for every trial; `dimensions` in the order in which they were given."""

    fixed: tuple[str, ...]
    dimensions: tuple[Dimension, ...]

    def point(self, choose: Callable[[Dimension], str]) -> Point:
        """Choose a value of every dimension whose conditions hold for what is fixed and was chosen before it."""
        chosen: Point = {}
        fixed = dict(word.lstrip("+").split("=", 1) for word in self.fixed)
        for dimension in self.dimensions:
            known = {**fixed, **{key.lstrip("+"): value for key, value in chosen.items()}}
            if all(_plain(known.get(key, "")) == value for key, value in dimension.conditions):
                chosen[dimension.key] = choose(dimension)
        return chosen

    @property
    def size(self) -> int:
        """The number of combinations, conditions aside."""
        return math.prod(len(d.values.values) for d in self.dimensions if isinstance(d.values, Choices))


def space_of(overrides: Sequence[Override], choices: Callable[[str], list[str]]) -> Space:
    """The space that these overrides describe; `choices` lists a config group's, for glob(). Raises SettingError."""
    fixed, dimensions = [], []
    for override in overrides:
        if override.is_sweep_override():
            dimensions.append(_dimension(override, choices))
        else:
            fixed.append(str(override.input_line))
    known = {word.lstrip("+").split("=", 1)[0] for word in fixed}
    for dimension in dimensions:
        for key, _ in dimension.conditions:
            if key not in known:
                raise SettingError(
                    dimension.name, f"its tag '{key}=…' is a condition on what is given before it, and {key} is not"
                )
        known.add(dimension.name)
    return Space(tuple(fixed), tuple(dimensions))


def _dimension(override: Override, choices: Callable[[str], list[str]]) -> Dimension:
    key, value = override.get_key_element(), override.value()
    tags = set(getattr(value, "tags", ()))
    conditions = tuple(sorted((tag.split("=", 1)[0], tag.split("=", 1)[1]) for tag in tags if "=" in tag))
    unknown = sorted(tag for tag in tags if "=" not in tag and tag != "log")
    if unknown:
        raise SettingError(override.key_or_group, f"the tag '{unknown[0]}' is neither log nor a condition \"key=value\"")
    if isinstance(value, IntervalSweep):
        return Dimension(key, _interval(override.key_or_group, value, "log" in tags), conditions)
    if isinstance(value, Glob):
        names = value.filter(choices(override.key_or_group))
        if not names:
            raise SettingError(override.key_or_group, f"no choice is like '{override.input_line}'")
        return Dimension(key, Choices(tuple(names)), conditions)
    assert isinstance(value, ChoiceSweep | RangeSweep)
    words = [_as_written(item) for item in _items(value)]
    if not words:
        raise SettingError(override.key_or_group, f"'{override.input_line}' has no value")
    if value.shuffle:  # in the same order every time, so that a sweep can go on where it was ended
        random.Random(str(override.input_line)).shuffle(words)
    return Dimension(key, Choices(tuple(words)), conditions)


def _interval(key: str, value: IntervalSweep, log: bool) -> Interval:
    low, high = value.start, value.end
    assert low is not None and high is not None
    if not low < high:
        raise SettingError(key, f"interval({low:g}, {high:g}) is empty: its start must be below its end")
    whole = isinstance(low, int) and isinstance(high, int)
    if log and low <= 0:
        raise SettingError(key, f"tag(log, …) needs a start above 0, and it is {low:g}")
    return Interval(low, high, log, whole)


def _items(value: ChoiceSweep | RangeSweep) -> Iterable[object]:
    return value.list if isinstance(value, ChoiceSweep) else value.range()


def _as_written(item: object) -> str:
    """A value as an override has it, so that it is read back as the same."""
    if isinstance(item, QuotedString):
        return item.with_quotes()
    if item is None:
        return "null"
    if isinstance(item, bool):
        return str(item).lower()
    if isinstance(item, list):
        return f"[{','.join(map(_as_written, item))}]"
    if isinstance(item, dict):
        return "{" + ",".join(f"{_as_written(key)}:{_as_written(of)}" for key, of in item.items()) + "}"
    return escape_special_characters(item) if isinstance(item, str) else str(item)


def _plain(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word
