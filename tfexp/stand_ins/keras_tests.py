"""`keras_parameterized` and `testing_utils` of `tensorflow.python.keras`: tests of Keras in each mode. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from absl.testing import parameterized

from tfexp.core import nest
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.keras import backend
from tfexp.keras.optimizers.adagrad import Adadelta, Adagrad
from tfexp.keras.optimizers.adam import Adam, Adamax
from tfexp.keras.optimizers.gradient_descent import SGD
from tfexp.keras.optimizers.nadam import Nadam
from tfexp.keras.optimizers.rmsprop import RMSprop
from tfexp.runtime.eager import eager_mode
from tfexp.runtime.testing import TestCase as GraphTestCase
from tfexp.stand_ins.keras_test_models import MODEL_TYPES, model_type_scope, setting, with_setting


class TestCase(GraphTestCase, parameterized.TestCase):
    """A test case whose methods may have absl's parameters; what Keras remembers is forgotten after each."""

    def tearDown(self) -> None:
        backend.clear_session()
        super().tearDown()


def run_eagerly_scope(value: bool) -> contextlib.AbstractContextManager[bool]:
    """What `should_run_eagerly` says in the block, in eager execution."""
    return with_setting("run_eagerly", value)


def experimental_run_tf_function_scope(value: bool) -> contextlib.AbstractContextManager[bool]:
    """What `should_run_tf_function` says in the block, in eager execution."""
    return with_setting("run_tf_function", value)


def asked_to_run_eagerly() -> bool | None:
    """What the `run_eagerly_scope` says; None outside of one."""
    asked: bool | None = setting("run_eagerly")
    return asked


def should_run_eagerly() -> bool:
    """Whether the test should compile its models with `run_eagerly=True`. ValueError outside of a mode."""
    asked = asked_to_run_eagerly()
    if asked is None:
        raise ValueError("should_run_eagerly is for tests below run_all_keras_modes or in a run_eagerly_scope")
    return asked and executing_eagerly()


def should_run_tf_function() -> bool:
    """Whether the test should compile with `experimental_run_tf_function=True`. ValueError outside of a mode."""
    asked = setting("run_tf_function")
    if asked is None:
        raise ValueError(
            "should_run_tf_function is for tests below run_all_keras_modes or in an experimental_run_tf_function_scope"
        )
    return bool(asked) and executing_eagerly()


def run_all_keras_modes(
    test_or_class: Any = None, config: Any = None, always_skip_v1: bool = False, always_skip_eager: bool = False
) -> Any:
    """The test, or each of the class, once in a session, and once in each of three modes that are eager.

    There models are functions, or the graphs that `compile` makes, or all runs eagerly.
    """

    @contextlib.contextmanager
    def in_mode(test: Any, mode: str) -> Iterator[None]:
        session = mode == "v1_session"
        around = test.test_session(graph=get_default_graph(), config=config) if session else eager_mode()
        functions = mode in ("v2_function", "v2_eager")
        with around, run_eagerly_scope(mode == "v2_eager"), experimental_run_tf_function_scope(functions):
            yield

    modes = [
        "v2_function",
        "v2_funcgraph",
        *([] if always_skip_eager else ["v2_eager"]),
        *([] if always_skip_v1 else ["v1_session"]),
    ]
    return _for_each(modes, in_mode, test_or_class)


def run_with_all_model_types(test_or_class: Any = None, exclude_models: Any = None) -> Any:
    """The test, or each of the class, once for each kind of model that `testing_utils` makes."""
    kinds = [kind for kind in MODEL_TYPES if kind not in nest.flatten(exclude_models)]
    return _for_each(kinds, lambda _, kind: model_type_scope(kind), test_or_class)


def _for_each(
    settings: Sequence[str], around: Callable[[Any, str], contextlib.AbstractContextManager[Any]], test_or_class: Any
) -> Any:
    """A test of its own for each setting, named by it, in what `around` gives for the test case and the setting."""

    def under(setting: str | None, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            chosen, rest = (args[0], args[1:]) if setting is None else (setting, args)
            with around(self, chosen):
                method(self, *rest, **kwargs)

        return run

    def decorate(given: Any) -> Any:
        if isinstance(given, type):
            tests = [(name, one) for name, one in vars(given).items() if name.startswith("test") and callable(one)]
            for name, method in tests:
                delattr(given, name)
                for setting in settings:
                    setattr(given, f"{name}_{setting}", under(setting, method))
            return given
        if isinstance(given, Iterable):  # what absl's decorators made of a method
            return itertools.chain.from_iterable(decorate(one) for one in given)
        return parameterized.named_parameters(*((f"_{setting}", setting) for setting in settings))(under(None, given))

    return decorate if test_or_class is None else decorate(test_or_class)


_OPTIMIZERS = {
    "adadelta": Adadelta,
    "adagrad": Adagrad,
    "adam": Adam,
    "adamax": Adamax,
    "nadam": Nadam,
    "rmsprop": RMSprop,
    "sgd": SGD,
}


def get_v2_optimizer(name: str, **kwargs: Any) -> Any:
    """One of Keras's own optimizers. ValueError for another name."""
    if name not in _OPTIMIZERS:
        raise ValueError(f"Could not find requested v2 optimizer: {name}. Valid choices: {sorted(_OPTIMIZERS)}")
    return _OPTIMIZERS[name](**kwargs)


def get_expected_metric_variable_names(var_names: Sequence[str], name_suffix: str = "") -> list[str]:
    """What variables of metrics are called: those of graphs with the suffix that makes them unique."""
    suffix = "" if executing_eagerly() else name_suffix
    return [f"{name}{suffix}:0" for name in var_names]


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
