"""From the words of a command line to a composed configuration, and from that to settings, with messages for what is wrong.

With cli.py, config_files.py, origins.py and `sweeps` the only place that knows Hydra and OmegaConf.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import shlex
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import ConfigCompositionException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, InterpolationResolutionError, MissingMandatoryValue, ValidationError

from tfexp.experiment.choices import conf_dir, own_folders
from tfexp.experiment.config_files import COMMANDS, parse_once, put_together_once
from tfexp.experiment.datasets.source import Data
from tfexp.experiment.described import Composed
from tfexp.experiment.errors import SettingError, nearest, no_such
from tfexp.experiment.hints import hint_of, in_words, refuse_misplaced
from tfexp.experiment.inputs.input import Input
from tfexp.experiment.models.model import Model
from tfexp.experiment.of_hydra import OfHydra
from tfexp.experiment.optimizers import Optimizer
from tfexp.experiment.origins import Origins
from tfexp.experiment.replication import Replication
from tfexp.experiment.schedules import Schedule
from tfexp.experiment.schema import Cluster, Device, Settings, Train, resolve
from tfexp.experiment.update import Update

__all__ = [
    "COMMANDS",
    "SECTIONS",
    "Compose",
    "checked",
    "composed",
    "composer",
    "forced",
    "parse",
    "refuse_sweeps",
    "search_path",
    "section_of",
    "settings_of",
]

SECTIONS: dict[str, type] = {
    "model": Model,
    "data": Data,
    "input": Input,
    "optimizer": Optimizer,
    "schedule": Schedule,
    "device": Device,
    "cluster": Cluster,
    "replication": Replication,
    "update": Update,
    "train": Train,
}
_FIXED = ("device", "cluster", "train")
"""The sections whose schema is one class; the others name theirs in `target`."""

Compose = Callable[[Sequence[Override]], DictConfig]


def settings_of(words: list[str], config_dir: str | None = None) -> Settings:
    """What these words of a command line choose; all else is as `conf/` has it."""
    overrides = parse(words)
    refuse_sweeps(overrides)
    with composer(search_path(config_dir)) as compose:
        return checked(compose(overrides))


def composed(words: list[str], config_dir: str | None = None) -> Composed:
    """What the words of a command line, with -m or without, compose. The values are not checked."""
    from tfexp.experiment.sweeps.schema import Sweep  # a single run does without

    overrides = parse(words)
    _refuse_several_values(overrides)
    sections = {**SECTIONS, "sweep": Sweep}
    own = search_path(config_dir)
    with composer(own) as compose:
        choices = [override for override in overrides if "." not in override.key_or_group]
        without = compose(choices)
        config = without if choices == overrides else compose(overrides)
        kinds: dict[str, type] = {}
        for name, base in sections.items():
            if not OmegaConf.is_missing(config[name], "target"):
                try:
                    kinds[name] = _kind(name, config, base)
                except SettingError as error:
                    raise error.under(name) from error.__cause__
        origins = Origins("config", [*own, *(forced(override) for override in overrides)], overrides)
    chosen = dict(config.hydra.runtime.choices)
    kinds["hydra"] = OfHydra
    plain = [OmegaConf.to_container(OmegaConf.masked_copy(tree, [*sections, "hydra"])) for tree in (config, without)]
    values: Any = plain  # of mappings come dicts
    return Composed(values[0], values[1], kinds, chosen, origins, functools.partial(_interpolated, config))


def _interpolated(config: DictConfig, key: str) -> Any:
    """A key's value with those of other keys in it; where one of them is not there, words that say so."""
    try:
        value = OmegaConf.select(config, key)
        return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
    except InterpolationResolutionError as error:
        return f"nothing: {str(error).splitlines()[0]}"


# ---- from words to a composed configuration


def parse(words: list[str]) -> list[Override]:
    parsed = []
    for word in words:
        try:
            parsed += OverridesParser.create().parse_overrides([word])
        except OverrideParseException as error:
            raise SettingError("", f"cannot read '{word}' as key=value{_quoted(word)}") from error
    return parsed


