"""`python -m tfexp.explain [KEY] [override …]`: what a group, a section or a setting is, and where its value comes from.

  KEY            a group (optimizer), a section (train), a setting (optimizer.learning_rate) or its last part;
                 without it, an overview of all that there is
  override       as for python -m tfexp: optimizer=adam, train.steps=100; what is explained is that configuration
  --config-dir   a folder with groups and choices of one's own, as for python -m tfexp

A setting that only another choice of its group has is explained with that choice.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfexp.experiment.choices import Group, groups, of_runs
from tfexp.experiment.cli import reported
from tfexp.experiment.composing import composed
from tfexp.experiment.described import Composed, Described, describe
from tfexp.experiment.errors import SettingError, nearest, no_such
from tfexp.usage import helped, while_read

_USAGE = "usage: python -m tfexp.explain [KEY] [override ...] [--config-dir FOLDER]"


def main(argv: list[str] | None = None) -> int:
    """Show what the first argument names; the exit status is 2 for what there is not."""
    words = sys.argv[1:] if argv is None else argv
    if (code := helped(words, _USAGE, __doc__)) is not None:
        return code
    return reported(lambda: _explain(words))


def _explain(words: list[str]) -> int:
    from tfexp.experiment import pages

    folder, words = _config_dir(words)
    there = groups([] if folder is None else [Path(folder)])
    key = words.pop(0) if words and "=" not in words[0] else ""
    state = composed(words, folder)
    if not key:
        pages.overview(
            there, state, [setting for name in state.kinds if name not in there for setting in describe(state, name)]
        )
        return 0
    if key in of_runs():
        print(f"{key}=<folder>  {of_runs()[key]}")
        return 0
    if key in there:
        pages.show_group(there[key], state)
        return 0
    found = _settings(state)
    inner = {name.rpartition(".")[0] for name in found}
    key = next((name for name in sorted(inner) if name.endswith(f".{key}")), key)
    inside = [setting for name, setting in found.items() if name.startswith(f"{key}.")]
    if inside:
        pages.show_section(key, inside)
        return 0
    if key not in found:
        state, key = _elsewhere(key, there, state, words, folder)
        found = _settings(state)
    section, _, name = key.partition(".")
    chosen = state.chosen.get(section)
    others = _having(there[section], name) if section in there else []
    shown = f"{section}={chosen}" if chosen else ""
    pages.show_setting(found[key], shown, [other for other in others if other != shown])
    return 0


def _settings(state: Composed) -> dict[str, Described]:
    return {setting.key: setting for section in state.kinds for setting in describe(state, section)}


def _having(group: Group, name: str) -> list[str]:
    """`group=choice` of the choices whose file gives the setting a value."""
    return [f"{group.name}={choice.name}" for choice in group.choices if name in choice.keys]


def _elsewhere(
    key: str, there: dict[str, Group], state: Composed, words: list[str], folder: str | None
) -> tuple[Composed, str]:
    """The configuration in which there is such a setting, and its whole name. Raises SettingError if there is none."""
    found = list(_settings(state))
    whole = [name for name in found if name.rpartition(".")[2] == key]
    if whole:
        return state, whole[0]
    section, dot, name = key.rpartition(".")
    for group in there.values():
        for choice in _having(group, name) if section in (group.name, "") else []:
            other = composed([*words, choice], folder)
            if f"{group.name}.{name}" in _settings(other):
                print(f"{group.name}={state.chosen.get(group.name)} has no {name}; with {choice}:")
                return other, f"{group.name}.{name}"
    known = {*found, *there, *state.kinds, *of_runs()}
    problem = no_such("group or setting", key, {*there, *state.kinds})
    meant = nearest(key, known)
    if dot and section in state.kinds:
        problem = no_such(
            "setting", name, [other.removeprefix(f"{section}.") for other in found if other.startswith(f"{section}.")]
        )
    elif meant is not None:
        problem = f"there is no group or setting '{key}'; did you mean '{meant}'? The groups are: {', '.join(sorted(there))}"
    raise SettingError(key, problem)


def _config_dir(words: list[str]) -> tuple[str | None, list[str]]:
    """The folder of one's own, and the other words."""
    for at, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in ("--config-dir", "-cd"):
            if not equals and at + 1 == len(words):
                raise SettingError(flag, "give a folder")
            return (value, words[:at] + words[at + 1 :]) if equals else (words[at + 1], words[:at] + words[at + 2 :])
        if word.startswith("-"):
            raise SettingError("", no_such("flag", flag, ["--config-dir", "--help"]))
    return None, list(words)


if __name__ == "__main__":
    sys.exit(while_read(main))
