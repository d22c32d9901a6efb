"""`Saver`: variables to checkpoints and back, and which checkpoints to keep. Source: `tf.train.Saver`, TF 1.15."""

from __future__ import annotations

import logging
import numbers
import os
import threading
import time
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto import saver_pb2

from tfexp.core import errors
from tfexp.core.text import as_str_any
from tfexp.formats import checkpoint_state
from tfexp.formats.checkpoint_state import checkpoint_exists, latest_checkpoint
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scope_names import is_exported, strip_name_scope
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.ops import variable_lists
from tfexp.train import meta_graph
from tfexp.train.global_step import global_step as step_of
from tfexp.train.save_graph import SaveGraphBuilder, saveables_from

_log = logging.getLogger("tensorflow")

__all__ = ["Saver", "checkpoint_exists", "latest_checkpoint"]


class Saver:
    """Adds the ops that save and restore `var_list` (all saveable variables if None) and runs them in a session.

    `var_list`: a list of variables (saved under their op names) or a dict from key to variable. `max_to_keep` checkpoints
    are kept (None or 0: all), besides one every `keep_checkpoint_every_n_hours`. `sharded` writes a file per device;
    `write_version` is `SaverDef.V2` or `SaverDef.V1`, TensorFlow's first format; both are read.
    `reshape` restores into variables of another shape with the same number of elements. `restore_sequentially` is accepted
    and, as in TensorFlow's graphs of V2 checkpoints, changes nothing: one RestoreV2 reads everything.

    Raises ValueError for duplicate keys and when there is nothing to save, TypeError for what is not a variable.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: saver_pb2.SaverDef | None = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = saver_pb2.SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ):
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None."
            )
        self._version = write_version
        self._var_list = var_list
        self._reshape, self._sharded = reshape, sharded
        self._max_to_keep, self._keep_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._name = name
        self._allow_empty, self._pad_step_number = allow_empty, pad_step_number
        self._relative, self._filename = save_relative_paths, filename
        self._is_empty = False
        # (path, seconds) of the checkpoints that may be deleted one day, oldest first.
        self._last_checkpoints: list[tuple[str, float]] = []
        self._to_be_deleted: list[tuple[str, float]] = []
        # Threads save one after the other, so that the newest checkpoint is that of the save which began last.
        self._saving = threading.RLock()
        self.saver_def = saver_def
        if saver_def is not None:
            if not isinstance(saver_def, saver_pb2.SaverDef):
                raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
            self._sharded = saver_def.sharded
            self._max_to_keep = saver_def.max_to_keep
            self._keep_hours = saver_def.keep_checkpoint_every_n_hours
        elif not defer_build:
            self.build()
        self._next_kept_time = time.time() + self._keep_hours * 3600

    def build(self) -> None:
        """Add the ops to the default graph; done by the constructor unless `defer_build`."""
        if self.saver_def is not None:
            return
        if executing_eagerly():
            # Nothing to prepare: each call saves or restores the variables that are given here.
            if self._var_list is None:
                raise RuntimeError(
                    "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
                )
            return
        source = variable_lists.all_saveable_objects() if self._var_list is None else self._var_list
        if not source:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        self.saver_def = self._builder().build(saveables_from(source), self._name)
        self.saver_def.max_to_keep = self._max_to_keep or 0
        self.saver_def.keep_checkpoint_every_n_hours = self._keep_hours

    def _builder(self) -> SaveGraphBuilder:
        return SaveGraphBuilder(self._reshape, self._sharded, self._filename, self._version)

    def _built(self, purpose: str) -> saver_pb2.SaverDef:
        if self.saver_def is None:
            raise RuntimeError(f"`build()` should be called before {purpose} if defer_build==True")
        return self.saver_def

    # --- which checkpoints there are -----------------------------------------------------------------------------

    @property
    def last_checkpoints(self) -> list[str]:
        """The paths of the kept checkpoints, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """As `set_last_checkpoints_with_time`; as their age is not known, these are never deleted."""
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: list[tuple[str, float]]) -> None:
        """Set the [(path, seconds), …] of older checkpoints, oldest first, so that they count towards `max_to_keep`."""
        self._last_checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Take over existing checkpoints after a restart; those that are gone are left out."""
        written = [(path, checkpoint_state.get_checkpoint_mtimes([path])) for path in checkpoint_paths]
        self.set_last_checkpoints_with_time([(path, times[0]) for path, times in written if times])

    def _record(self, path: str) -> None:
        """Note that `path` was written, and choose what is no longer kept."""
        if not self._max_to_keep:
            return
        self._last_checkpoints = [(p, t) for p, t in self._last_checkpoints if p != path]
        self._last_checkpoints.append((path, time.time()))
        if len(self._last_checkpoints) > self._max_to_keep:
            self._to_be_deleted.append(self._last_checkpoints.pop(0))

    def _delete_old(self, meta_graph_suffix: str) -> None:
        """Delete what was chosen, unless one is due to be kept for good."""
        for path, written in self._to_be_deleted:
            if written > self._next_kept_time:
                self._next_kept_time += self._keep_hours * 3600
            else:
                checkpoint_state.remove_checkpoint(path, meta_graph_suffix=meta_graph_suffix)
        self._to_be_deleted.clear()

    # --- saving and restoring ------------------------------------------------------------------------------------

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
    ) -> str | None:
        """Write a checkpoint `save_path[-global_step]` and its MetaGraph; returns its path (None if empty).

        The order is such that whenever the process dies, the folder's `checkpoint` file names a checkpoint that is there,
        with its MetaGraph. Threads may save at the same time: it is done one after the other. Raises ValueError where
        `save_path` cannot be one, and the runtime's errors.
        """
        at_once = executing_eagerly()
        if not (self._is_empty or at_once):
            self._built("save")
        latest = latest_filename or "checkpoint"
        folder, base = os.path.split(save_path)
        if not save_path:
            raise ValueError("no path specified")
        if latest == base:
            raise ValueError(f"'latest_filename' collides with 'save_path': {latest!r} and {save_path!r}")
        if os.path.split(latest)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if not (at_once or hasattr(sess, "run")):
            raise TypeError(f"'sess' must be a Session; {sess}")
        with self._saving:
            path = save_path if global_step is None else f"{save_path}-{self._step_text(sess, global_step)}"
            if not self._is_empty:
                path = self._write(sess, path, folder)
            if write_meta_graph and not at_once:
                with sess.graph.as_default():
                    self.export_meta_graph(
                        checkpoint_state.meta_graph_path(path, meta_graph_suffix),
                        strip_default_attrs=strip_default_attrs,
                    )
            if self._is_empty:
                return None
            if write_state:
                self._record(path)
                checkpoint_state.update_checkpoint_state(
                    folder or ".", path, self.last_checkpoints, latest, save_relative_paths=self._relative
                )
                self._delete_old(meta_graph_suffix)
            return path

    def _write(self, sess: Any, path: str, folder: str) -> str:
        try:
            if executing_eagerly():
                self._builder().save_at_once(path, saveables_from(self._var_list))
                return path
            definition = self._built("save")
            written: Any = sess.run(definition.save_tensor_name, {definition.filename_tensor_name: path})
        except (errors.FailedPreconditionError, errors.NotFoundError):
            if folder and not os.path.isdir(folder):
                raise ValueError(f"Parent directory of {path} doesn't exist, can't save.") from None
            raise
        return as_str_any(written)

    def _step_text(self, sess: Any, global_step: Any) -> str:
        is_number = isinstance(global_step, numbers.Integral) or executing_eagerly()
        step = int(global_step) if is_number else step_of(sess, global_step)
        return f"{step:08d}" if self._pad_step_number else str(step)

    def restore(self, sess: Any, save_path: str) -> None:
        """Assign the variables from the checkpoint `save_path`; they need no initialization.

        Raises ValueError where there is no checkpoint, NotFoundError for a key it does not have, InvalidArgumentError for
        another dtype or shape, DataLossError for damage.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = str(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        try:
            if executing_eagerly():
                self._builder().restore_at_once(path, saveables_from(self._var_list))
                return
            definition = self._built("restore")
            sess.run(definition.restore_op_name, {definition.filename_tensor_name: path})
        except errors.NotFoundError as error:
            raise _explained(error, "a Variable name or other graph key that is missing from the checkpoint") from error
        except errors.InvalidArgumentError as error:
            raise _explained(error, "a mismatch between the current graph and the graph from the checkpoint") from error

    # --- MetaGraph -----------------------------------------------------------------------------------------------

    def as_saver_def(self) -> saver_pb2.SaverDef:
        return self._built("as_saver_def")

    def to_proto(self, export_scope: str | None = None) -> saver_pb2.SaverDef | None:
        """The SaverDef, its names relative to `export_scope`; None when it lies outside."""
        definition = self._built("to_proto")
        if export_scope is None:
            return definition
        if not is_exported(definition.filename_tensor_name, export_scope):
            return None
        relative = saver_pb2.SaverDef()
        relative.CopyFrom(definition)
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(relative, field, strip_name_scope(getattr(definition, field), export_scope))
        return relative

    @staticmethod
    def from_proto(saver_def: saver_pb2.SaverDef, import_scope: str | None = None) -> Saver:
        copy = saver_pb2.SaverDef()
        copy.CopyFrom(saver_def)
        if import_scope:
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(copy, field, f"{import_scope}/{getattr(saver_def, field)}")
        return Saver(saver_def=copy)

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: list[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
    ) -> Any:
        """The default graph with this saver as a MetaGraphDef; written to `filename` where given."""
        return meta_graph.export_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
        )


