"""`tf.saved_model.loader`: a SavedModel's graph and values, in a session. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, MetaGraphDef

from tfexp.core.log import get_logger
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.train import saved_model_names as names
from tfexp.train.saver import Saver, import_meta_graph_with_return_elements

_log = get_logger()
_NOTHING_BEFORE: Mapping[str, list[Any]] = {names.MAIN_OP_KEY: [], names.LEGACY_INIT_OP_KEY: []}


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether the folder has a SavedModel's file. `tf.saved_model.contains_saved_model`."""
    folder = os.fsdecode(export_dir)
    files = (names.SAVED_MODEL_FILENAME_PB, names.SAVED_MODEL_FILENAME_PBTXT)
    return any(os.path.isfile(os.path.join(folder, file)) for file in files)


contains_saved_model = maybe_saved_model_directory


def parse_saved_model(export_dir: Any) -> Any:
    """The SavedModel message of a folder. OSError where there is none, or it cannot be read."""
    folder = os.fsdecode(export_dir)
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


_parse_saved_model = parse_saved_model  # 1.15 has it by both names


def get_asset_tensors(
    export_dir: Any, meta_graph_def_to_load: MetaGraphDef, import_scope: str | None = None
) -> dict[str, bytes]:
    """{tensor: the path of its file in the folder}."""
    kept = list(meta_graph_def_to_load.asset_file_def)
    if names.ASSETS_KEY in meta_graph_def_to_load.collection_def:
        items = meta_graph_def_to_load.collection_def[names.ASSETS_KEY].any_list.value
        kept = kept or [AssetFileDef.FromString(item.value) for item in items]
    folder = os.path.join(os.fsdecode(export_dir), names.ASSETS_DIRECTORY)
    prefix = f"{import_scope}/" if import_scope else ""
    return {prefix + asset.tensor_info.name: os.fsencode(os.path.join(folder, asset.filename)) for asset in kept}


def get_element_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Operation | Tensor:
    """The node or tensor of a graph (the default graph) that an info names. KeyError where it is not there."""
    name = f"{import_scope}/{tensor_info.name}" if import_scope else tensor_info.name
    element: Operation | Tensor = (graph or get_default_graph()).as_graph_element(name)
    return element


def first_ops(
    graph: Graph,
    meta_graph: MetaGraphDef,
    import_scope: str | None = None,
    before: Mapping[str, list[Any]] = _NOTHING_BEFORE,
) -> list[Any]:
    """The operations to run first: those of the collections that came with the graph, or of its own signature.

    before: what the collections had already.
    """
    if names.INIT_OP_SIGNATURE_KEY in meta_graph.signature_def:
        key = names.INIT_OP_SIGNATURE_KEY
        return [get_element_from_tensor_info(meta_graph.signature_def[key].outputs[key], graph, import_scope)]
    for key, old in before.items():
        new = [op for op in graph.get_collection(key) if op not in old]
        if len(new) > 1:
            raise RuntimeError(f"Expected exactly one op in {key}, found {len(new)}: {new}")
        if new:
            return new
    return []


class SavedModelLoader:
    """Loads graphs and values of the SavedModel in a folder."""

    def __init__(self, export_dir: Any):
        self._export_dir = os.fsdecode(export_dir)
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self) -> str:
        """The folder."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The name of the checkpoint in it."""
        return os.path.join(self._export_dir, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME)

    @property
    def saved_model(self) -> Any:
        """The SavedModel proto."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> MetaGraphDef:
        """The graph with exactly these tags; RuntimeError where there is none."""
        wanted = set(tags)
        for meta_graph in self._saved_model.meta_graphs:
            if set(meta_graph.meta_info_def.tags) == wanted:
                found: MetaGraphDef = meta_graph
                return found
        have = [sorted(meta_graph.meta_info_def.tags) for meta_graph in self._saved_model.meta_graphs]
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(sorted(wanted)).strip('[]')} could not be found in SavedModel. The "
            f"tag-sets that {self._export_dir} has are: {have}"
        )

    def load_graph(
        self, graph: Graph, tags: Iterable[str], import_scope: str | None = None, **saver_kwargs: Any
    ) -> tuple[Saver | None, list[Any] | None]:
        """Add the graph; its saver (None without variables), and what `return_elements` names of it, as imported."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return import_meta_graph_with_return_elements(meta_graph, import_scope=import_scope, **saver_kwargs)

    def load(self, sess: Any, tags: Iterable[str], import_scope: str | None = None, **saver_kwargs: Any) -> MetaGraphDef:
        """Add the graph to the session's, restore the variables, and run what the model runs first."""
        tags = list(tags)
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            before = {key: list(sess.graph.get_collection(key)) for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY)}
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self._run_first(sess, meta_graph, import_scope, before)
        return meta_graph

    def restore_variables(self, sess: Any, saver: Saver | None, import_scope: str | None = None) -> None:
        """Restore the variables with what `load_graph` gave."""
        if saver is None or not os.path.exists(f"{self.variables_path}.index"):
            _log.info("The specified SavedModel has no variables; no checkpoints were restored.")
        else:
            saver.restore(sess, self.variables_path)

    def run_init_ops(self, sess: Any, tags: Iterable[str], import_scope: str | None = None) -> None:
        """Run what the graph with these tags, which `load_graph` added, runs first."""
        with sess.graph.as_default():
            self._run_first(sess, self.get_meta_graph_def_from_tags(tags), import_scope, _NOTHING_BEFORE)

    def _run_first(
        self, sess: Any, meta_graph: MetaGraphDef, import_scope: str | None, before: Mapping[str, list[Any]]
    ) -> None:
        for start in first_ops(sess.graph, meta_graph, import_scope, before):
            sess.run(start, feed_dict=get_asset_tensors(self._export_dir, meta_graph, import_scope))


def load(
    sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any
) -> MetaGraphDef:
    """Load the graph with exactly these tags, and its values, into a session. `tf.saved_model.loader.load`."""
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)
