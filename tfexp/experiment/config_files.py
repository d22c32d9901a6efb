"""Hydra's configuration files, parsed once each: a composition reads some twenty, and a sweep composes for each trial."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable, Hashable

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.core_plugins.importlib_resources_config_source import ImportlibResourcesConfigSource
from hydra._internal.sources_registry import SourcesRegistry  # Hydra has no public way to put a source in another's place
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult

# By source and name: how the file was when it was parsed, and what it says. Pickled, as whoever composes changes what it
# gets, and copies of configurations are made that way in an eighth of the time that `deepcopy` takes.
_parsed: dict[Hashable, tuple[Hashable, bytes]] = {}


def _remembered(key: Hashable, state: Hashable, load: Callable[[], ConfigResult]) -> ConfigResult:
    known = _parsed.get(key)
    if known is None or known[0] != state:
        _parsed[key] = known = state, pickle.dumps(load())
    result: ConfigResult = pickle.loads(known[1])
    return result


class _Files(FileConfigSource):
    def load_config(self, config_path: str) -> ConfigResult:
        load = functools.partial(super().load_config, config_path)
        try:
            now = os.stat(os.path.join(self.path, self._normalize_file_name(config_path)))
        except OSError:
            return load()  # which says what is the matter
        return _remembered((str(self), config_path), (now.st_ino, now.st_size, now.st_mtime_ns), load)


class _Resources(ImportlibResourcesConfigSource):
    """Files of packages, which stay as they are."""

    def load_config(self, config_path: str) -> ConfigResult:
        return _remembered((str(self), config_path), None, functools.partial(super().load_config, config_path))


@functools.cache
def parse_once() -> None:
    """From now on Hydra's compositions in this process parse a file again only when it has changed."""
    Plugins.instance()  # registers those whose place these take
    for source in (_Files, _Resources):
        SourcesRegistry.instance().types[source.scheme()] = source
