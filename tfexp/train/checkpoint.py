"""`tf.train.Checkpoint`: variables saved and restored by the structure of the objects that have them. Source: TF 1.15."""

from __future__ import annotations

import os
import weakref
from collections.abc import Hashable
from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tfexp.core import dtypes
from tfexp.formats import checkpoint_state
from tfexp.formats.checkpoints import open_checkpoint
from tfexp.graph.convert import constant
from tfexp.graph.defaults import default_or_fallback_session
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import executing_eagerly
from tfexp.ops.array_identity import identity
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.trackable import SavedState, Trackable, is_trackable, parts_of
from tfexp.ops.variable_base import node_name
from tfexp.ops.variable_scope import variable_scope
from tfexp.ops.variables import Variable
from tfexp.train.deferred_restore import Search, remaining, wait_for_variables
from tfexp.train.object_graph import OBJECT_GRAPH_KEY, Match, ObjectGraph, match, object_graph, saveables
from tfexp.train.object_pairs import Pairs, Root
from tfexp.train.python_state import PythonState
from tfexp.train.saver import Saver


def _session(session: Any) -> Any:
    """In graphs: the given one, the default one, or Keras's."""
    return session or (None if executing_eagerly() else default_or_fallback_session())


class WrittenText(SaveableObject):
    """A string of the checkpoint that is not restored."""

    def __init__(self, text: bytes, key: str):
        tensor = constant(text, dtype=dtypes.string)
        super().__init__(tensor, [SaveSpec(tensor, "", key)], key)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return identity(restored_tensors[0]).op


class Checkpoint(Trackable):
    """Saves and restores what it is given, `Checkpoint(model=model, optimizer=optimizer)`: trackable objects by name.

    ValueError for what is not trackable (variables, layers, optimizers, and lists and dicts of these are).
    """

    def __init__(self, **kwargs: Any):
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value) and not (isinstance(value, (list, tuple, dict)) and (parts_of(value) or not value)):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from `TrackableBase`), got "
                    f"{value!r} as {name!r}. If you believe this object should be trackable (i.e. it is part of the "
                    "TensorFlow Python API and manages state), please open an issue."
                )
            setattr(self, name, value)
        self._save_counter: Any = None
        self._is_counting: Any = None
        self._count: Any = None
        self._savers: dict[Any, Saver] = {}

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        children = super()._checkpoint_children()
        named = [(name, value) for name, value in children if not name.startswith("_")]
        return [*named, *([] if self._save_counter is None else [("save_counter", self._save_counter)])]

    @property
    def save_counter(self) -> Any:
        """How often it was saved: an int64 variable."""
        return self._with_counter()

    def _with_counter(self) -> Any:
        """It is one of the variables that are restored, so it has to be there before."""
        if self._save_counter is None:
            with variable_scope("", use_resource=True):
                self._save_counter = Variable(0, trainable=False, name="save_counter", dtype=dtypes.int64)
            if not executing_eagerly():
                self._is_counting = self._save_counter.is_initialized()
                self._count = self._save_counter.assign_add(1)
        return self._save_counter

    def _counted(self, session: Any) -> int:
        """How often it was saved, this time included."""
        counter = self._with_counter()
        if executing_eagerly():
            counter.assign_add(1)
            return int(counter.numpy())
        if not session.run(self._is_counting):
            session.run(counter.initializer)
        return int(session.run(self._count))

    def _object_graph(self) -> ObjectGraph:
        return object_graph(self)

    # --- saving ------------------------------------------------------------------------------------------------------

    def write(self, file_prefix: str, session: Any = None) -> str:
        """Write a checkpoint of that name, and nothing else; its path."""
        session = _session(session)
        graph = self._object_graph()
        text = graph.proto.SerializeToString(deterministic=True)
        saver = self._savers.get(text)
        if saver is None or executing_eagerly():
            variables = {**saveables(graph.values), OBJECT_GRAPH_KEY: WrittenText(text, OBJECT_GRAPH_KEY)}
            saver = self._savers[text] = Saver(variables, max_to_keep=None, name="checkpoint_save")
        path = saver.save(session, os.fspath(file_prefix), write_meta_graph=False, write_state=False)
        assert path is not None
        return path

    def save(self, file_prefix: str, session: Any = None) -> str:
        """Write the checkpoint `file_prefix-<how often it was saved>` and have the folder's state name it; its path."""
        return self._save_numbered(file_prefix, session, None)

    def _save_numbered(self, file_prefix: str, session: Any, number: int | None) -> str:
        session = _session(session)
        count = self._counted(session)
        path = self.write(f"{os.fspath(file_prefix)}-{count if number is None else number}", session)
        checkpoint_state.update_checkpoint_state(os.path.dirname(path) or ".", path, [path], save_relative_paths=True)
        return path

    # --- restoring ---------------------------------------------------------------------------------------------------

    def restore(self, save_path: str | None) -> LoadStatus:
        """What a checkpoint has for the objects here; None is no checkpoint.

        In graphs its `run_restore_ops()` or `initialize_or_restore()` brings the values of variables; what is Python's own
        (`tf.train.experimental.PythonState`) has its state at once. Checkpoints that were written by name (`tf.train.Saver`)
        are restored by the names of variables.
        """
        self._with_counter()
        if save_path is None:
            return InitializationOnlyStatus(self)
        with open_checkpoint(os.fspath(save_path)) as reader:
            keys = set(reader.get_variable_to_shape_map())
            text = reader.get_tensor(OBJECT_GRAPH_KEY) if OBJECT_GRAPH_KEY in keys else None
            status: LoadStatus
            if text is None:
                status = NameBasedStatus(self, os.fspath(save_path), keys)
            else:
                status = LoadStatus(self, os.fspath(save_path), TrackableObjectGraph.FromString(text))
            for key, part in status._match().variables.items():
                if isinstance(part, PythonState):
                    part.deserialize(reader.get_tensor(key))
        if executing_eagerly():
            status.restore_streaming()
        return status

    def _root_kept(self) -> tuple[Root, Hashable]:
        """What gives the root of what is restored without keeping it alive, and what this root is told from others by."""
        parts, own = self._checkpoint_children(), weakref.ref(self)
        kept = remaining(parts)
        return lambda: own() or kept(), tuple((name, id(part)) for name, part in parts) or id(self)

    def _restore_from(self, path: str, found: dict[str, Any], session: Any) -> None:
        variables = {key: one for key, one in found.items() if not isinstance(one, PythonState)}
        if not variables:
            return
        key = tuple((name, id(variable)) for name, variable in sorted(variables.items()))
        saver = self._savers.get(key)
        if saver is None:
            saver = self._savers[key] = Saver(saveables(variables), max_to_keep=None, name="checkpoint_restore")
        saver.restore(session, path)


