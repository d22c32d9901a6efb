"""`tf.saved_model.builder`: a folder with graphs, their signatures, variables and files. Source: TF 1.15.

`saved_model.pb` (or `.pbtxt`) holds the graphs; `variables/` is one checkpoint for all of them, `assets/` has files they
read.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, MetaGraphDef

from tfexp.core import dtypes
from tfexp.core.log import get_logger
from tfexp.core.text import as_text
from tfexp.formats.atomic_file import replace_file
from tfexp.formats.file_io import copy
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.graph.constant_value import constant_value
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import add_to_collection, get_collection, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
    tables_initializer,
)
from tfexp.train import saved_model_names as names
from tfexp.train.saver import Saver
from tfexp.train.signatures import predict_signature_def

_log = get_logger()
# How a collection of AssetFileDefs says what its items are.
_ASSET_TYPE = "type.googleapis.com/tensorflow.AssetFileDef"


class SavedModelBuilder:
    """Writes a SavedModel into `export_dir`, which must be empty or not there: AssertionError otherwise."""

    def __init__(self, export_dir: Any):
        self._export_dir = os.fspath(export_dir)
        if os.path.isdir(self._export_dir) and os.listdir(self._export_dir):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different export directory, or delete "
                f"all the contents of the specified directory: {self._export_dir}"
            )
        os.makedirs(self._export_dir, exist_ok=True)
        self._saved_model = SavedModel(saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION)
        self._has_saved_variables = False

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Add the session's graph under `tags` and write its variables. AssertionError the second time."""
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` "
                "instead."
            )
        _check_signatures(signature_def_map)
        with sess.graph.as_default():
            assets = self._add_collections(assets_collection, main_op or legacy_init_op)
            saver = saver or _default_saver()
            folder = os.path.join(self._export_dir, names.VARIABLES_DIRECTORY)
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, names.VARIABLES_FILENAME)
            saver.save(sess, path, write_meta_graph=False, write_state=False)
            self._add(saver, tags, signature_def_map, assets, clear_devices, strip_default_attrs)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Add the default graph, which has the variables of the first one. AssertionError before there is a first one."""
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map)
        assets = self._add_collections(assets_collection, main_op or legacy_init_op)
        self._add(saver or _default_saver(), tags, signature_def_map, assets, clear_devices, strip_default_attrs)

    def _add(
        self, saver: Saver, tags: Any, signatures: Any, assets: list[AssetFileDef], clear_devices: bool, strip: bool
    ) -> None:
        meta_graph: MetaGraphDef = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip)
        meta_graph.meta_info_def.tags.extend(tags)
        for key, signature in (signatures or {}).items():
            meta_graph.signature_def[key].CopyFrom(signature)
        if assets:
            items = meta_graph.collection_def[names.ASSETS_KEY].any_list.value
            for asset in assets:
                items.add(type_url=_ASSET_TYPE, value=asset.SerializeToString())
        self._saved_model.meta_graphs.add().CopyFrom(meta_graph)

    def _add_collections(self, assets: Any, start: Any) -> list[AssetFileDef]:
        """Note in the graph what runs when it is loaded, and copy the files that it reads."""
        if start is not None:
            if not hasattr(start, "_as_node_def") and not hasattr(start, "node_def"):
                raise TypeError(f"main_op needs to be an Operation: {start!r}")
            key = names.MAIN_OP_KEY
            if get_collection(key):
                raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
            add_to_collection(key, start)
        kept: dict[str, str] = {}  # the name of each file here: where it came from
        definitions = []
        for tensor in assets or ():
            path = _asset_path(tensor)
            asset = AssetFileDef(filename=asset_name(path, kept))
            asset.tensor_info.name = tensor.name
            kept[asset.filename] = path
            definitions.append(asset)
        copy_assets(self._export_dir, kept)
        return definitions

    def save(self, as_text: bool = False) -> bytes:
        """Write the file of the graphs; its path."""
        if as_text:
            name, data = names.SAVED_MODEL_FILENAME_PBTXT, text_format.MessageToString(self._saved_model).encode()
        else:
            name, data = names.SAVED_MODEL_FILENAME_PB, self._saved_model.SerializeToString(deterministic=True)
        path = os.path.join(self._export_dir, name)
        replace_file(path, data)
        _log.info("SavedModel written to: %s", path)
        return path.encode()


def _default_saver() -> Saver:
    return Saver(sharded=True, allow_empty=True)


def _asset_path(tensor: Any) -> str:
    """The path that a constant tensor holds. TypeError, ValueError where it holds none."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Asset path tensor {tensor!r} must be a Tensor.")
    if tensor.dtype.base_dtype != dtypes.string:
        raise TypeError(f"Asset path tensor {tensor} must be of dtype string, not {tensor.dtype.name}.")
    if tensor.op.type != "Const":
        raise TypeError(f"Asset path tensor {tensor} must be of type constant, and {tensor.op.name} is a {tensor.op.type}.")
    value: Any = constant_value(tensor)
    paths = [as_text(path) for path in value.reshape(-1)[:1]]
    if not paths or not paths[0]:
        raise ValueError(f"Invalid asset filepath tensor {tensor}: it must hold a path")
    return paths[0]


def copy_assets(export_dir: str, kept: Mapping[str, str]) -> None:
    """Copy files into the folder of assets, each under its name there."""
    folder = os.path.join(export_dir, names.ASSETS_DIRECTORY)
    if kept:
        os.makedirs(folder, exist_ok=True)
    for name, path in kept.items():
        copy(path, os.path.join(folder, name), overwrite=True)


def asset_name(path: str, kept: Mapping[str, str]) -> str:
    """What a file is called in the SavedModel: its own name, with a number where another file has it already."""
    name = candidate = os.path.basename(path)
    number = 0
    while candidate in kept and not (kept[candidate] == path or filecmp.cmp(kept[candidate], path, shallow=False)):
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _check_signatures(signatures: Mapping[str, Any] | None) -> None:
    """AssertionError unless every tensor of every signature has a name, or its parts have, and a type.

    KeyError for the keys of what is run when the model is loaded.
    """
    for reserved in (names.INIT_OP_SIGNATURE_KEY, names.TRAIN_OP_SIGNATURE_KEY):
        if reserved in (signatures or {}):
            raise KeyError(f'SignatureDef map key "{reserved}" is reserved for initialization. Please use a different key.')
    for signature in (signatures or {}).values():
        for infos in (signature.inputs, signature.outputs):
            for info in infos.values():
                _check_info(info)


def _check_info(info: Any) -> None:
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields (e.g., name "
            f"or coo_sparse) set: {info}"
        )
    if encoding == "composite_tensor":
        for part in info.composite_tensor.components:
            _check_info(part)
    elif info.dtype == 0:
        raise AssertionError(f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}")


# --- shorter ways -------------------------------------------------------------------------------------------------------


def simple_save(
    session: Any, export_dir: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any], legacy_init_op: Any = None
) -> None:
    """A SavedModel for serving with one signature, for prediction. `tf.saved_model.simple_save`."""
    signatures = {names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    graph = session.graph
    builder.add_meta_graph_and_variables(
        session,
        [names.SERVING],
        signature_def_map=signatures,
        assets_collection=graph.get_collection("asset_filepaths"),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


def main_op() -> Any:
    """An operation for `main_op=`: it initializes variables and tables. `tf.saved_model.main_op.main_op`."""
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: str) -> Any:
    """The same, after the operation of that name. `tf.saved_model.main_op.main_op_with_restore`."""
    graph = get_default_graph()
    with graph.control_dependencies([main_op()]):
        return group(graph.get_operation_by_name(restore_op_name))
