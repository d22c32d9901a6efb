"""The command line, and the only place (with `sweeps`) that knows Hydra and OmegaConf.

A single run is composed with Hydra's compose API and checked whole before anything is written, and so are the runs of `-m`;
`--cfg`, `--info` and `--help` are Hydra's own, after the same checks. `hydra.main` would make the run's folder before
the configuration is known to be good, and share it between runs that start in the same second.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import hydra
import yaml
from hydra._internal.utils import get_args_parser  # Hydra has no public one
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    MissingConfigException,
    OverrideParseException,
)
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException, ValidationError

import tfexp as tf
from tfexp.experiment.compare import differences, numbers_of
from tfexp.experiment.datasets.source import Data
from tfexp.experiment.errors import ExperimentError, SettingError, nearest, no_such
from tfexp.experiment.inputs.input import Input
from tfexp.experiment.models.model import Model
from tfexp.experiment.optimizers import Optimizer
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.replication import Replication
from tfexp.experiment.report import show_comparison
from tfexp.experiment.runner import Experiment, Origin
from tfexp.experiment.schedules import Schedule
from tfexp.experiment.schema import Cluster, Device, Settings, Train, resolve
from tfexp.experiment.sweeps.plan import Door
from tfexp.experiment.sweeps.schema import Sweep
from tfexp.experiment.update import Update

__all__ = ["conf_dir", "data_of", "main", "reported"]

_SECTIONS: dict[str, type] = {
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
_FLAGS = ("--help", "--hydra-help", "--version", "--cfg", "--info", "--multirun", "-m", "--config-dir")
_COMMANDS = ("resume", "rerun")

_RESUMABLE = (
    "train.steps",
    "train.epochs",
    "train.checkpoint_every",
    "train.keep_checkpoints",
    "train.early_stop.patience",
    "train.early_stop.min_delta",
    "cluster.hosting",
    "cluster.address",
    "cluster.ps_hosts",
    "cluster.worker_hosts",
)
"""What a resumed run may change: how far it goes, what it keeps, where it runs; never how it learns."""

Compose = Callable[[Sequence[Override]], DictConfig]


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says; returns the process's exit code.

    What a user can get wrong ends in one message (a traceback too with HYDRA_FULL_ERROR=1); a fault of the
    program, or of a model of the user's own, ends in its traceback.
    """
    return reported(lambda: _main(sys.argv[1:] if argv is None else argv))


def reported(command: Callable[[], int]) -> int:
    """The exit code of a command, whose user's mistakes end in a message."""
    try:
        return command()
    except (ExperimentError, HydraException, OmegaConfBaseException, tf.errors.OpError) as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        return _complain(error)
    except KeyboardInterrupt:
        print("tfexp: interrupted", file=sys.stderr)
        return 130


def _complain(error: Exception) -> int:
    print(f"tfexp: {error}", file=sys.stderr)
    return error.exit_code if isinstance(error, ExperimentError) else 1


def data_of(words: list[str]) -> Data:
    """The settings that `data=…` and `data.<field>=…` choose, for a program that needs no more than these."""
    overrides = _parse(words)
    for override in overrides:
        if override.key_or_group.partition(".")[0] != "data":
            raise SettingError(override.key_or_group, "only data=<choice> and data.<setting>=<value> say what to write")
    _refuse_sweeps(overrides)
    with _composer([]) as compose:
        return _settings(compose(overrides)).data