class LoadStatus:
    """What a restored checkpoint has for a program's objects. `CheckpointLoadStatus` of TF 1.15."""

    def __init__(self, checkpoint: Checkpoint, path: str, proto: TrackableObjectGraph):
        self._checkpoint, self._path, self._proto = checkpoint, path, proto

    def _search(self, root: Root) -> Search:
        """What finds the objects of a root that there are values for."""
        return Pairs(root, self._proto)

    def _match(self) -> Match:
        """Found anew each time: layers and slots may have been made in the meantime."""
        return match(self._checkpoint, self._proto)

    def assert_consumed(self) -> LoadStatus:
        """AssertionError unless each value has its variable, and each variable its value."""
        found = self._match()
        if found.unused:
            raise AssertionError(f"Unresolved object in checkpoint {self._path}: {', '.join(found.unused)}")
        self._assert_complete(found)
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        """AssertionError unless each variable that is there has its value."""
        self._assert_complete(self._match())
        return self

    def _assert_complete(self, found: Match) -> None:
        missing = [v for v in found.left_out if v is not self._checkpoint._save_counter]
        if missing:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes in the Python program: "
                f"{missing} (not in {self._path})"
            )

    def assert_nontrivial_match(self) -> LoadStatus:
        """AssertionError when the checkpoint has no object but the root of what the program has; the counter is one."""
        if self._match().is_trivial:
            raise AssertionError(f"Nothing except the root object matched a checkpointed value of {self._path}")
        return self

    def expect_partial(self) -> LoadStatus:
        """Say that it is right when not everything is used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Give the variables the values of the checkpoint."""
        self._checkpoint._restore_from(self._path, self._match().variables, _session(session))

    def restore_streaming(self, session: Any = None) -> None:
        """Restore what is there, and the rest as it is made; of a session's graph, when it is said that it is due."""
        self.run_restore_ops(session)
        root, owner = self._checkpoint._root_kept()
        wait_for_variables(self._path, self._search(root), root, owner, None if session is None else session.graph)

    def initialize_or_restore(self, session: Any = None) -> None:
        """The same, and initialise those that the checkpoint does not have."""
        session, found = _session(session), self._match()
        if found.left_out and not executing_eagerly():
            session.run(group(*[one.initializer for one in found.left_out if not isinstance(one, SavedState)]))
        self._checkpoint._restore_from(self._path, found.variables, session)


class NameBasedStatus(LoadStatus):
    """Of a checkpoint that was written by the names of variables."""

    def __init__(self, checkpoint: Checkpoint, path: str, keys: set[str]):
        super().__init__(checkpoint, path, TrackableObjectGraph())
        self._keys = keys

    def _search(self, root: Root) -> Search:
        return _ByName(root, self._keys)

    def _match(self) -> Match:
        return _match_by_name(self._checkpoint, self._keys)


def _match_by_name(root: Any, keys: set[str]) -> Match:
    values = object_graph(root).values.values()
    by_name = {node_name(value): value for value in values if not isinstance(value, SavedState)}
    found = {name: variable for name, variable in by_name.items() if name in keys}
    left_out = [variable for name, variable in by_name.items() if name not in keys]
    return Match(found, sorted(keys - found.keys()), left_out, not found)


class _ByName:
    """The search for variables of these names: through all of the root each time."""

    def __init__(self, root: Root, keys: set[str]):
        self._root, self._keys = root, keys
        self._taken: set[str] = set()

    @property
    def unused(self) -> list[str]:
        return sorted(self._keys - self._taken)

    def look(self, owner: Any = None) -> None:
        """Nothing tells in which of the objects a name may be."""

    def take_new(self) -> dict[str, Any]:
        found = _match_by_name(self._root(), self._keys - self._taken).variables
        self._taken |= found.keys()
        return found


class InitializationOnlyStatus(LoadStatus):
    """Of no checkpoint: there is nothing but initial values."""

    def __init__(self, checkpoint: Checkpoint):
        super().__init__(checkpoint, "", TrackableObjectGraph())

    def _match(self) -> Match:
        return Match({}, [], list(object_graph(self._checkpoint).values.values()), True)

    def _nothing(self) -> AssertionError:
        return AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self) -> LoadStatus:
        raise self._nothing()

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        raise self._nothing()
