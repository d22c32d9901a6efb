"""What can follow on a command line of tfexp: groups, choices, settings and their values, flags, folders.

A fifth of a second is all there is while somebody waits for a key to do something: `conf/` and the schema classes are read
as text, nothing is composed, and neither NumPy nor Hydra is imported. What is in a file of an unusual form is not offered.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfexp.experiment.choices import Group, conf_dir, groups, of_runs
from tfexp.experiment.class_fields import Field, fields_of, section_class

__all__ = ["Candidate", "candidates"]

_LINE = re.compile(r"^(?P<indent> *)(?P<key>\w+):(?: +(?P<value>[^#\s](?:[^#]|(?<! )#)*?))? *(?:# *(?P<says>.*))?$")
_PARENT = re.compile(r"^ +- (?P<choice>[\w.-]+) *(?:#.*)?$", re.MULTILINE)
_FLAGS = {
    "--help": "groups, choices, settings, examples",
    "-m": "several values (key=a,b): a run for each",
    "--multirun": "the same as -m",
    "--cfg": "show the configuration, run nothing",
    "--info": "show how it is composed, run nothing",
    "--config-dir": "a folder of choices of one's own",
    "--hydra-help": "Hydra's own help",
    "--version": "tfexp's version, and Hydra's",
}
_OF_FLAGS = {
    "--cfg": ("job", "hydra", "all"),
    "-c": ("job", "hydra", "all"),
    "--info": ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath"),
}
_FOLDERS = ("hydra.run.dir", "hydra.sweep.dir", "train.start_from", "out")


@dataclass(frozen=True)
class Candidate:
    """A whole word that can stand here. After one that ends in `=`, `.` or `/` something is still to come."""

    word: str
    says: str = ""


@dataclass(frozen=True)
class Setting:
    """A setting as a file has it: its value, and what its class says of it, or its comment."""

    key: str
    value: str
    says: str
    field: Field | None


def candidates(module: str, words: Sequence[str], word: str) -> list[Candidate]:
    """What `word` can become, after the `words` of a `python -m <module>`; in the order in which to show them."""
    if module not in ("tfexp", "tfexp.explain", "tfexp.preview", "tfexp.records"):
        return []
    before = words[-1] if words else ""
    if before in _OF_FLAGS:
        return _starting(word, map(Candidate, _OF_FLAGS[before]))
    if before == "--config-dir":
        return _folders("", word)
    if word.startswith("-"):
        return _starting(word, [Candidate(name, says) for name, says in _FLAGS.items()])
    state = _State(words)
    if module == "tfexp.explain" and not [w for w in words if "=" not in w and not w.startswith("-")] and "=" not in word:
        return _starting(word, [Candidate(candidate.word.rstrip("="), candidate.says) for candidate in state.keys(word)])
    key, equals, value = word.partition("=")
    signs = key[: len(key) - len(key.lstrip("+~"))]
    key = key.lstrip("+~")
    if equals:
        return _starting(word, [Candidate(f"{signs}{found.word}", found.says) for found in state.values(key, value)])
    own = [Candidate("out=", "a new folder"), Candidate("shards="), Candidate("compression=")]
    found = state.keys(key)
    if module == "tfexp.records":
        found = [*own, *(candidate for candidate in found if candidate.word.startswith("data"))]
    return _starting(word, [Candidate(f"{signs}{candidate.word}", candidate.says) for candidate in found])


class _State:
    """The configuration that the words choose, as far as its files' text tells."""

    def __init__(self, words: Sequence[str]) -> None:
        more = [Path(folder) for flag, folder in itertools.pairwise(words) if flag == "--config-dir"]
        self.groups = groups([folder for folder in more if folder.is_dir()])
        given = dict(word.lstrip("+").split("=", 1) for word in words if "=" in word)
        self._targets = {key.partition(".")[0]: value for key, value in given.items() if key.endswith(".target")}
        said = {name: choice.rpartition(",")[2] for name, choice in given.items() if name in self.groups}
        chosen = {name: group.default for name, group in self.groups.items()}
        for name, group in self.groups.items():  # what is chosen may choose in other groups
            choice = group[said.get(name, group.default)]
            if choice is not None:
                chosen |= choice.chooses
        self.chosen = chosen | said
        self.of_config = _settings_in(conf_dir() / "config.yaml")

    def keys(self, word: str) -> list[Candidate]:
        """Groups, sections and what else can be given; within a section, if `word` names one, its settings."""
        section, dot, _ = word.partition(".")
        if dot:
            names = [Candidate("hydra.run.dir=", "the folder to make")] if section == "hydra" else []
            return names + [Candidate(f"{s.key}=", s.says) for s in self.settings(section)]
        found = [Candidate(f"{name}=", group.says) for name, group in self.groups.items()]
        sections = dict.fromkeys([*(key.partition(".")[0] for key in self.of_config if "." in key), *self.groups])
        sections = {name: None for name in sections if name != "hydra"}
        found += [Candidate(f"{name}.", f"settings of {name}") for name in sections if self.settings(name)]
        return found + [Candidate(f"{name}=", says) for name, says in of_runs().items()]

    def values(self, key: str, value: str) -> list[Candidate]:
        """`key=` with what the value can be; of several values with commas between them, the last one is looked at."""
        if key in of_runs() or key in _FOLDERS:
            return _folders(f"{key}=", value)
        earlier, comma, _ = value.rpartition(",")
        head = f"{key}={earlier}{comma}"
        if key in self.groups:
            return [Candidate(head + choice.name, choice.says) for choice in self.groups[key].choices]
        if key == "compression":
            return [Candidate(head + name) for name in ("none", "gzip", "zlib")]
        setting = next((setting for setting in self.settings(key.partition(".")[0]) if setting.key == key), None)
        if setting is None:
            return []
        if setting.field is not None and setting.field.choices:
            return [Candidate(head + name, setting.says) for name in setting.field.choices]
        if setting.value not in ("", "???") and not comma:
            return [Candidate(head + setting.value.replace(" ", ""), setting.says)]
        return _files(head, value[len(earlier) + len(comma) :])

    def settings(self, section: str) -> list[Setting]:
        if section in self.groups:
            lines = self._of_choice(self.groups[section], self.chosen.get(section, ""))
        else:
            inside = ((key, line) for key, line in self.of_config.items() if key.startswith(f"{section}."))
            lines = {key.removeprefix(f"{section}."): line for key, line in inside}
        target = self._targets.get(section) or lines.pop("target", ("", ""))[0]
        lines.pop("target", None)
        fields = fields_of(target if ":" in target else section_class(section))
        lines = {**lines, **{name: ("", "") for name in fields if not _has(lines, name)}}
        return [
            Setting(f"{section}.{name}", value, self._says(fields, name) or says, fields.get(name))
            for name, (value, says) in lines.items()
        ]

    def _says(self, fields: Mapping[str, Field], name: str) -> str:
        return fields[name].says if name in fields else ""

    def _of_choice(self, group: Group, name: str) -> dict[str, tuple[str, str]]:
        """The lines of a choice's file after those of the choices of the same group that it is built on."""
        choice = group[name]
        if choice is None:
            return {}
        lines: dict[str, tuple[str, str]] = {}
        for parent in _PARENT.finditer(choice.path.read_text(encoding="utf-8")):
            if parent["choice"] not in ("_self_", name):
                lines |= self._of_choice(group, parent["choice"])
        return lines | _settings_in(choice.path)


