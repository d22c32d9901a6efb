"""Exports of the time before SavedModel: checkpoints whose MetaGraphs say how they are served.

What says so are three collections: the op that starts a session, `Signatures` and `AssetFile`s. Source:
`tf.contrib.session_bundle.exporter`, TF 1.15.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.message import Message
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef

from tfexp.contributed.export_versions import Filter, Path, get_paths, negation
from tfexp.core import dtypes
from tfexp.core.log import get_logger
from tfexp.formats.file_io import copy
from tfexp.formats.protos.session_bundle import AssetFile, Signature, Signatures
from tfexp.graph.constant_value import constant_value
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import add_to_collection, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.train.global_step import global_step
from tfexp.train.saver import Saver

_log = get_logger()

INIT_OP_KEY = "serving_init_op"
SIGNATURES_KEY = "serving_signatures"
ASSETS_KEY = "serving_assets"
GRAPH_KEY = "serving_graph"


class AlreadyExportedError(RuntimeError):
    """There is an export of this step."""


def regression_signature(input_tensor: Tensor, output_tensor: Tensor) -> Any:
    """The Signature of numbers."""
    made = Signature()
    made.regression_signature.input.tensor_name = input_tensor.name
    made.regression_signature.output.tensor_name = output_tensor.name
    return made


def classification_signature(
    input_tensor: Tensor, classes_tensor: Tensor | None = None, scores_tensor: Tensor | None = None
) -> Any:
    """The Signature of classes, their scores, or both."""
    made = Signature()
    made.classification_signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        made.classification_signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        made.classification_signature.scores.tensor_name = scores_tensor.name
    return made


def generic_signature(name_tensor_map: Mapping[str, Tensor]) -> Any:
    """The Signature of tensors by names."""
    made = Signature()
    for name, tensor in name_tensor_map.items():
        made.generic_signature.map[name].tensor_name = tensor.name
    return made


def gfile_copy_callback(files_to_copy: Mapping[str, str], export_dir_path: str) -> None:
    """Copy files, {path: name there}, into a folder; what is there by these names is replaced."""
    os.makedirs(export_dir_path, exist_ok=True)
    for path, name in files_to_copy.items():
        _log.info("Copying asset %s into %s.", path, export_dir_path)
        copy(path, os.path.join(os.fsdecode(export_dir_path), name), overwrite=True)


class Exporter:
    """Writes what `saver` saves, with how it is served: `init` once, then `export` for each version."""

    def __init__(self, saver: Saver):
        definition = SaverDef()
        definition.CopyFrom(saver.as_saver_def())
        definition.ClearField("max_to_keep")  # which versions stay is not for the saver to say
        self._saver = Saver(saver_def=definition)
        self._is_ready = False
        self._assets: dict[str, str] = {}

    def init(
        self,
        graph_def: GraphDef | None = None,
        init_op: Operation | None = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        assets_callback: Callable[[Mapping[str, str], str], None] | None = gfile_copy_callback,
    ) -> None:
        """Note in the default graph's collections how it is served.

        graph_def: what is served, unless it is the default graph; assets_collection: constant tensors of paths, of files
        that are copied by assets_callback(files, folder). RuntimeError for a second call; TypeError for an `init_op` that is
        no Operation, and for assets that are no constant strings; ValueError for one without a path.
        """
        assets = [(_asset_path(tensor), tensor.name) for tensor in assets_collection or ()]
        if self._is_ready:
            raise RuntimeError("init should be called only once")
        self._is_ready, self._callback = True, assets_callback
        if graph_def or clear_devices:
            _note(GRAPH_KEY, "tensorflow.GraphDef", _served_graph(graph_def, clear_devices))
        if init_op is not None:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection(INIT_OP_KEY, init_op)
        _note(
            SIGNATURES_KEY,
            "tensorflow.serving.Signatures",
            Signatures(default_signature=default_graph_signature, named_signatures=named_graph_signatures),
        )
        for path, tensor in assets:
            name = self._assets[path] = os.path.basename(path)
            _note(
                ASSETS_KEY, "tensorflow.serving.AssetFile", AssetFile(tensor_binding={"tensor_name": tensor}, filename=name)
            )

    def export(
        self, export_dir_base: str, global_step_tensor: Any, sess: Any = None, exports_to_keep: Filter | None = None
    ) -> bytes:
        """Write the folder `export_dir_base/<step, of eight digits>`, which is there at once or not at all; its path.

        exports_to_keep: a filter of `Path`s; the others are removed. RuntimeError before `init`, and where there is such a
        folder: AlreadyExportedError.
        """
        if not self._is_ready:
            raise RuntimeError("init must be called first")
        base = os.fsdecode(export_dir_base).rstrip("/")
        folder = os.path.join(base, f"{global_step(sess, global_step_tensor):08d}")
        if os.path.exists(folder):
            raise AlreadyExportedError(
                f"Overwriting exports can cause corruption and are not allowed. Duplicate export dir: {folder}"
            )
        unfinished = f"{folder}-tmp"
        os.makedirs(unfinished, exist_ok=True)
        self._saver.save(sess, os.path.join(unfinished, "export"))
        if self._callback and self._assets:
            assets = os.path.join(unfinished, "assets")
            os.makedirs(assets, exist_ok=True)
            self._callback(self._assets, assets)
        os.rename(unfinished, folder)
        if exports_to_keep:
            for old in negation(exports_to_keep)(get_paths(base, _version)):
                shutil.rmtree(old.path)
        return folder.encode()


def _version(path: Path) -> Path | None:
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if re.fullmatch(r"\d{8}", name) else None


def _note(key: str, message_type: str, message: Message) -> None:
    # `Pack` would name the types by the packages that the messages have here.
    data = message.SerializeToString(deterministic=True)
    add_to_collection(key, Packed(type_url=f"type.googleapis.com/{message_type}", value=data))


def _served_graph(graph_def: GraphDef | None, clear_devices: bool) -> GraphDef:
    served = GraphDef()
    served.CopyFrom(graph_def or get_default_graph().as_graph_def())
    if clear_devices:
        for node in served.node:
            node.device = ""
    return served


def _asset_path(tensor: Any) -> str:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"An asset's path has to be a Tensor: {tensor!r}")
    value: Any = constant_value(tensor) if tensor.op.type == "Const" else None
    if value is None or tensor.dtype is not dtypes.string or value.size != 1:
        raise TypeError(f"An asset's path has to be a constant scalar string: {tensor}")
    path = os.fsdecode(value.item())
    if not path:
        raise ValueError(f"invalid asset filepath tensor {tensor}")
    return path
