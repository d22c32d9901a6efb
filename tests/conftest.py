"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from absl import logging as absl_logging
from hypothesis.internal.conjecture import providers

from tfexp.ops import philox

# The same examples each time, however long they take beside other processes.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")
# Nor do they depend on what this process has imported so far: Hypothesis tries the constants that it finds in the source of
# all loaded modules, and reads these for a third of the time that the collection takes. It has no public switch for that.
providers._get_local_constants = lambda: providers._local_constants

# absl's handler takes the `sys.stderr` of its import, which in a test is pytest's, and closes it when a program that is run
# inside a test (Hydra's) sets up logging anew. The process's own it leaves open.
absl_logging.get_absl_handler().python_handler.stream = sys.__stderr__


def pytest_configure(config: pytest.Config) -> None:
    """Where no bytecode is to be kept, the hundreds of processes that tests start have it as long as the tests take.

    SIGINT interrupts, in these processes too, also where the tests run in the background of a shell, which ignores it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTHONPYCACHEPREFIX" not in os.environ and os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        root = Path(__file__).parent.parent
        before = set(root.rglob("__pycache__"))

        def tidy() -> None:
            for folder in set(root.rglob("__pycache__")) - before:
                shutil.rmtree(folder, ignore_errors=True)  # somebody else may be about to write there, or to tidy up

        config.add_cleanup(tidy)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a test leaves unseeded is drawn anew for each test, and the same each time."""
    source = random.Random(item.nodeid)
    philox.system_bytes = source.randbytes
    random.seed(source.random())
    np.random.seed(source.getrandbits(32))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The garbage collector leaves alone what collecting makes, which lives as long as the process, and looks less often at
    the rest: going through it again and again was a seventh of the suite's time.
    """
    gc.disable()
    try:
        collected = yield
        gc.collect()
        gc.freeze()
    finally:
        gc.enable()
    gc.set_threshold(10_000, 20, 20)
    return collected


@pytest.fixture
def only_new_garbage() -> None:
    """`gc.collect` looks at what is made from now on; at all that a process has by then, it looks for half a second."""
    gc.freeze()


_WHOLE_PROGRAMS = ("experiment", "contract", "chaos", "test_tooling.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start processes come first: they take longest, and one of them at the end would leave other cores idle."""
    here = Path(__file__).parent
    items.sort(key=lambda item: item.path.relative_to(here).parts[0] not in _WHOLE_PROGRAMS)
