"""Files that a graph brings to TensorBoard's plugins."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfexp as tf
from tfexp.train.plugin_assets import PluginAsset, get_all_plugin_assets, get_plugin_asset


class Words(PluginAsset):
    plugin_name = "words"

    def assets(self) -> dict[str, str | bytes]:
        return {"text.txt": "one", "bytes.bin": b"\xff"}


class Others(Words):
    """Another class of that name."""


def test_assets_are_written_with_the_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        words = get_plugin_asset(Words)
        assert get_plugin_asset(Words, graph) is words and get_all_plugin_assets() == [words]
        with pytest.raises(ValueError, match="collision between classes Others and Words"):
            get_plugin_asset(Others)
        tf.summary.FileWriter(str(tmp_path), graph=graph).close()
    assert (tmp_path / "plugins" / "words" / "text.txt").read_text() == "one"
    assert (tmp_path / "plugins" / "words" / "bytes.bin").read_bytes() == b"\xff"


def test_a_plugin_has_a_name() -> None:
    class Nameless(Words):
        plugin_name = None  # type: ignore[assignment]

    with tf.Graph().as_default(), pytest.raises(ValueError, match="Nameless has no plugin_name"):
        get_plugin_asset(Nameless)
