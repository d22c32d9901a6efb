"""`tf.train.SessionManager`: sessions whose model has its values, restored, initialised or waited for. Source: TF 1.15.

One of the clients that share a model, the chief, calls `prepare_session`; the others call `wait_for_session`, which looks
again every `recovery_wait_secs` until the chief's values are there.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

import numpy as np

from tfexp.core import errors
from tfexp.core.log import get_logger
from tfexp.core.text import as_str_any
from tfexp.formats import checkpoint_state
from tfexp.graph.scopes import get_default_graph
from tfexp.runtime.session import Session

__all__ = ["SessionManager"]

_log = get_logger()


class SessionManager:
    """Makes sessions of one graph (None: the default one).

    `ready_op` gives the names of what has no value yet (`report_uninitialized_variables()`); None: the model always counts
    as ready. `local_init_op` runs in every session once `ready_for_local_init_op` gives no names, with
    `local_init_feed_dict` and `local_init_run_options`.

    Raises ValueError for a `ready_for_local_init_op` without a `local_init_op`.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
        local_init_feed_dict: Any = None,
    ):
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._local_init_feed_dict = local_init_feed_dict

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Any = None,
    ) -> Session:
        """A session at `master` whose model is restored from the checkpoint, or if there is none, initialised.

        Initialising runs `init_op` (with `init_feed_dict`), then `init_fn(session)`. RuntimeError when there is neither a
        checkpoint nor a way to initialise, and when the model is not ready afterwards.
        """
        session, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        with _closed_on_error(session):
            if not restored:
                if init_op is None and init_fn is None and self._local_init_op is None:
                    raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
                if init_op is not None:
                    session.run(init_op, feed_dict=init_feed_dict)
                if init_fn is not None:
                    init_fn(session)
            done, why = self._try_local_init(session)
            if not done:
                raise RuntimeError(
                    f"Init operations did not make model ready for local_init.  Init op: {_names(init_op)}, "
                    f"init fn: {init_fn}, error: {why}"
                )
            ready, why = self._model_ready(session)
            if not ready:
                raise RuntimeError(
                    f"Init operations did not make model ready.  Init op: {_names(init_op)}, init fn: {init_fn}, "
                    f"local_init_op: {self._local_init_op}, error: {why}"
                )
        return session

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """(session, whether a checkpoint was restored and made the model ready); never initialises."""
        session, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        with _closed_on_error(session):
            done, why = self._try_local_init(session)
            if not restored:
                return session, False
            source = checkpoint_dir or checkpoint_filename_with_path
            if not done:
                _log.info("Restoring model from %s did not make model ready for local init: %s", source, why)
                return session, False
            ready, why = self._model_ready(session)
            if not ready:
                _log.info("Restoring model from %s did not make model ready: %s", source, why)
                return session, False
        _log.info("Restored model from %s", source)
        return session, True

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float | None = float("inf")) -> Session:
        """A session at `master` as soon as another client has made the model ready there.

        DeadlineExceededError after `max_wait_secs` (None: wait for ever).
        """
        ends = time.monotonic() + (float("inf") if max_wait_secs is None else max_wait_secs)
        while True:
            session = Session(master, graph=self._graph, config=config)
            with _closed_on_error(session):
                local_done, why_not_local = self._try_local_init(session)
                ready, why_not = self._model_ready(session) if local_done else (False, None)
            if ready:
                return session
            _safe_close(session)
            _log.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                why_not_local,
                why_not,
            )
            if ends - time.monotonic() < self._recovery_wait_secs:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {max_wait_secs:.0f} secs."
                )
            self._pause()

    def _pause(self) -> None:
        """The time between two looks. Nobody wakes this: what is waited for happens in another process."""
        threading.Event().wait(self._recovery_wait_secs)

    def _restore_checkpoint(
        self,
        master: str,
        saver: Any,
        folder: str | None,
        file: str | None,
        wait_for_checkpoint: bool,
        max_wait_secs: float,
        config: Any,
    ) -> tuple[Session, bool]:
        """A new session, and whether a checkpoint was restored in it."""
        if folder and file:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        session = Session(master, graph=self._graph, config=config)
        if saver is None or not (folder or file):
            return session, False
        with _closed_on_error(session):
            if file:
                _log.info("Restoring parameters from %s", file)
                saver.restore(session, file)
                return session, True
            assert folder is not None
            ends = time.monotonic() + max_wait_secs
            state = checkpoint_state.get_checkpoint_state(folder)
            while state is None or not state.model_checkpoint_path:
                if not wait_for_checkpoint or time.monotonic() >= ends:
                    return session, False
                _log.info("Waiting for checkpoint to be available.")
                self._pause()
                state = checkpoint_state.get_checkpoint_state(folder)
            _log.info("Restoring parameters from %s", state.model_checkpoint_path)
            saver.restore(session, state.model_checkpoint_path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return session, True

    def _try_local_init(self, session: Session) -> tuple[bool, str | None]:
        """Run `local_init_op` if the model is ready for it; (whether nothing of it is missing, else why)."""
        if self._local_init_op is None:
            return True, None
        ready, why = missing_values(self._ready_for_local_init_op, session)
        if not ready:
            return False, why
        _log.info("Running local_init_op.")
        session.run(self._local_init_op, feed_dict=self._local_init_feed_dict, options=self._local_init_run_options)
        _log.info("Done running local_init_op.")
        return True, None

    def _model_ready(self, session: Session) -> tuple[bool, str | None]:
        return missing_values(self._ready_op, session)


def missing_values(op: Any, session: Session) -> tuple[bool, str | None]:
    """Whether `op` finds nothing without a value; else which, or the error that it ended with."""
    if op is None:
        return True, None
    try:
        missing = session.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return False, str(error)
    # An older kind of op, `assert_variables_initialized`, gives numbers, or fails.
    if missing is None or np.asarray(missing).dtype == np.int32 or np.size(missing) == 0:
        return True, None
    names = [as_str_any(name) for name in np.ravel(missing)]
    return False, f"Variables not initialized: {', '.join(names)}"


def _names(ops: Any) -> str:
    """The op, or the list of them, by name."""
    listed = ops if isinstance(ops, list | tuple) else [ops]
    return ", ".join(str(getattr(op, "name", op)) for op in listed)


@contextlib.contextmanager
def _closed_on_error(session: Session) -> Any:
    """A session that nobody gets must not stay open."""
    try:
        yield
    except BaseException:
        _safe_close(session)
        raise


def _safe_close(session: Session) -> None:
    """Close it; a server that is gone has closed it already."""
    with contextlib.suppress(errors.OpError):
        session.close()
