"""What holds for all tests."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest
from absl import logging as absl_logging

# The same examples each time, however long they take beside other processes.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")

# absl's handler takes the `sys.stderr` of its import, which in a test is pytest's, and closes it when a program that is run
# inside a test (Hydra's) sets up logging anew. The process's own it leaves open.
absl_logging.get_absl_handler().python_handler.stream = sys.__stderr__


def pytest_configure(config: pytest.Config) -> None:
    """Where bytecode is not to be kept beside the code, the hundreds of processes that tests start share it elsewhere."""
    if os.environ.get("PYTHONDONTWRITEBYTECODE") and "PYTHONPYCACHEPREFIX" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="tfexp-bytecode-")
        config.add_cleanup(folder.cleanup)
        os.environ["PYTHONPYCACHEPREFIX"] = folder.name
        del os.environ["PYTHONDONTWRITEBYTECODE"]


def _begin_at_the_end(config: pytest.Config) -> None:
    """In every second process that collects all tests, import the files from the last to the first.

    Where there is no bytecode yet, each of two processes so compiles half of what both import, and reads the other half.
    """
    here = Path(__file__).parent
    number = getattr(config, "workerinput", {}).get("workerid", "gw0").removeprefix("gw")
    if int(number) % 2 == 0 or [Path(argument).resolve() for argument in config.args] != [here]:
        return
    for path in sorted(here.rglob("test_*.py"), reverse=True):
        root = path.parent
        while (root / "__init__.py").exists():
            root = root.parent
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))
        # What cannot be imported, or says that it is to be skipped, does so again when pytest collects it, which tells.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """The garbage collector leaves alone what collecting makes, which lives as long as the process, and looks less often at
    the rest: going through it again and again was a seventh of the suite's time.
    """
    gc.disable()
    try:
        _begin_at_the_end(session.config)
        collected = yield
        gc.collect()
        gc.freeze()
    finally:
        gc.enable()
    gc.set_threshold(10_000, 20, 20)
    return collected


_WHOLE_PROGRAMS = ("experiment", "contract", "chaos", "test_tooling.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start processes come first: they take longest, and one of them at the end would leave other cores idle."""
    here = Path(__file__).parent
    items.sort(key=lambda item: item.path.relative_to(here).parts[0] not in _WHOLE_PROGRAMS)