def _explained(error: errors.OpError, cause: str) -> errors.OpError:
    message = (
        f"Restoring from checkpoint failed. This is most likely due to {cause}. Please ensure that you have not altered the "
        f"graph expected based on the checkpoint. Original error:\n\n{error.message}"
    )
    return type(error)(error.node_def, error.op, message)


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any
) -> Saver | None:
    """Recreate the graph of a MetaGraph (a proto or a `.meta` file) in the default graph; returns its Saver, if it has one.

    `kwargs` go to `import_graph_def` (`input_map`, …).
    """
    return import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def import_meta_graph_with_return_elements(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any
) -> tuple[Saver | None, list[Any] | None]:
    """`import_meta_graph`, and what its `return_elements` names, as it was imported (None without that)."""
    if executing_eagerly():
        raise RuntimeError(meta_graph.NO_GRAPH_EAGERLY)
    definition = meta_graph.read_meta_graph(meta_graph_or_file)
    scope, elements = meta_graph.import_scoped_meta_graph_with_return_elements(
        definition, clear_devices, import_scope, **kwargs
    )
    if definition.HasField("saver_def"):
        return Saver.from_proto(definition.saver_def, import_scope=scope), elements
    return (Saver() if variable_lists.all_saveable_objects(scope=scope) else None), elements


def _exported(saver: Saver, export_scope: str | None = None) -> saver_pb2.SaverDef | None:
    """A graph that is written before a saver of its has been built (`defer_build`) goes without it."""
    return saver.to_proto(export_scope) if saver.saver_def is not None else None


meta_graph.register_proto_function(GraphKeys.SAVERS, saver_pb2.SaverDef, _exported, Saver.from_proto)