def conf_dir() -> Path:
    """The configuration: inside the package in an installed wheel, beside it in the source tree."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "conf", package.parent / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise ExperimentError(f"the configuration is missing: there is no conf/config.yaml in {package} or beside it")


def _main(argv: list[str]) -> int:
    flags, unknown = get_args_parser().parse_known_args(argv)
    if unknown:
        raise SettingError("", no_such("flag", unknown[0], _FLAGS))
    instead = {
        "config_path": "--config-dir",
        "config_name": "--config-dir",
        "experimental_rerun": "rerun=<folder>",
    }
    for name, other in instead.items():
        if getattr(flags, name) is not None:
            raise SettingError(f"--{name.replace('_', '-')}", f"is not for this program: use {other}")
    if flags.help or flags.hydra_help or flags.shell_completion:
        return _hydra(argv, _nothing)
    overrides = _parse(flags.overrides)
    if {"train.steps", "train.epochs"} <= {o.key_or_group for o in overrides if o.value() is not None}:
        raise SettingError("train.epochs", "give train.steps or train.epochs, not both")
    command = f"python -m tfexp {shlex.join(argv)}"
    own = [] if flags.config_dir is None else [_config_dir_override(flags.config_dir)]
    with _composer(own) as compose:
        if flags.multirun:
            if flags.cfg is not None or flags.info is not None:
                raise SettingError("-m", "many runs have no one configuration to show: leave -m out, or give sweep.dry=true")
            return _multirun(overrides, compose, command)
        _refuse_sweeps(overrides)
        if flags.cfg is None and flags.info is None:
            return _single(overrides, compose, command)
        _settings(compose(overrides))
    words = [word for word in argv if word not in flags.overrides] + [_forced(override) for override in overrides]
    return _hydra(words, _nothing)


# ---- a single run, a resumed one, one that is run again


def _single(overrides: list[Override], compose: Compose, command: str) -> int:
    given = {override.key_or_group: override for override in overrides}
    for key, override in given.items():
        if override.is_hydra_override() and key not in ("hydra.run.dir", "hydra.searchpath"):
            raise SettingError(key, "of Hydra's own settings, a single run takes hydra.run.dir and hydra.searchpath")
    earlier = {name: given[name].value() for name in _COMMANDS if name in given}
    if len(earlier) == 2:
        raise SettingError("resume", "give resume (go on) or rerun (once more from the start), not both")
    if earlier.get("resume") is not None:
        return _resume(Path(str(earlier["resume"])), overrides, command)
    if earlier.get("rerun") is not None:
        return _rerun(Path(str(earlier["rerun"])), overrides, compose, command)
    config = compose(overrides)
    experiment = Experiment.of(_settings(config))
    with _new_folder(config, given) as folder:
        experiment.run(folder, _origin(command, config, overrides))
    return 0


def _resume(path: Path, overrides: list[Override], command: str) -> int:
    changes = {o.key_or_group: o.value() for o in overrides if o.key_or_group != "resume"}
    for key in changes:
        if key not in _RESUMABLE:
            raise SettingError(
                key,
                f"a run goes on as it began; with resume, only these may be given: {', '.join(_RESUMABLE)}",
            )
    if "train.steps" in changes:
        changes.setdefault("train.epochs", None)  # from here on steps count, whatever did before
    with contextlib.closing(RunFolder.open(path)) as folder:
        config = _load(folder.config)
        for key, value in changes.items():
            OmegaConf.update(config, key, value)
        experiment = Experiment.of(_settings(config))
        experiment.run(folder, _origin(command, config, overrides), resume=True)
    return 0


def _rerun(earlier: Path, overrides: list[Override], compose: Compose, command: str) -> int:
    given = {override.key_or_group: override for override in overrides}
    for key in given.keys() - {"rerun", "hydra.run.dir"}:
        raise SettingError(key, "a run is run again as it was; with rerun, only hydra.run.dir may be given")
    before = numbers_of(earlier)
    config = _load(earlier / "config.yaml")
    experiment = Experiment.of(_settings(config))
    with _new_folder(compose([*overrides, *_parse(["hydra.job.name=rerun"])]), given) as folder:
        after = experiment.run(folder, _origin(command, config, overrides))["numbers"]
        found = differences(before, after)
        repeatable = not experiment.settings.cluster.tasks
        show_comparison(found, earlier, folder.path, repeatable)
    return 1 if repeatable and found else 0


def _new_folder(config: DictConfig, given: dict[str, Override]) -> contextlib.closing[RunFolder]:
    """A folder that the user names must be free; one that the time of day names is made unique."""
    return contextlib.closing(RunFolder.create(Path(config.hydra.run.dir), exactly="hydra.run.dir" in given))


def _origin(command: str, config: DictConfig, overrides: Sequence[Override | str]) -> Origin:
    recorded = {name: OmegaConf.to_container(config[name], resolve=True) for name in _SECTIONS}
    lines = tuple(o.lstrip("+") if isinstance(o, str) else str(o.input_line) for o in overrides)
    return Origin(command, OmegaConf.to_yaml(OmegaConf.create(recorded)), lines)


def _load(path: Path) -> DictConfig:
    try:
        config = OmegaConf.load(path)
    except (OSError, yaml.YAMLError) as error:
        raise ExperimentError(f"{path} cannot be read: {error}") from error
    if not isinstance(config, DictConfig) or set(config) != set(_SECTIONS):
        raise ExperimentError(f"{path} is not a run's configuration: it must have {', '.join(_SECTIONS)}")
    return config


# ---- many runs, and what Hydra does itself


def _multirun(overrides: list[Override], compose: Compose, command: str) -> int:
    for name in _COMMANDS:
        if any(override.key_or_group == name for override in overrides):
            raise SettingError(name, "goes with a single run, not with -m")
    from tfexp.experiment.sweeps.command import sweep  # a single run does without

    door = Door(_parse, compose, _settings, lambda config: _origin("", config, ()).config_yaml, _sweep_of)
    return sweep(overrides, door, GlobalHydra.instance().config_loader().get_group_options, command)


def _sweep_of(config: DictConfig) -> Sweep:
    return _section("sweep", Sweep, config)


def _hydra(words: list[str], task: Callable[[DictConfig], None]) -> int:
    """`hydra.main` with these words as the command line; returns the exit code."""
    before = sys.argv
    sys.argv = ["python -m tfexp", *words]
    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(task)()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return 0


def _nothing(config: DictConfig) -> None:
    """The task of a command that shows something and runs nothing."""


# ---- from words to a composed configuration


def _parse(words: list[str]) -> list[Override]:
    parsed = []
    for word in words:
        try:
            parsed += OverridesParser.create().parse_overrides([word])
        except OverrideParseException as error:
            hint = "" if "=" not in word else " (a value with spaces, commas or brackets needs quotes of its own)"
            raise SettingError("", f"cannot read '{word}' as key=value{hint}") from error
    return parsed


def _config_dir_override(folder: str) -> str:
    path = Path(folder).resolve()
    if not path.is_dir():
        raise SettingError("--config-dir", f"there is no folder {folder}")
    return f"hydra.searchpath=['file://{path}']"


@contextlib.contextmanager
def _composer(always: list[str]) -> Iterator[Compose]:
    """A function from overrides to the composed configuration; raises SettingError for those that do not fit."""

    def plain(overrides: Sequence[Override]) -> DictConfig:
        words = [*always, *(_forced(override) for override in overrides)]
        return hydra.compose("config", words, return_hydra_config=True)

    def compose(overrides: Sequence[Override]) -> DictConfig:
        added = []
        for override in overrides:
            if override.is_delete():
                raise SettingError(override.key_or_group, "a setting cannot be taken away (~): give another value")
            if override.is_add() and "." not in override.key_or_group:
                added.append(override.key_or_group)
        chosen = plain([]).hydra.runtime.choices if added else {}
        for key in added:
            if key in chosen:
                raise SettingError(f"+{key}", f"{key} is chosen already: write {key}=<choice>, without the plus")
        try:
            config = plain(overrides)
        except MissingConfigException as error:
            group, _, choice = str(error.missing_cfg_file).rpartition("/")
            raise SettingError(group, no_such("choice", choice, error.options or ())) from error
        except ConfigCompositionException as error:
            defaults = plain([])
            for override in overrides:
                root = override.key_or_group.partition(".")[0]
                if root not in defaults and override.key_or_group not in defaults.hydra.runtime.choices:
                    raise SettingError(override.key_or_group, _no_such_root(override.key_or_group, defaults)) from error
            raise
        HydraConfig.instance().set_config(config)
        return config

    with hydra.initialize_config_dir(str(conf_dir()), job_name="tfexp", version_base="1.3"):
        yield compose


def _no_such_root(key: str, defaults: DictConfig) -> str:
    roots = sorted({str(name) for name in defaults} - {"hydra"})
    inner = [f"{name}.{field}" for name in roots if isinstance(defaults[name], DictConfig) for field in defaults[name]]
    section, dot, rest = key.partition(".")
    meant = nearest(section, roots)
    meant = meant + dot + rest if meant else nearest(rest or section, inner)
    guess = f"; did you mean '{meant}'?" if meant else "."
    return f"there is no setting or group '{key}'{guess} The choices are: {', '.join(roots)}"


def _forced(override: Override) -> str:
    """The override as Hydra gets it. A key inside a section goes through unchecked (++): its schema, which a
    class of the user's own may define, says which keys there are, not the file that happened to be chosen."""
    line = str(override.input_line)
    inside = "." in override.key_or_group and override.key_or_group.partition(".")[0] in (*_SECTIONS, "sweep")
    return f"++{line.lstrip('+')}" if inside and not override.is_delete() else line


