"""`tf.saved_model.loader`: a SavedModel's graph and values, in a session. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, MetaGraphDef

from tfexp.core.log import get_logger
from tfexp.formats.paths import local_path
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.graph.graph import Graph
from tfexp.train import saved_model_names as names
from tfexp.train.saver import import_meta_graph

_log = get_logger()


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether the folder has a SavedModel's file. `tf.saved_model.contains_saved_model`."""
    folder = local_path(export_dir)
    files = (names.SAVED_MODEL_FILENAME_PB, names.SAVED_MODEL_FILENAME_PBTXT)
    return any(os.path.isfile(os.path.join(folder, file)) for file in files)


contains_saved_model = maybe_saved_model_directory


def _read_saved_model(folder: str) -> Any:
    """The SavedModel message of a folder. OSError where there is none, or it cannot be read."""
    binary, text = (os.path.join(folder, n) for n in (names.SAVED_MODEL_FILENAME_PB, names.SAVED_MODEL_FILENAME_PBTXT))
    if os.path.isfile(binary):
        with open(binary, "rb") as file:
            data = file.read()
        try:
            return SavedModel.FromString(data)
        except DecodeError as error:
            raise OSError(f"Cannot parse file {binary}: {error}.") from error
    if os.path.isfile(text):
        with open(text, encoding="utf-8") as file:
            content = file.read()
        try:
            return text_format.Merge(content, SavedModel())
        except text_format.ParseError as error:
            raise OSError(f"Cannot parse file {text}: {error}.") from error
    raise OSError(
        f"SavedModel file does not exist at: {folder}/{{{names.SAVED_MODEL_FILENAME_PBTXT}|{names.SAVED_MODEL_FILENAME_PB}}}"
    )


def _graph_with_tags(saved_model: Any, tags: Iterable[str], folder: str) -> MetaGraphDef:
    """The graph with exactly these tags; RuntimeError where there is none."""
    wanted = set(tags)
    for meta_graph in saved_model.meta_graphs:
        if set(meta_graph.meta_info_def.tags) == wanted:
            found: MetaGraphDef = meta_graph
            return found
    have = [sorted(meta_graph.meta_info_def.tags) for meta_graph in saved_model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(sorted(wanted)).strip('[]')} could not be found in SavedModel. The "
        f"tag-sets that {folder} has are: {have}"
    )


def load(
    sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any
) -> MetaGraphDef:
    """Loads the graph with exactly these tags, and its values, into a session. `tf.saved_model.loader.load`.

    `saver_kwargs` go to `tf.train.import_meta_graph`. Runs what the model runs first, its assets fed.
    """
    folder = local_path(export_dir)
    meta_graph = _graph_with_tags(_read_saved_model(folder), tags, folder)
    with sess.graph.as_default():
        before = {key: sess.graph.get_collection(key) for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY)}
        saver = import_meta_graph(meta_graph, import_scope=import_scope, **saver_kwargs)
        variables = os.path.join(folder, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME)
        if saver is None or not os.path.exists(f"{variables}.index"):
            _log.info("The specified SavedModel has no variables; no checkpoints were restored.")
        else:
            saver.restore(sess, variables)
        start = _first_op(sess.graph, meta_graph, import_scope, before)
        if start is not None:
            sess.run(start, feed_dict=asset_feeds(folder, meta_graph, import_scope))
    return meta_graph


def _first_op(graph: Graph, meta_graph: MetaGraphDef, scope: str | None, before: Mapping[str, list[Any]]) -> Any:
    """The operation to run first: that of a collection, beside what this had before, or of its own signature."""
    if names.INIT_OP_SIGNATURE_KEY in meta_graph.signature_def:
        key = names.INIT_OP_SIGNATURE_KEY
        name = meta_graph.signature_def[key].outputs[key].name
        return graph.as_graph_element(f"{scope}/{name}" if scope else name)
    for key, old in before.items():
        new = [op for op in graph.get_collection(key) if op not in old]
        if len(new) > 1:
            raise RuntimeError(f"Expected exactly one op in {key}, found {len(new)}: {new}")
        if new:
            return new[0]
    return None


def asset_feeds(folder: str, meta_graph: MetaGraphDef, scope: str | None) -> dict[str, bytes]:
    """{tensor: the path of its file in the folder}."""
    assets = list(meta_graph.asset_file_def)
    if not assets and names.ASSETS_KEY in meta_graph.collection_def:
        items = meta_graph.collection_def[names.ASSETS_KEY].any_list.value
        assets = [AssetFileDef.FromString(item.value) for item in items]
    prefix = f"{scope}/" if scope else ""
    files = os.path.join(folder, names.ASSETS_DIRECTORY)
    return {prefix + asset.tensor_info.name: os.fsencode(os.path.join(files, asset.filename)) for asset in assets}