def _quoted(word: str) -> str:
    """What a word that Hydra cannot read may lack: of letters, it takes ASCII alone without quotes."""
    key, equals, value = word.partition("=")
    if not equals or not key.isascii():
        return ""
    example = "" if {"'", '"'} & set(value) else ": " + shlex.quote(f'{key}="{value}"')
    return f" (a value with spaces, commas, brackets or letters such as é needs quotes of its own{example})"


def search_path(config_dir: str | None) -> list[str]:
    """The override, if one is needed, with which Hydra finds choices in that folder and in experiments of one's own."""
    if config_dir is not None and not Path(config_dir).is_dir():
        raise SettingError("--config-dir", f"there is no folder {config_dir}")
    folders = [*([] if config_dir is None else [Path(config_dir)]), *own_folders()]
    found = ", ".join(f"'file://{folder.resolve()}'" for folder in folders)
    return [f"hydra.searchpath=[{found}]"] if found else []


@contextlib.contextmanager
def composer(always: list[str]) -> Iterator[Compose]:
    """A function from overrides to the composed configuration; raises SettingError for those that do not fit."""
    last: Sequence[Override] | None = None

    def plain(overrides: Sequence[Override]) -> DictConfig:
        nonlocal last
        last = overrides
        words = [*always, *(forced(override) for override in overrides)]
        return hydra.compose("config", words, return_hydra_config=True)

    def compose(overrides: Sequence[Override]) -> DictConfig:
        _refuse_groups_in_vain(overrides, plain)
        try:
            config = plain(overrides)
        except MissingConfigException as error:
            raise _no_such_choice(error) from error
        except yaml.MarkedYAMLError as error:
            at = error.problem_mark
            where = "" if at is None else f"{at.name}, line {at.line + 1}: "
            raise SettingError("", f"{where}not YAML: {error.problem}") from error
        except (ConfigCompositionException, TypeError, ValueError) as error:  # the latter two of keys inside lists
            _refuse_unknown(overrides, plain, error)
            raise
        HydraConfig.instance().set_config(config)
        return config

    parse_once()
    with hydra.initialize_config_dir(str(conf_dir()), job_name="tfexp", version_base="1.3"):
        put_together_once()
        try:
            yield compose
        except SettingError as error:
            if last is None or error.where or error.key.partition(".")[0] not in SECTIONS or "." not in error.key:
                raise
            origins = Origins("config", [*always, *(forced(override) for override in last)], last)
            unknown = isinstance(error.__cause__, ConfigKeyError)
            raise error.at(origins.file_of(error.key, unknown)) from error.__cause__


def _refuse_groups_in_vain(overrides: Sequence[Override], compose: Compose) -> None:
    """Raises SettingError for what Hydra would do with groups, and nothing here would come of."""
    added = []
    for override in overrides:
        if override.is_delete():
            raise SettingError(override.key_or_group, "a setting cannot be taken away (~): give another value")
        if override.package is not None:
            part = f"{override.key_or_group}@{override.package}"
            if part not in compose([other for other in overrides if other.package is None]).hydra.runtime.choices:
                raise SettingError(part, "a group has its own section, without @, and nothing chosen has such a part")
        _refuse_no_choice(override)
        if (override.is_add() or override.is_force_add()) and "." not in override.key_or_group:
            added.append(override.key_or_group)
    chosen = compose([]).hydra.runtime.choices if added else {}
    for key in added:
        if key in chosen:
            signs = "+" if any(o.is_add() for o in overrides if o.key_or_group == key) else "++"
            raise SettingError(f"{signs}{key}", f"{key} is chosen already: write {key}=<choice>, without the plus")


def _refuse_no_choice(override: Override) -> None:
    """Raises SettingError for a value of a group that names no choice; `experiment` alone takes several."""
    key, value = override.key_or_group, override.value()
    choices = [] if "." in key else GlobalHydra.instance().config_loader().get_group_options(key)
    if not choices or isinstance(value, str):
        return
    if isinstance(value, list):
        if key != "experiment":
            raise SettingError(key, f"a list, where one is chosen: write {key}=<choice>; with -m, {key}=a,b tries each")
    elif isinstance(value, dict):
        raise SettingError(key, f"settings, where one is chosen: write {key}=<choice> {key}.<setting>=<value>")
    else:
        raise SettingError(key, no_such("choice", override.get_value_element_as_str(), choices), f"conf/{key}")


