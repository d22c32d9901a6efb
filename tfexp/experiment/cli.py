"""The command line: what `python -m tfexp` does with its words.

A single run is composed with Hydra's compose API and checked whole before anything is written, and so are those of `-m`;
`--cfg` and `--info` are Hydra's own, after the same checks. `hydra.main` would make the run's folder before
the configuration is known to be good, and share it between runs that start in the same second.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Container, Sequence
from pathlib import Path

import hydra
import yaml
from hydra._internal.utils import get_args_parser  # Hydra has no public one
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

import tfexp as tf
from tfexp.experiment import manifest
from tfexp.experiment.choices import conf_dir, groups
from tfexp.experiment.composing import (
    COMMANDS,
    SECTIONS,
    Compose,
    checked,
    composed,
    composer,
    forced,
    parse,
    refuse_sweeps,
    search_path,
    section_of,
    settings_of,
)
from tfexp.experiment.datasets.source import Data
from tfexp.experiment.errors import ExperimentError, SettingError, no_such, not_allowed
from tfexp.experiment.missing import brought_by
from tfexp.experiment.outputs import RunFiles, RunFolder, require_run
from tfexp.experiment.reproducing import SPREAD, Earlier
from tfexp.experiment.runner import Experiment, Origin
from tfexp.experiment.schema import Settings

__all__ = ["data_of", "main", "reported", "reproduce", "settings_of_run"]

_FLAGS = {
    "--help": "this page, for the choices and settings given",
    "-m": "with several values (key=a,b): a run for each combination",
    "--multirun": "the same as -m",
    "--cfg": "job, hydra or all: show the configuration, run nothing",
    "--info": "all, config, defaults, defaults-tree, plugins or searchpath: show how Hydra composes it, run nothing",
    "--config-dir": "a folder with groups and choices of one's own, laid out as conf/ is",
    "--hydra-help": "Hydra's own help",
    "--version": "tfexp's version, and Hydra's",
}
_RESUMABLE = (
    "train.steps",
    "train.epochs",
    "train.checkpoint_every",
    "train.keep_checkpoints",
    "train.keep_best",
    "train.early_stop.patience",
    "train.early_stop.min_delta",
    "cluster.hosting",
    "cluster.address",
    "cluster.ps_hosts",
    "cluster.worker_hosts",
)
"""What a resumed run may change: how far it goes, what it keeps, where it runs; never how it learns."""


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
    except PermissionError as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        return _complain(not_allowed(error))
    except ModuleNotFoundError as error:
        bring = brought_by(error.name or "")
        if bring is None or os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        return _complain(ExperimentError(f"{error.name} is not installed here: {bring}"))
    except KeyboardInterrupt:
        print("tfexp: interrupted", file=sys.stderr)
        return 130


def _complain(error: Exception) -> int:
    print(f"tfexp: {error}", *getattr(error, "__notes__", ()), sep="\n  ", file=sys.stderr)
    return error.exit_code if isinstance(error, ExperimentError) else 1


def data_of(words: list[str]) -> Data:
    """The settings that `data=…` and `data.<field>=…` choose, for a program that needs no more than these."""
    for override in parse(words):
        if override.key_or_group.partition(".")[0] != "data":
            raise SettingError(override.key_or_group, "only data=<choice> and data.<setting>=<value> say what to write")
    return settings_of(words).data


def settings_of_run(folder: Path) -> Settings:
    """The settings that a run's folder has. Raises ExperimentError if it has none, or they are wrong."""
    require_run(folder)
    path = RunFiles(folder).config
    return _settings_of(path, _load(path))


def _flags_of(argv: list[str]) -> argparse.Namespace:
    """The command line, as Hydra has it. SettingError for a flag that there is not, or that is not for this program."""
    parser = argparse.ArgumentParser(
        parents=[get_args_parser()], add_help=False, conflict_handler="resolve", exit_on_error=False
    )
    parser.add_argument("--version", action="store_true")  # Hydra's says Hydra's alone
    try:
        flags, unknown = parser.parse_known_intermixed_args(argv)
    except argparse.ArgumentError as error:
        raise SettingError(error.argument_name or "", error.message) from error
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
    return flags


def _main(argv: list[str]) -> int:
    flags = _flags_of(argv)
    if flags.help:
        return _help(flags.overrides, flags.config_dir)
    if flags.version:
        print(f"tfexp {manifest.version_of('tfexp') or 'that is not installed'} (Hydra {hydra.__version__})")
        return 0
    if flags.hydra_help or flags.shell_completion:
        return _hydra(argv, _nothing)
    overrides = parse(flags.overrides)
    if {"train.steps", "train.epochs"} <= {o.key_or_group for o in overrides if o.value() is not None}:
        raise SettingError("train.epochs", "give train.steps or train.epochs, not both")
    command = f"python -m tfexp {shlex.join(argv)}"
    config_dir = _config_dir_of_sweep(overrides) if flags.multirun and flags.config_dir is None else flags.config_dir
    with composer(search_path(config_dir)) as compose:
        if flags.multirun:
            if flags.cfg is not None or flags.info is not None:
                raise SettingError("-m", "many runs have no one configuration to show: leave -m out, or give sweep.dry=true")
            return _multirun(overrides, compose, command, config_dir)
        refuse_sweeps(overrides)
        if flags.cfg is None and flags.info is None:
            return _single(overrides, compose, command)
        checked(compose(overrides))
    words = [forced(override) for override in overrides]
    if not any(override.key_or_group == "hydra.searchpath" for override in overrides):
        words += search_path(None)  # that of --config-dir is among the words
    words += [word for word in argv if word not in flags.overrides]  # --info alone would take what comes behind it
    return _hydra(words, _nothing)


