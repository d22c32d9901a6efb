"""Hydra's configuration files, parsed once each, and found and put together once for each choice of them.

A composition reads some twenty files, and putting them together takes most of its time; a sweep composes for each trial.
"""

from __future__ import annotations

import functools
import os
import pickle
import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.core_plugins.importlib_resources_config_source import ImportlibResourcesConfigSource
from hydra._internal.defaults_list import DefaultsList
from hydra._internal.sources_registry import SourcesRegistry  # Hydra has no public way to put a source in another's place
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.errors import ConfigCompositionException
from hydra.plugins.config_source import ConfigResult
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

COMMANDS = ("resume", "rerun")
"""Names on the command line that are no settings: what to do with a run that there is."""

# By source and name: how the file was when it was parsed, and what it says. Pickled, as whoever composes changes what it
# gets, and copies of configurations are made that way in an eighth of the time that `deepcopy` takes.
_parsed: dict[Hashable, tuple[Hashable, bytes]] = {}
# By what was asked, and for which choices: how all was that was looked for in folders, and what they come to.
_together: dict[Hashable, tuple[dict[str, Hashable], bytes]] = {}
_MOST_TOGETHER = 256


def _remembered(key: Hashable, state: Hashable, load: Callable[[], ConfigResult]) -> ConfigResult:
    known = _parsed.get(key)
    if known is None or known[0] != state:
        _parsed[key] = known = state, pickle.dumps(load())
    result: ConfigResult = pickle.loads(known[1])
    return result


def state_of(path: str | os.PathLike[str]) -> Hashable:
    """How a file or folder is now; None: there is none."""
    try:
        now = os.stat(path)
    except OSError:
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns


class _Files(FileConfigSource):
    looked_for: ClassVar[dict[str, Hashable]] = {}
    """Of the composition that goes on: how each file and folder was that it looked for."""

    def is_config(self, config_path: str) -> bool:
        self._look_for(self._normalize_file_name(config_path))
        return super().is_config(config_path)

    def is_group(self, config_path: str) -> bool:
        self._look_for(config_path)
        return super().is_group(config_path)

    def load_config(self, config_path: str) -> ConfigResult:
        load = functools.partial(super().load_config, config_path)
        now = self._look_for(self._normalize_file_name(config_path))
        if now is None:
            return load()  # which says what is the matter
        return _remembered((str(self), config_path), now, load)

    def _look_for(self, name: str) -> Hashable:
        path = os.path.join(self.path, name)
        now = self.looked_for[path] = state_of(path)
        return now


class _Resources(ImportlibResourcesConfigSource):
    """Files of packages, which stay as they are."""

    def load_config(self, config_path: str) -> ConfigResult:
        return _remembered((str(self), config_path), None, functools.partial(super().load_config, config_path))


class _Loader(ConfigLoaderImpl):
    """Puts single values into a copy of what the choices come to, as Hydra itself does it once the files are together."""

    def load_configuration(
        self,
        config_name: str | None,
        overrides: list[str],
        run_mode: RunMode,
        from_shell: bool = True,
        validate_sweep_overrides: bool = True,
    ) -> DictConfig:
        parsed = OverridesParser.create().parse_overrides(overrides)
        if any(not is_value(override) and isinstance(override.value(), dict) for override in parsed):
            # A whole section, which counts before or after a value in it, as they were given.
            return super().load_configuration(config_name, overrides, run_mode, from_shell, validate_sweep_overrides)
        chosen = [str(override.input_line) for override in parsed if not is_value(override)]

        def put_together() -> DictConfig:
            merged = ConfigLoaderImpl.load_configuration(
                self, config_name, chosen, run_mode, from_shell, validate_sweep_overrides
            )
            OmegaConf.clear_cache(merged)  # what ${now:…} was is not what it is for the next
            return merged

        config: DictConfig = self._as_before(("config", config_name, run_mode, *chosen), put_together)
        try:
            self._apply_overrides_to_config([override for override in parsed if is_value(override)], config)
        except OmegaConfBaseException as error:
            raise ConfigCompositionException().with_traceback(sys.exc_info()[2]) from error
        _note(parsed, config)
        return config

    def compute_defaults_list(self, config_name: str | None, overrides: list[str], run_mode: RunMode) -> DefaultsList:
        find = functools.partial(super().compute_defaults_list, config_name, overrides, run_mode)
        found: DefaultsList = self._as_before(("defaults", config_name, run_mode, *overrides), find)
        return found

    def _as_before(self, asked: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        """What `make` gives, which is made again only when something has changed that was looked for in folders."""
        key = (*asked, *(element.path for element in self.config_search_path.get_path()))
        known = _together.get(key)
        if known is None or any(state_of(path) != then for path, then in known[0].items()):
            _Files.looked_for = {}
            made = make()
            if len(_together) == _MOST_TOGETHER:
                _together.clear()
            _together[key] = known = _Files.looked_for, pickle.dumps(made)
        return pickle.loads(known[1])


def is_value(override: Override) -> bool:
    """Whether it is one value, in a section or of a command, rather than a file to choose, or where files are."""
    key = override.key_or_group
    alone = override.package is None and "/" not in key
    return alone and (key in COMMANDS or ("." in key and key != "hydra.searchpath"))


def _note(overrides: Sequence[Override], config: DictConfig) -> None:
    """Write down what Hydra writes down of the overrides, and where this process is now."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for override in overrides:
        lines[override.is_hydra_override()].append(str(override.input_line))
    shown = config.hydra.job.config.override_dirname
    with open_dict(config.hydra):
        config.hydra.overrides.hydra, config.hydra.overrides.task = lines[True], lines[False]
        config.hydra.runtime.cwd = os.getcwd()
        config.hydra.job.override_dirname = get_overrides_dirname(
            [override for override in overrides if not override.is_hydra_override()],
            shown.exclude_keys,
            shown.item_sep,
            shown.kv_sep,
        )


def put_together_once() -> None:
    """The compositions of the Hydra that is initialized now put the same files together only once in this process."""
    state = GlobalHydra.instance().hydra
    assert state is not None, "Hydra is initialized"
    state.config_loader = _Loader(state.config_loader.get_search_path())


@functools.cache
def parse_once() -> None:
    """From now on Hydra's compositions in this process parse a file again only when it has changed."""
    Plugins.instance()  # registers those whose place these take
    for source in (_Files, _Resources):
        SourcesRegistry.instance().types[source.scheme()] = source
