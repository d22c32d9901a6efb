"""Belonging to a Ray: one of our own on this machine, or one that is there.

A Ray of our own (`address="local"`) asks for a token of every process that wants to join, since Ray listens on all
interfaces; it keeps its files in a folder that goes with it, and sends no usage reports.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tfexp.core.wording import plural
from tfexp.distributed.hosting import HostingError, Say

__all__ = ["Membership", "amounts", "cause"]

# Before Ray is imported: no usage reports, every line of a log, no word about what GPUs a task without any sees, and no new
# Ray for threads that ask for something when theirs has gone.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",
}

_LOOK_EVERY = 2.0
"""Seconds between two looks at whether Ray is there."""


class Membership:
    """`address`: "local" (a Ray of our own on this machine), "auto" (the one that this machine belongs to) or host:port.

    A Ray that this process has joined already is used, and left running. `setting` (such as cluster.hosting) is what asks
    for Ray, in messages.
    """

    def __init__(self, address: str, setting: str):
        self._address, self._setting = address, setting
        self._section = setting.partition(".")[0]
        self._other = f"{setting}=process"
        self._folder: str | None = None
        self._own = False
        self._ports: list[tuple[str, int]] = []
        self._left = threading.Event()

    def join(self, say: Say) -> None:
        """Raises HostingError if that cannot be."""
        self._import()
        import ray

        if ray.is_initialized():
            self._ports = _ports_of_ray()
            return
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        began = time.perf_counter()
        if self._address == "local":
            say("waiting for Ray to start on this machine")
            self._folder = _new_folder()
            quiet.update(include_dashboard=False, _temp_dir=self._folder)
        else:
            say(f"waiting for the Ray at {self._address}" if self._address != "auto" else "waiting for this machine's Ray")
        self._own = True
        try:
            _reach(os.environ.get("RAY_ADDRESS", "auto") if self._address == "auto" else self._address)
            with _kept_sigterm():
                ray.init(address=self._address, **quiet)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise HostingError(
                f"{self._section}.address={self._address}: {_first_line(error)}; {self._other_ways()}"
            ) from error
        self._ports = _ports_of_ray()
        say(f"Ray is up after {time.perf_counter() - began:.1f} s: {amounts(ray.cluster_resources())}")

    def _import(self) -> None:
        """Have Ray imported, with all in the environment that it looks at only then."""
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        fresh = self._address == "local" and "ray" not in sys.modules
        if fresh and os.environ.setdefault("RAY_AUTH_MODE", "token") == "token":
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        try:
            import ray  # noqa: F401
        except ImportError as error:
            raise HostingError(
                f"{self._setting}=ray needs Ray, which cannot be imported ({error}): pip install ray, or choose "
                f"{self._other}"
            ) from error

    def _other_ways(self) -> str:
        """What can be done where no Ray is to be had."""
        if self._address == "local":
            return f"choose {self._other}"
        return (
            "start Ray (ray start --head, and ray start --address=HOST:PORT on the other machines), set "
            "RAY_AUTH_MODE=token if it asks for one (then RAY_AUTH_TOKEN, too, if it is another user's), or leave "
            f"{self._section}.address=local for a Ray of its own"
        )

    def is_there(self) -> bool:
        """Whether the Ray that was joined still answers: its head, and what it has on this machine. Ray itself would wait
        for a minute, and then end this process."""
        for host, port in self._ports:
            try:
                socket.create_connection((host, port), timeout=5).close()
            except OSError:
                return False
        return True

    def watch(self, gone: Callable[[], None]) -> None:
        """Have `gone` called, by a thread, when Ray is not there any more before it was left."""

        def look() -> None:
            while not self._left.wait(_LOOK_EVERY):
                if not self.is_there():
                    if not self._left.is_set():  # while it looked
                        gone()
                    return

        threading.Thread(target=look, name="tfexp-ray-watch", daemon=True).start()

    def wait_for(self, threads: Iterable[threading.Thread]) -> None:
        """Wait until these threads, which read what Ray brings, have ended; not if it does not bring anything any more."""
        for thread in threads:
            while thread.is_alive() and self.is_there():
                thread.join(_LOOK_EVERY)

    def leave(self) -> None:
        """End a Ray of our own. May be repeated."""
        self._left.set()
        if self._own:
            import ray

            ray.shutdown()
            self._own = False
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)  # its last log lines may still be on their way
            self._folder = None


@contextlib.contextmanager
def _kept_sigterm() -> Iterator[None]:
    """Ray takes SIGTERM over, in Python and in C++, to end the process at once: a handler of the program's stays."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if callable(before) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _ports_of_ray() -> list[tuple[str, int]]:
    """Where the joined Ray's head listens, and its part on this machine."""
    import ray

    context = ray.get_runtime_context()
    host, _, port = context.gcs_address.rpartition(":")
    here = [node for node in ray.nodes() if node["NodeID"] == context.get_node_id()]
    return [(host, int(port)), *((node["NodeManagerAddress"], int(node["NodeManagerPort"])) for node in here)]


def _reach(address: str) -> None:
    """OSError if nobody listens at a host:port: Ray itself would try for a minute."""
    host, _, port = address.rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except OSError as error:
            raise OSError(f"nobody answers at {address} ({error})") from error


def _new_folder() -> str:
    """A folder for Ray's files; those of processes that were killed before they could remove theirs go."""
    # Ray's sockets are under it, and their paths must be short.
    parent = tempfile.gettempdir() if len(tempfile.gettempdir()) < 30 else "/tmp"
    for folder in Path(parent).glob("ray-*-*"):
        owner = folder.name.split("-")[1]
        with contextlib.suppress(FileNotFoundError):  # another process may be removing it, too
            if owner.isdecimal() and not Path("/proc", owner).exists() and folder.stat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"ray-{os.getpid()}-", dir=parent)


def amounts(resources: dict[str, float]) -> str:
    """`2 CPUs, 1 GPU`; without GPUs where there are none."""
    cpus, gpus = round(resources.get("CPU", 0.0), 3), resources.get("GPU", 0.0)
    parts = [plural(cpus, "CPU")]
    if gpus:
        parts.append(plural(gpus, "GPU"))
    return ", ".join(parts)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def cause(error: Any) -> str:
    """What Ray says of a process that is gone, in a line, without what it guesses."""
    text = " ".join(str(error).split())
    _, found, detail = text.partition("The actor is dead because ")
    said = detail if found else text
    for guesses in ("Some common causes include", "There are some potential root causes"):
        said = said.partition(guesses)[0]
    died, found, how = said.partition(" Worker exit type: ")
    if found:  # a kind in capitals, and then what was seen
        said = f"{died.rstrip('.')}: {how.partition('Worker exit detail: ')[2] or how}"
    return said.strip()[:300].rstrip(".") or type(error).__name__
