"""What Ray finds in its environment when it is imported. A package of that name stands in for it."""

import json
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from tfexp.distributed.hosting import HostingError
from tfexp.distributed.ray_joining import Membership, _new_folder, cause

NAMES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
STAND_IN = """
import json, os, signal
from pathlib import Path
Path(__file__).with_name("seen.json").write_text(json.dumps(dict(os.environ)))
class exceptions:
    class RayError(Exception):
        pass
def is_initialized():
    return False
def init(**options):
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    if options["address"] == "locked:1":
        raise exceptions.RayError("no authentication token was found.\\nTo make one …")
    raise ConnectionError("Failed to connect to Ray cluster")
"""


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """What a Ray that is joined at an address finds, and what is said if it lets nobody in."""
    package = tmp_path / "path" / "ray"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in NAMES:
        monkeypatch.setenv(name, "")  # what is set then goes with the test
        monkeypatch.delenv(name)
    monkeypatch.setattr("tfexp.distributed.ray_joining._reach", lambda address: None)

    def join(address):
        with pytest.raises(HostingError) as raised:
            Membership(address, "sweep.launcher").join(lambda text: None)
        found = json.loads((package / "seen.json").read_text())
        return {name: found[name] for name in NAMES if name in found}, str(raised.value)

    yield join
    sys.modules.pop("ray", None)


def test_a_ray_of_our_own_lets_nobody_else_in(seen):
    found, _ = seen("local")
    assert found["RAY_AUTH_MODE"] == "token"
    assert len(found["RAY_AUTH_TOKEN"]) == 64


def test_a_ray_whose_token_is_missing_is_said_in_one_line(seen):
    _, said = seen("locked:1")
    assert said.startswith("sweep.address=locked:1: no authentication token was found; start Ray")
    assert "\n" not in said


def test_a_program_that_handles_sigterm_still_does(seen):
    def handler(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGTERM, handler)
    try:
        seen("local")
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_one_that_may_want_a_token_is_said_to(seen):
    """Which it does if `ray start` started it. A token for one that wants none would have its actors end unheard."""
    found, message = seen("127.0.0.1:6379")
    assert found == {}
    assert "Failed to connect to Ray cluster; start Ray (" in message
    assert "set RAY_AUTH_MODE=token if it asks for one" in message


def test_a_folder_that_somebody_else_removes_is_nothing_to_remove(monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        Path(folder, "ray-99999999-left").symlink_to("gone")  # listed, and not there
        assert Path(_new_folder()).parent == Path(folder)


@pytest.fixture
def joined(monkeypatch):
    """A Ray that was joined, of which there is only where it listens."""
    monkeypatch.setattr("tfexp.distributed.ray_joining._LOOK_EVERY", 0.01)
    membership = Membership("auto", "sweep.launcher")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        membership._ports = [listening.getsockname()]
        yield membership, listening
    membership.leave()


def test_that_it_went_away_is_noticed_by_itself(joined):
    membership, listening = joined
    gone = threading.Event()
    membership.watch(gone.set)
    assert not gone.wait(0.1)
    listening.close()
    assert gone.wait(60)


def test_whoever_left_is_told_nothing(joined):
    membership, listening = joined
    gone = threading.Event()
    membership.watch(gone.set)
    membership.leave()
    listening.close()
    assert not gone.wait(0.1)


def test_nothing_is_waited_for_that_it_would_bring(joined):
    """The end of an actor that was killed, say, which Ray itself would wait for until it ends the process."""
    membership, listening = joined
    never = threading.Event()
    reader = threading.Thread(target=never.wait, daemon=True)
    reader.start()
    listening.close()
    membership.wait_for([reader])
    never.set()


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "The actor died unexpectedly before finishing this task.\n\tclass_name: Task\nThe actor is dead because "
            "its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with "
            "a connection error code 2. End of file. There are some potential root causes. (1) It is killed. (2) …",
            "its worker process has died: Worker unexpectedly exits with a connection error code 2. End of file",
        ),
        ("The actor is dead because it was killed by `ray.kill`.", "it was killed by `ray.kill`"),
        ("No such node.\nSome common causes include: none", "No such node"),
        ("", "ValueError"),
    ],
)
def test_what_ray_says_of_a_process_that_is_gone_is_a_line(said, line):
    assert cause(ValueError(said)) == line
