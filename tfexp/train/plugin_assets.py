"""Files that a graph brings to TensorBoard's plugins. Source: `tensorflow.python.summary.plugin_asset`, TF 1.15."""

from __future__ import annotations

import abc
import os
from typing import ClassVar, TypeVar

from tfexp.formats.atomic_file import replace_file
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph

_COLLECTION = "__plugin_assets"

_PLUGINS_DIR = "plugins"


class PluginAsset(abc.ABC):
    """What a graph has for the plugin of that name."""

    plugin_name: ClassVar[str | None] = None

    @abc.abstractmethod
    def assets(self) -> dict[str, str | bytes]:
        """{name of a file: its content}."""


Asset = TypeVar("Asset", bound=PluginAsset)


def get_plugin_asset(plugin_asset_cls: type[Asset], graph: Graph | None = None) -> Asset:
    """The graph's asset of this class, made if need be. ValueError without a name, or where another class has it."""
    graph = graph or get_default_graph()
    name = plugin_asset_cls.plugin_name
    if not name:
        raise ValueError(f"Plugin class {plugin_asset_cls.__name__} has no plugin_name")
    for known in get_all_plugin_assets(graph):
        if known.plugin_name == name:
            if not isinstance(known, plugin_asset_cls):
                raise ValueError(
                    f"Plugin name collision between classes {plugin_asset_cls.__name__} and {type(known).__name__}: {name}"
                )
            return known
    made = plugin_asset_cls()
    graph.add_to_collection(_COLLECTION, made)
    return made


def get_all_plugin_assets(graph: Graph | None = None) -> list[PluginAsset]:
    """The assets of the graph (the default graph if None)."""
    assets: list[PluginAsset] = (graph or get_default_graph()).get_collection(_COLLECTION)
    return assets


def write_plugin_assets(graph: Graph, logdir: str) -> None:
    """The files of all of the graph's assets, below `logdir/plugins/<name of the plugin>`."""
    for asset in get_all_plugin_assets(graph):
        folder = os.path.join(logdir, _PLUGINS_DIR, str(asset.plugin_name))
        os.makedirs(folder, exist_ok=True)
        for name, content in asset.assets().items():
            replace_file(os.path.join(folder, name), content.encode() if isinstance(content, str) else content)