def _refuse_sweeps(overrides: list[Override]) -> None:
    for override in overrides:
        if override.is_sweep_override():
            raise SettingError(override.key_or_group, f"'{override.input_line}' is several values: add -m to try each")
        if override.key_or_group.partition(".")[0] == "sweep":
            raise SettingError(override.key_or_group, "is about many runs: add -m")


# ---- from a composed configuration to settings


def _settings(config: DictConfig) -> Settings:
    """The door: past it there are only frozen dataclasses. Raises SettingError."""
    for name in config:
        if name not in (*_SECTIONS, *_COMMANDS, "sweep", "hydra"):
            raise SettingError(str(name), no_such("section", str(name), _SECTIONS))
    return Settings(**{name: _section(name, kind, config) for name, kind in _SECTIONS.items()})


def _section(name: str, kind: type, config: DictConfig) -> Any:
    section = config[name]
    if not isinstance(section, DictConfig):
        raise SettingError(name, f"'{section}' is not a section: give {name}.<setting>=<value>")
    try:
        if name not in _FIXED:
            if "target" not in section or OmegaConf.is_missing(section, "target"):
                raise SettingError("target", f"has no value: give {name}.target=package.module:Class")
            kind = resolve(str(section.target), kind)
        return _typed(name, kind, config)
    except SettingError as error:
        raise error.under(name) from error.__cause__