def _no_such_choice(error: MissingConfigException) -> SettingError:
    options, parts = GlobalHydra.instance().config_loader().get_group_options, str(error.missing_cfg_file).split("/")
    # a choice may have slashes, and so may a group, as hydra/launcher has
    ends = (end for end in range(len(parts) - 1, 0, -1) if all(parts[:end]) and options("/".join(parts[:end])))
    end = next(ends, len(parts) - 1)
    group, choice = "/".join(parts[:end]), "/".join(parts[end:])
    there = (error.options if end == len(parts) - 1 else None) or options(group)  # the error's are those with `--config-dir`
    problem = no_such("choice", choice, there)
    if ":" in choice and group in {*SECTIONS, "sweep"}.difference(_FIXED):
        own = f"{group}=own {group}.target={choice}" if "own" in there else f"{group}.target={choice}"
        problem = f"'{choice}' is a class, not a choice: write {own}"
    return SettingError(group, problem, "" if group.startswith("hydra/") else f"conf/{group}")


def _refuse_unknown(overrides: Sequence[Override], compose: Compose, error: Exception) -> None:
    """Raises SettingError for the override for which there is no place, if that is what was wrong."""
    defaults = compose([])
    for override in overrides:
        root = override.key_or_group.partition(".")[0]
        if root not in defaults and override.key_or_group not in defaults.hydra.runtime.choices:
            problem = _no_such_root(override.key_or_group, defaults)
            raise SettingError(override.key_or_group, problem, "conf/config.yaml") from error
    choices = [override for override in overrides if "." not in override.key_or_group]
    chosen = compose(choices) if choices else defaults
    for override in overrides:
        _refuse_misfit(override, chosen, error)


def _refuse_misfit(override: Override, config: DictConfig, error: Exception) -> None:
    """Raises SettingError for a list where there is a section, or the other way round: these cannot even be merged."""
    key = override.key_or_group
    for end in [at for at, letter in enumerate(key) if letter == "."]:
        if isinstance(OmegaConf.select(config, key[:end]), ListConfig):
            raise SettingError(key[:end], f"is a list, which has no '{key[end + 1 :]}': give {key[:end]}=[…]") from error
    there, given = OmegaConf.select(config, key), override.value()
    if isinstance(there, ListConfig) and isinstance(given, dict):
        raise SettingError(key, f"'{given}' is not a list: give {key}=[…]") from error
    if isinstance(there, DictConfig) and isinstance(given, list):
        raise SettingError(key, f"'{given}' is not a section: give {key}.<setting>=<value>") from error


def _no_such_root(key: str, defaults: DictConfig) -> str:
    roots = sorted({str(name) for name in defaults} - {"hydra"})
    inner = [f"{name}.{field}" for name in roots if isinstance(defaults[name], DictConfig) for field in defaults[name]]
    section, dot, rest = key.partition(".")
    if key in {name.partition(".")[2] for name in inner}:  # the section was left out
        meant = nearest(key, inner)
    else:
        meant = nearest(section, roots)
        meant = meant + dot + rest if meant else nearest(rest or section, inner)
    guess = f"; did you mean '{meant}'?" if meant else "."
    return f"there is no setting or group '{key}'{guess} The choices are: {', '.join(roots)}"


def forced(override: Override) -> str:
    """The override as Hydra gets it. A key inside a section goes through unchecked (++): its schema, which a
    class of the user's own may define, says which keys there are, not the file that happened to be chosen."""
    line = str(override.input_line)
    inside = "." in override.key_or_group and override.key_or_group.partition(".")[0] in (*SECTIONS, "sweep")
    return f"++{line.lstrip('+')}" if inside and not override.is_delete() else line


def refuse_sweeps(overrides: list[Override]) -> None:
    """Raises SettingError for what only -m takes."""
    _refuse_several_values(overrides)
    for override in overrides:
        if override.key_or_group.partition(".")[0] == "sweep":
            raise SettingError(override.key_or_group, "is about many runs: add -m")