def _has(lines: Iterable[str], name: str) -> bool:
    return any(line == name or line.startswith(f"{name}.") for line in lines)


def _settings_in(path: Path) -> dict[str, tuple[str, str]]:
    """dotted key -> (value, comment) of a file in the form that those in conf/ have."""
    found: dict[str, tuple[str, str]] = {}
    above: list[tuple[int, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        indent = len(match["indent"])
        above = [(depth, key) for depth, key in above if depth < indent]
        key = ".".join([*(key for _, key in above), match["key"]])
        if match["value"] is None:
            above.append((indent, match["key"]))
        elif not key.startswith("defaults"):
            found[key] = (match["value"].strip("\"'"), match["says"] or "")
    return found


def _starting(word: str, found: Iterable[Candidate]) -> list[Candidate]:
    return [candidate for candidate in found if candidate.word.startswith(word)]


def _folders(head: str, value: str) -> list[Candidate]:
    """Folders to go into, and runs."""
    return [c for c in _files(head, value) if c.word.endswith("/") or os.path.isdir(c.word.removeprefix(head))]


def _files(head: str, value: str) -> list[Candidate]:
    inside, name = os.path.split(value)
    found = []
    for entry in sorted(os.listdir(inside or ".")) if os.path.isdir(inside or ".") else ():
        if entry.startswith(name) and (name.startswith(".") or not entry.startswith(".")):
            path = os.path.join(inside, entry)
            is_run = os.path.isfile(os.path.join(path, "config.yaml"))
            slash = "/" if os.path.isdir(path) and not is_run else ""
            found.append(Candidate(f"{head}{path}{slash}", "a run" if is_run else ""))
    return found
