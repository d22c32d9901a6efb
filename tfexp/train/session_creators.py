"""`tf.train.SessionCreator`s: sessions whose model is ready. Source: `tf.train.ChiefSessionCreator`, TF 1.15."""

from __future__ import annotations

import abc
from typing import Any

from tfexp.graph.scopes import get_default_graph
from tfexp.runtime.session import Session
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_manager import SessionManager

# How often a worker looks whether the chief has made the model ready: it decides how soon training goes on after a loss.
_LOOK_AGAIN_SECS = 1.0


class SessionCreator(abc.ABC):
    """Makes sessions."""

    @abc.abstractmethod
    def create_session(self) -> Session:
        """A new session, ready to be used."""


class _ScaffoldedCreator(SessionCreator):
    """Makes sessions of the default graph, for which a Scaffold stands ready."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any):
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._manager: SessionManager | None = None

    def _session_manager(self) -> SessionManager:
        if self._manager is None:
            self._manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                local_init_feed_dict=self._scaffold.local_init_feed_dict,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
                recovery_wait_secs=_LOOK_AGAIN_SECS,
            )
        return self._manager


class ChiefSessionCreator(_ScaffoldedCreator):
    """Sessions in which the model is restored from the newest checkpoint, or if there is none, initialised.

    `checkpoint_dir` and `checkpoint_filename_with_path` (a folder, a checkpoint) exclude each other.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ):
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A session with a ready model. RuntimeError when initialising leaves something without a value."""
        self._scaffold.finalize()
        return self._session_manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(_ScaffoldedCreator):
    """Sessions in which the chief has made the model ready; waits for that for `max_wait_secs` at most."""

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config: Any = None, max_wait_secs: float = 30 * 60
    ):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """A session with a ready model. DeadlineExceededError when it does not get ready in time."""
        self._scaffold.finalize()
        return self._session_manager().wait_for_session(self._master, config=self._config, max_wait_secs=self._max_wait_secs)
