"""Checkpoints of where an input pipeline is: `tf.data.experimental.CheckpointInputPipelineHook`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.data.transformations import iterator_saveable
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_collection
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.saver import Saver
from tfexp.train.saving_hooks import CheckpointSaverHook
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class _InputSaver(Saver):
    """A Saver whose newest checkpoint is named by a file of its own, apart from the model's."""

    def __init__(self, saveables: Any, state: str):
        super().__init__(saveables)
        self._state = state

    def save(self, sess: Any, save_path: str, global_step: Any = None, *args: Any, **options: Any) -> str | None:
        return super().save(sess, save_path, global_step, self._state, write_meta_graph=False)


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves where the iterators are, into the estimator's model_dir and as often as it saves the model, and restores it.

    A training that goes on takes the input up where the last checkpoint was, instead of at its beginning. Each worker has
    checkpoints of its own. ValueError, when it begins, for a graph without iterators.
    """

    def __init__(self, estimator: Any):
        config = estimator.config
        own = "" if config.is_chief else f"_{config.task_type}_{config.task_id}"
        self._folder, self._state = estimator.model_dir, f"checkpoint_input{own}"
        self._basename = f"input{own}"
        self._every = {"save_secs": config.save_checkpoints_secs, "save_steps": config.save_checkpoints_steps}

    def begin(self) -> None:
        iterators = get_collection(GraphKeys.GLOBAL_ITERATORS)
        if not iterators:
            raise ValueError("CheckpointInputPipelineHook saves the iterators of tf.data, and the graph has none")
        self._saver = _InputSaver([iterator_saveable(iterator) for iterator in iterators], self._state)
        self._hook = CheckpointSaverHook(self._folder, saver=self._saver, checkpoint_basename=self._basename, **self._every)
        self._hook.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        # Nothing else: the hook that initializes the iterators may come after this one.
        self._has_begun = False

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        if not self._has_begun:
            self._has_begun = True
            newest = latest_checkpoint(self._folder, self._state)
            if newest is None:
                self._hook.save_first(run_context.session)
            else:
                self._saver.restore(run_context.session, newest)
        return self._hook.before_run(run_context)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._hook.after_run(run_context, run_values)

    def end(self, session: Session) -> None:
        self._hook.end(session)