def _help(words: list[str], config_dir: str | None) -> int:
    from tfexp.experiment.pages import help_page

    words = [word for word in words if word.partition("=")[0] not in COMMANDS]
    there = groups([] if config_dir is None else [Path(config_dir)])
    said = OmegaConf.load(conf_dir() / "hydra" / "help" / "tfexp.yaml")
    help_page(there, composed(words, config_dir), said.header, _FLAGS, said.footer)
    return 0


# ---- a single run, a resumed one, one that is run again


def _single(overrides: list[Override], compose: Compose, command: str) -> int:
    given = {override.key_or_group: override for override in overrides}
    for key, override in given.items():
        if override.is_hydra_override() and key not in ("hydra.run.dir", "hydra.searchpath"):
            raise SettingError(key, "of Hydra's own settings, a single run takes hydra.run.dir and hydra.searchpath")
    earlier = {name: given[name].value() for name in COMMANDS if name in given}
    if len(earlier) == 2:
        raise SettingError("resume", "give resume (go on) or rerun (once more from the start), not both")
    for name, value in earlier.items():
        if value == "":
            raise SettingError(name, f"a run's folder must be given: {name}=outputs/…")
    if earlier.get("resume") is not None:
        return _resume(Path(str(earlier["resume"])), overrides, command)
    if earlier.get("rerun") is not None:
        return _rerun(Path(str(earlier["rerun"])), overrides, compose, command)
    config = compose(overrides)
    experiment = Experiment.of(checked(config))
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
        experiment = Experiment.of(_settings_of(folder.config, config, changes).going_on)
        experiment.run(folder, _origin(command, config, overrides), resume=True)
    return 0


def reproduce(earlier: Path, out: str | None, spread: float, command: str) -> int:
    """What `rerun=<earlier> hydra.run.dir=<out>` does, with a `spread` of one's own; `out` is a value in Hydra's grammar."""
    where = [] if out is None else [f"hydra.run.dir={out}"]
    with composer([]) as compose:
        return _rerun(earlier, parse(where), compose, command, spread)


def _rerun(earlier: Path, overrides: list[Override], compose: Compose, command: str, spread: float = SPREAD) -> int:
    given = {override.key_or_group: override for override in overrides}
    for key in given.keys() - {"rerun", "hydra.run.dir"}:
        raise SettingError(key, "a run is run again as it was; with rerun, only hydra.run.dir may be given")
    before = Earlier(earlier)
    config = _load(earlier / "config.yaml")
    experiment = Experiment.of(_settings_of(earlier / "config.yaml", config))
    with _new_folder(compose([*overrides, *parse(["hydra.job.name=rerun"])]), given) as folder:
        return 0 if before.reproduce(experiment, folder, _origin(command, config, overrides), spread) else 1


def _new_folder(config: DictConfig, given: dict[str, Override]) -> contextlib.closing[RunFolder]:
    """A folder that the user names must be free; one that the time of day names is made unique."""
    if not config.hydra.run.dir:
        raise SettingError("hydra.run.dir", "a folder must be given: hydra.run.dir=outputs/…")
    return contextlib.closing(RunFolder.create(Path(config.hydra.run.dir), exactly="hydra.run.dir" in given))


def _origin(command: str, config: DictConfig, overrides: Sequence[Override | str]) -> Origin:
    recorded = {name: OmegaConf.to_container(config[name], resolve=True) for name in SECTIONS}
    lines = tuple(o.lstrip("+") if isinstance(o, str) else str(o.input_line) for o in overrides)
    return Origin(command, OmegaConf.to_yaml(OmegaConf.create(recorded)), lines)


def _settings_of(path: Path, config: DictConfig, changes: Container[str] = ()) -> Settings:
    """The settings that a run's file has; what is wrong is the file's fault, but for the `changes`."""
    try:
        return checked(config)
    except SettingError as error:
        raise (error if error.key in changes else error.at(str(path))) from error.__cause__


def _load(path: Path) -> DictConfig:
    try:
        config = OmegaConf.load(path)
    except OSError as error:
        raise ExperimentError(f"{path} cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark
        line = "" if at is None else f"line {at.line + 1}: "
        raise ExperimentError(f"{path} cannot be read: {line}{error.problem}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ExperimentError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    if not config:
        raise ExperimentError(f"{path} is empty: that run was ended before it began; start it again")
    if not isinstance(config, DictConfig) or set(config) != set(SECTIONS):
        raise ExperimentError(f"{path} is not a run's configuration: it must have {', '.join(SECTIONS)}")
    return config


# ---- many runs, and what Hydra does itself


def _config_dir_of_sweep(overrides: list[Override]) -> str | None:
    """That of the sweep which is taken up, if one is."""
    from tfexp.experiment.sweeps.journal import config_dir_of

    resume = next((o for o in overrides if o.key_or_group == "sweep.resume" and not o.is_sweep_override()), None)
    return None if resume is None else config_dir_of(Path(str(resume.value())))


def _multirun(overrides: list[Override], compose: Compose, command: str, config_dir: str | None) -> int:
    for name in COMMANDS:
        if any(override.key_or_group == name for override in overrides):
            raise SettingError(name, "goes with a single run, not with -m")
    from tfexp.experiment.sweeps.command import sweep  # a single run does without
    from tfexp.experiment.sweeps.plan import Door
    from tfexp.experiment.sweeps.schema import Sweep

    door = Door(
        parse=parse,
        compose=compose,
        settings=checked,
        recorded=lambda config: _origin("", config, ()).config_yaml,
        sweep=lambda config: section_of("sweep", Sweep, config),
    )
    return sweep(overrides, door, GlobalHydra.instance().config_loader().get_group_options, command, config_dir)


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