def _refuse_several_values(overrides: list[Override]) -> None:
    for override in overrides:
        if override.is_sweep_override():
            raise SettingError(override.key_or_group, f"'{override.input_line}' is several values: add -m to try each")


# ---- from a composed configuration to settings


def checked(config: DictConfig) -> Settings:
    """The door: past it there are only frozen dataclasses. Raises SettingError."""
    for name in config:
        if name not in (*SECTIONS, *COMMANDS, "sweep", "hydra"):
            raise SettingError(str(name), no_such("section", str(name), SECTIONS))
    parts: dict[str, Any] = {}
    for name, kind in SECTIONS.items():
        parts[name] = section_of(name, kind, config)
    return Settings(**parts)


def section_of(name: str, base: type, config: DictConfig) -> Any:
    """A section's settings, whose class is, or is derived from, `base`. Raises SettingError."""
    try:
        return _typed(name, _kind(name, config, base), config)
    except SettingError as error:
        raise error.under(name) from error.__cause__


def _kind(name: str, config: DictConfig, kind: type) -> type:
    """The schema of a section. Raises SettingError, whose key is seen from inside of the section."""
    section = config[name]
    if not isinstance(section, DictConfig):
        raise SettingError("", f"'{section}' is not a section: give {name}.<setting>=<value>")
    if name in _FIXED:
        return kind
    if "target" not in section or OmegaConf.is_missing(section, "target"):
        raise SettingError("target", f"has no value: give {name}.target=package.module:Class")
    return resolve(str(section.target), kind)


def _typed(name: str, kind: type, config: DictConfig) -> Any:
    schema = _schema(kind)
    try:
        # with values in the place of interpolations, which may be of other sections
        values: Any = OmegaConf.to_container(config[name], resolve=True)
    except InterpolationResolutionError as error:
        raise SettingError(str(error.full_key).removeprefix(f"{name}."), str(error).splitlines()[0]) from error
    values = {key: value for key, value in values.items() if key != "target"}
    refuse_misplaced(kind, values)
    given = OmegaConf.create(values)
    try:
        return OmegaConf.to_object(OmegaConf.merge(schema, given))
    except ConfigKeyError as error:
        key = str(error.full_key)
        parent, _, last = key.rpartition(".")
        fields = dataclasses.fields(hint_of(kind, parent) if parent else kind)
        problem = no_such("setting", last, [field.name for field in fields])
        others = [other for other in SECTIONS if other != name and isinstance(config[other], DictConfig)]
        owner = next((other for other in others if last in config[other]), None)
        raise SettingError(key, f"{problem}. There is {owner}.{last}" if owner else problem) from error
    except MissingMandatoryValue as error:
        raise _missing(name, kind, sorted(OmegaConf.missing_keys(OmegaConf.merge(schema, given)))) from error
    except ValidationError as error:
        key = str(error.full_key)
        value, hint = OmegaConf.select(given, key), hint_of(kind, key)
        if isinstance(hint, type) and issubclass(hint, Enum):
            raise SettingError(key, no_such("choice", str(value), hint.__members__)) from error
        shown = "null" if value is None else f"'{value}'"
        raise SettingError(key, f"{shown} is not {in_words(hint)}") from error


def _missing(name: str, kind: type, keys: Sequence[str]) -> SettingError:
    """The complaint about all settings of a section that have no value."""
    what = {key: in_words(hint_of(kind, key)) for key in keys}
    give = " ".join(f"{name}.{key}=<value>" for key in keys)
    if len(keys) == 1:
        return SettingError(keys[0], f"{what[keys[0]]} must be given: {give}")
    return SettingError("", f"{', '.join(f'{key} ({words})' for key, words in what.items())} must be given: {give}")


@functools.lru_cache(maxsize=64)
def _schema(kind: type) -> DictConfig:
    """What a section of that class may hold; to be copied, as a merge does with the first that it takes."""
    schema = OmegaConf.structured(kind)
    _allow_writing(schema)
    return schema


def _allow_writing(schema: DictConfig) -> None:
    """OmegaConf takes a frozen dataclass for a read-only configuration; here its values are still to come."""
    OmegaConf.set_readonly(schema, None)
    for key in schema:
        child = schema._get_node(key)
        if isinstance(child, DictConfig):
            _allow_writing(child)