def _typed(name: str, kind: type, config: DictConfig) -> Any:
    schema = OmegaConf.structured(kind)
    _allow_writing(schema)
    given = OmegaConf.masked_copy(config[name], [key for key in config[name] if key != "target"])
    try:
        return OmegaConf.to_object(OmegaConf.merge(schema, given))
    except ConfigKeyError as error:
        key = str(error.full_key)
        parent, _, last = key.rpartition(".")
        fields = dataclasses.fields(_hint(kind, parent) if parent else kind)
        problem = no_such("setting", last, [field.name for field in fields])
        others = [other for other in _SECTIONS if other != name and isinstance(config[other], DictConfig)]
        owner = next((other for other in others if last in config[other]), None)
        raise SettingError(key, f"{problem}. There is {owner}.{last}" if owner else problem) from error
    except MissingMandatoryValue as error:
        key = str(error.full_key)
        raise SettingError(key, f"{_words(_hint(kind, key))} must be given: {name}.{key}=<value>") from error
    except ValidationError as error:
        key = str(error.full_key)
        value, hint = OmegaConf.select(given, key), _hint(kind, key)
        if isinstance(hint, type) and issubclass(hint, Enum):
            raise SettingError(key, no_such("choice", str(value), hint.__members__)) from error
        shown = "null" if value is None else f"'{value}'"
        raise SettingError(key, f"{shown} is not {_words(hint)}") from error


def _allow_writing(schema: DictConfig) -> None:
    """OmegaConf takes a frozen dataclass for a read-only configuration; here its values are still to come."""
    OmegaConf.set_readonly(schema, None)
    for key in schema:
        child = schema._get_node(key)
        if isinstance(child, DictConfig):
            _allow_writing(child)


def _hint(kind: Any, key: str) -> Any:
    """The annotation of the field, or of the list's item, at the dotted `key`."""
    for part in key.split("."):
        name, bracket, _ = part.partition("[")
        kind = get_type_hints(kind)[name]
        if bracket:
            kind = get_args(kind)[0]
    return kind


def _words(hint: Any) -> str:
    """The annotation in words."""
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", NoneType: "null"}
    if hint in names:
        return names[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"one of {', '.join(hint.__members__)}"
    if dataclasses.is_dataclass(hint):
        return f"a section with {', '.join(field.name for field in dataclasses.fields(hint))}"
    arguments = get_args(hint)
    if NoneType in arguments:
        return " or ".join(_words(argument) for argument in arguments)
    if arguments and arguments[-1] is Ellipsis:
        return f"a list, each item {_words(arguments[0])}"
    return str(hint)
