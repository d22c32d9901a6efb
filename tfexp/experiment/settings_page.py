"""The page of the reference that has every setting of a run: groups, their choices, and the settings of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path

from tfexp.experiment.choices import Choice, Group, groups, of_runs
from tfexp.experiment.composing import composed
from tfexp.experiment.described import Described, describe
from tfexp.experiment.pages import written

__all__ = ["settings_page"]

Rows = dict[str, str]
"""The rows of a table, by the setting that each is about."""
_INTRODUCTION = """\
# Every setting of a run

Written by `python -m tfexp.reference`, from `conf/` and the classes that it names.

`python -m tfexp <group>=<choice> <setting>=<value> …` chooses and sets; `python -m tfexp.explain KEY` says the same as this
page, and where a value comes from.
"""


def settings_page() -> str:
    """The whole page, as Markdown. What an experiment of one's own brings is on it too; folders are told from here."""
    there = groups()
    plain = composed([])
    lines = [_INTRODUCTION, "| group | | unless something else is said |", "|---|---|---|"]
    lines += [f"| [{group.name}](#{group.name}) | {group.says} | {_usual(group)} |" for group in there.values()]
    lines += ["", "Settings in no group: [train](#train), [hydra](#hydra), [of runs](#of-runs-that-there-are).", ""]
    tables = _tables({name: group for name, group in there.items() if name in plain.config})
    for group in there.values():
        lines += [f"## {group.name}", "", f"{_sentence(group.says)}", ""]
        for choice in sorted(group.choices, key=lambda one: one.name != group.default):
            lines += _of_choice(group, choice, tables)
    for section in plain.kinds:
        if section not in there:
            lines += [f"## {section}", "", *_table(_rows(describe(plain, section)).values()), ""]
    lines += ["## of runs that there are", "", *(f"- `{name}=<folder>`: {says}" for name, says in of_runs().items())]
    return "\n".join(lines).replace(f"file://{Path.cwd().resolve()}", "file://.") + "\n"


def _usual(group: Group) -> str:
    return f"`{group.name}={group.default}`" if group[group.default] else "nothing"


def _tables(sections: Mapping[str, Group]) -> dict[tuple[str, str], Rows]:
    """(group, choice) -> the rows of its settings, of the groups that have a section.

    One choice of each group is composed at a time, together: composing takes long.
    """
    tables: dict[tuple[str, str], Rows] = {}
    for together in itertools.zip_longest(*(group.choices for group in sections.values())):
        words = [f"{name}={choice.name}" for name, choice in zip(sections, together, strict=True) if choice is not None]
        state = composed(words)
        tables |= {(name, state.chosen[name]): _rows(describe(state, name)) for name in sections}
    return tables


def _of_choice(group: Group, choice: Choice, tables: Mapping[tuple[str, str], Rows]) -> list[str]:
    """The choice, what else it chooses, and its settings, but for those that are as the usual choice has them."""
    lines = [f"### {group.name}={choice.name}", "", _sentence(choice.says), ""]
    if choice.chooses:
        lines += [f"It also chooses {', '.join(f'`{name}={other}`' for name, other in choice.chooses.items())}.", ""]
    rows = tables.get((group.name, choice.name), {})
    usual = tables.get((group.name, group.default), {})
    shares = choice.name != group.default and usual and usual.keys() <= rows.keys()
    own = [row for key, row in rows.items() if not shares or usual.get(key) != row]
    if own:
        lines += [*_table(own), ""]
    if shares:
        lines += [f"{'All others are' if own else 'Its settings are'} as with `{group.name}={group.default}`.", ""]
    return lines


def _table(rows: Iterable[str]) -> list[str]:
    return ["| setting | value | type | |", "|---|---|---|---|", *rows]


def _rows(settings: Iterable[Described]) -> Rows:
    return {
        setting.key: f"| `{setting.key}` | {'must be given' if setting.is_missing else f'`{written(setting.value)}`'} "
        f"| {setting.kind}{f', {setting.limits}' if setting.limits else ''} | {_plain(setting.says)} |"
        for setting in settings
    }


def _sentence(says: str) -> str:
    return _plain(f"{says[:1].upper()}{says[1:]}{'' if says.endswith('.') else '.'}")


def _plain(says: str) -> str:
    return says.replace("|", "\\|").replace("<", "\\<")
