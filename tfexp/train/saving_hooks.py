"""Hooks that save the model: `tf.train.CheckpointSaverHook` and its listeners. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tensorboard.compat.proto.event_pb2 import SessionLog

from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_collection, get_default_graph
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.global_step import required_step_read
from tfexp.train.graph_io import write_graph
from tfexp.train.meta_graph import export_meta_graph
from tfexp.train.saver import Saver
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfexp.train.step_timer import SecondOrStepTimer
from tfexp.train.summary_writer import FileWriterCache

_log = get_logger()


class CheckpointSaverListener:
    """Told when a CheckpointSaverHook saves. Override what is needed; by default nothing happens."""

    def begin(self) -> None:
        """Called once, when the graph may still be added to."""

    def before_save(self, session: Session, global_step_value: int) -> None:
        """Called before each save."""

    def after_save(self, session: Session, global_step_value: int) -> bool | None:
        """Called after each save; True asks for the end of the training."""
        return None

    def end(self, session: Session, global_step_value: int) -> None:
        """Called at the end of the training, after the last save."""


class CheckpointSaverHook(SessionRunHook):
    """Saves into `checkpoint_dir` when a session was made, every `save_secs` or `save_steps`, and at the end.

    Saves with `saver`, else that of `scaffold`, else that of the graph. ValueError for both of a pair, or for no interval.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ):
        _log.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = list(listeners or ())

    def add_listeners(self, listeners: Sequence[CheckpointSaverListener]) -> None:
        """Tell these too; before the hook begins."""
        self._listeners.extend(listeners)

    def begin(self) -> None:
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._step = required_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        graph = get_default_graph()
        write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        self._summary_writer.add_graph(graph)
        graph_def = graph.as_graph_def(add_shapes=True)
        self._summary_writer.add_meta_graph(export_meta_graph(graph_def=graph_def, graph=graph, saver_def=saver.saver_def))
        self.save_first(session)

    def save_first(self, session: Session) -> None:
        """Save what whoever comes to lose this session will find: its beginning. Intervals count from here."""
        step = int(session.run(self._step))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        # What the step fetched may be from before its update: it only tells whether looking is worth while.
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Session) -> None:
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Session, step: int) -> bool:
        """Save; whether a listener asks for the end."""
        _log.info("Calling checkpoint listeners before saving checkpoint %d...", step)
        for listener in self._listeners:
            listener.before_save(session, step)
        _log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        saver = self._get_saver()
        saver.save(session, self._save_path, global_step=step)
        self._summary_writer.add_session_log(SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path), step)
        self._summary_writer.flush()  # the events of a process that dies are as new as its checkpoint
        _log.info("Calling checkpoint listeners after saving checkpoint %d...", step)
        stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                _log.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                stop = True
        return stop

    def _get_saver(self) -> Saver:
        """RuntimeError where the graph has no saver, or several."""
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            saver: Saver = self._scaffold.saver
            return saver
        found = get_collection(GraphKeys.SAVERS)
        if len(found) != 1:
            what = "No items" if not found else "More than one item"
            raise RuntimeError(f"{what} in collection {GraphKeys.SAVERS}. Pass a saver or a scaffold to CheckpointSaverHook")
        self._saver = found[0]
        return found[0]
