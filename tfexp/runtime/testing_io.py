"""What tests put around a program and in the place of its parts: streams, threads, attributes, sessions."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfexp.core.errors import OutOfRangeError
from tfexp.core.text import as_text
from tfexp.runtime.session import Session

_log = logging.getLogger("tensorflow")


class CapturedWrites:
    """What has been written to a stream so far. Source: `tf.test.TestCase.captureWritesToStream`."""

    def __init__(self, path: str):
        self._path = path

    def contents(self) -> str:
        with open(self._path, "rb") as file:
            return as_text(file.read())


@contextlib.contextmanager
def captured_writes(stream: Any, folder: str) -> Iterator[CapturedWrites]:
    """Whatever is written to `stream`'s file descriptor inside the block, by Python or not, goes to a file in `folder`."""
    stream.flush()
    descriptor = stream.fileno()
    kept = os.dup(descriptor)
    handle, path = tempfile.mkstemp(dir=folder)
    try:
        os.dup2(handle, descriptor)
        yield CapturedWrites(path)
    finally:
        stream.flush()
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(handle)


class CheckedThread:
    """A thread whose failure fails the test that joins it. Source: `tf.test.TestCase.checkedThread`."""

    def __init__(
        self, test: Any, target: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ):
        self._test = test
        self._error: Exception | None = None
        self._joined = False

        def run() -> None:
            try:
                target(*args, **(kwargs or {}))
            except Exception as error:  # join() reports it
                self._error = error

        self._thread = threading.Thread(target=run)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._test.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """The test fails that has not joined the thread by now."""
        if not self._joined:
            self._test.fail("A checked thread was not joined.")


class StubOutForTesting:
    """Puts other attributes in the place of objects' own, until told to put those back. `tf.test.StubOutForTesting`."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, bool]] = []
        self._smart: list[tuple[Any, str, Any, bool]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *_: Any) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        self.SmartUnsetAll()
        self.UnsetAll()

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replace an attribute that `parent` has; AttributeError if it has not."""
        self._put(self._replaced, parent, child_name, new_child)

    def UnsetAll(self) -> None:
        self._put_back(self._replaced)

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replace an attribute of a module, a class or an instance, inherited or not; AttributeError if there is none."""
        self._put(self._smart, obj, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        self._put_back(self._smart)

    @staticmethod
    def _put(kept: list[tuple[Any, str, Any, bool]], parent: Any, name: str, new: Any) -> None:
        own = vars(parent) if hasattr(parent, "__dict__") else {}
        kept.append((parent, name, own.get(name, getattr(parent, name)), name in own))
        setattr(parent, name, new)

    @staticmethod
    def _put_back(kept: list[tuple[Any, str, Any, bool]]) -> None:
        while kept:
            parent, name, old, was_own = kept.pop()
            if was_own:
                setattr(parent, name, old)
            else:
                delattr(parent, name)


# --- sessions -----------------------------------------------------------------------------------------------------------


class ErrorLoggingSession(Session):
    """A session that writes what `run` raises to the log, which tests of background threads look at."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, OutOfRangeError):  # the end of data is no failure
                _log.error("%s", error)
            raise


class FakeEagerSession:
    """A session's `run` over the test's `evaluate`, for tests that also run eagerly."""

    def __init__(self, test_case: Any):
        self._test_case = test_case

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values. RuntimeError for feeds, and for other arguments of a session's `run`."""
        shorthand = "when eager execution is enabled (in this case, sess.run(t) is shorthand for t.numpy()"
        if kwargs.pop("feed_dict", None):
            raise RuntimeError(f"feed_dict is not supported {shorthand}")
        if args or kwargs:
            raise RuntimeError(f"Optional args are not supported {shorthand}")
        return self._test_case.evaluate(fetches)


class EagerSessionWarner:
    """What tests have in place of a session of their own while ops run at once: any use of it says what to do instead."""

    def __getattr__(self, attr: str) -> Any:
        raise AttributeError(
            "Trying to access properties or call methods on the result of self.session() while eager execution is enabled: "
            f"there is no session to take {attr!r} from. Use `self.evaluate`, or test in a graph."
        )
