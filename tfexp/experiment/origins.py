"""Where each value of a composed configuration was written: a line of a file, or the command line."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import RunMode

from tfexp.experiment.choices import shown
from tfexp.experiment.config_files import is_value, state_of

__all__ = ["Origins", "Place"]


@dataclass(frozen=True)
class Place:
    """A line of a file; with no file, what stands on the command line."""

    text: str
    path: Path | None = None

    def __str__(self) -> str:
        return self.text


class Origins:
    """Of the configuration that `overrides` compose. To be made while Hydra is initialised (`hydra.initialize…`)."""

    def __init__(self, config_name: str, overrides: Sequence[str], given: Sequence[Override]) -> None:
        """`overrides` are the words as Hydra gets them, `given` those that a person typed."""
        loader = GlobalHydra.instance().config_loader()
        choices = [str(o.input_line) for o in OverridesParser.create().parse_overrides(list(overrides)) if not is_value(o)]
        composed = loader.compute_defaults_list(config_name, choices, RunMode.RUN)
        added = [o.value() for o in composed.overrides.config_overrides if o.key_or_group == "hydra.searchpath"]
        entries = [entry.path for entry in loader.get_search_path().get_path()] + [
            str(path) for paths in added for path in paths
        ]
        folders = [_folder(entry) for entry in entries]
        self._places: dict[str, Place] = {}
        self.files: dict[str, Path] = {}
        """The file that was chosen for each package (`optimizer`: conf/optimizer/adam.yaml), "" for all the rest."""
        for default in composed.defaults:
            found = [folder / f"{default.config_path}.yaml" for folder in folders if folder is not None]
            path = next((path for path in found if path.is_file()), None)
            if path is not None:
                package = default.package or ""
                self.files[package] = path
                for key, line in _keys(path, state_of(path)):
                    self._put(f"{package}.{key}".lstrip("."), Place(f"{shown(path)}, line {line}", path))
        typed = {override.key_or_group: override for override in given}
        for key, override in typed.items():
            if "." in key:
                self._put(key, Place(f"the command line: {override.input_line}"))
        self._choosers = {
            group: Place(f"the command line: {typed[group].input_line}")
            if chosen.containing_config_path is None and group in typed
            else Place(f"conf/{chosen.containing_config_path or config_name}.yaml")
            for group, chosen in composed.overrides.override_metadata.items()
        }
        self._unsaid = Place(f"conf/{config_name}.yaml")

    def of(self, key: str) -> Place | None:
        """Where the value of a setting was written; None if nowhere, because its class has it."""
        while key:
            if key in self._places:
                return self._places[key]
            key = key.rpartition(".")[0]
            if "." not in key:
                break
        return None

    def file_of(self, key: str, unknown: bool) -> str:
        """The file, and line, that has the setting; where only the command line has it, "", or if there is no such setting
        (`unknown`), the file that has the others around it.
        """
        key = key.partition("[")[0]  # of a list's item
        place = self.of(key)
        if place is not None and place.path is not None:
            return place.text
        path = self.files.get(key.partition(".")[0], self.files.get(""))
        return shown(path) if unknown and path is not None else ""

    def of_choice(self, group: str) -> Place:
        """What chose a group's file."""
        return self._choosers.get(group, self._unsaid)

    def _put(self, key: str, place: Place) -> None:
        for inner in [other for other in self._places if other.startswith(f"{key}.")]:
            del self._places[inner]
        self._places[key] = place


def _folder(entry: str | None) -> Path | None:
    """The folder of an entry of Hydra's search path; None for those inside of packages."""
    scheme, colon, rest = (entry or "").partition("://")
    if not colon:
        return Path(scheme)
    return Path(rest) if scheme == "file" else None


@functools.lru_cache(maxsize=256)
def _keys(path: Path, state: Hashable) -> list[tuple[str, int]]:
    """(dotted key, its line) of everything in the file that is not itself a mapping, outside of the defaults list.

    `state` is how the file is now: one that has changed is read again.
    """

    def inside(node: yaml.Node | None, prefix: str) -> Iterator[tuple[str, int]]:
        if not isinstance(node, yaml.MappingNode):
            return
        for name, value in node.value:
            if prefix or name.value != "defaults":
                if isinstance(value, yaml.MappingNode) and value.value:
                    yield from inside(value, f"{prefix}{name.value}.")
                else:
                    yield f"{prefix}{name.value}", name.start_mark.line + 1

    with path.open(encoding="utf-8") as file:
        return list(inside(yaml.compose(file, Loader=yaml.SafeLoader), ""))
