"""`keras_parameterized` and `testing_utils` of `tensorflow.python.keras`: tests of Keras in each mode. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from absl.testing import parameterized

from tfexp.graph.scopes import get_default_graph
from tfexp.runtime.eager import eager_mode
from tfexp.runtime.test_modes import for_all_test_methods
from tfexp.runtime.testing import TestCase as GraphTestCase

_thread_local_data = threading.local()
_thread_local_data.run_eagerly = None


class TestCase(GraphTestCase, parameterized.TestCase):
    """A test case whose methods may have absl's parameters."""


@contextlib.contextmanager
def run_eagerly_scope(value: bool) -> Iterator[None]:
    """What `should_run_eagerly` says in the block."""
    before = _thread_local_data.run_eagerly
    _thread_local_data.run_eagerly = value
    try:
        yield
    finally:
        _thread_local_data.run_eagerly = before


def should_run_eagerly() -> bool:
    """Whether the test should compile its models with `run_eagerly=True`. ValueError outside of a mode."""
    if _thread_local_data.run_eagerly is None:
        raise ValueError("should_run_eagerly is for tests below run_all_keras_modes or in a run_eagerly_scope")
    return bool(_thread_local_data.run_eagerly)


def run_all_keras_modes(
    test_or_class: Any = None, config: Any = None, always_skip_v1: bool = False, always_skip_eager: bool = False
) -> Any:
    """The test, or each of the class, runs in a session, then eagerly with models that are functions, then all eagerly."""

    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            if not always_skip_v1:
                with self.test_session(graph=get_default_graph(), config=config), run_eagerly_scope(False):
                    method(self, *args, **kwargs)
            for run_eagerly in (False,) if always_skip_eager else (False, True):
                with eager_mode(), run_eagerly_scope(run_eagerly):
                    self.tearDown()
                    self.reset()
                    self.setUp()
                    method(self, *args, **kwargs)

        return run

    def decorate(given: Any) -> Any:
        return for_all_test_methods(lambda: wrap)(given) if isinstance(given, type) else wrap(given)

    return decorate if test_or_class is None else decorate(test_or_class)


Split = tuple[np.ndarray, np.ndarray]


def get_test_data(
    train_samples: int, test_samples: int, input_shape: tuple[int, ...], num_classes: int, random_seed: int | None = None
) -> tuple[Split, Split]:
    """Noisy copies of one random template per class, float32, and their labels: those to train with, those to test with."""
    if random_seed is not None:
        np.random.seed(random_seed)
    samples = train_samples + test_samples
    templates = 2 * num_classes * np.random.random((num_classes, *input_shape))
    y = np.random.randint(0, num_classes, size=(samples,))
    x = (templates[y] + np.random.normal(size=(samples, *input_shape))).astype(np.float32)
    return (x[:train_samples], y[:train_samples]), (x[train_samples:], y[train_samples:])
