"""A model function with its settings, called on its input in a graph that is made for it. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tfexp.core.log import get_logger
from tfexp.data.dataset import Dataset
from tfexp.data.iterator import make_initializable_iterator
from tfexp.estimator.arguments import argument_names, call_with_wanted, unexpected
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.graph import Graph
from tfexp.graph.random_seed import set_random_seed
from tfexp.graph.scopes import device
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.global_step import global_step_read
from tfexp.train.session_hooks import SessionRunHook

_log = get_logger()
_ARGUMENTS = ("features", "labels", "mode", "params", "config")


class Input(NamedTuple):
    """What an input function gives, and the hooks that it takes to have it."""

    features: Any
    labels: Any
    hooks: tuple[SessionRunHook, ...]


@dataclass(frozen=True)
class Model:
    """A model function, and what it gets beside features, labels and mode. `make_step` makes the global step of a graph.

    ValueError for a function that takes no `features`, takes other arguments than these, or no `params` that are given.
    """

    function: Callable[..., Any]
    params: Mapping[str, Any]
    config: RunConfig
    make_step: Callable[[Graph], Any]

    def __post_init__(self) -> None:
        if "features" not in argument_names(self.function):
            raise ValueError(f"model_fn ({self.function}) must include features argument.")
        if self.params and "params" not in argument_names(self.function):
            raise ValueError(
                f"model_fn ({self.function}) does not include params argument, but params ({self.params}) is passed to "
                "Estimator."
            )
        strange = unexpected(self.function, _ARGUMENTS)
        if strange:
            raise ValueError(f"model_fn ({self.function}) has following not expected args: {strange}")

    @contextlib.contextmanager
    def graph(
        self,
        device_fn: Callable[[Any], str] | None = None,
        scope: contextlib.AbstractContextManager[None] | None = None,
    ) -> Iterator[Graph]:
        """A new default graph with the seed and a global step; `device_fn` places its nodes, `scope` is around them."""
        with Graph().as_default() as graph, graph.device(device_fn), scope or contextlib.nullcontext():
            set_random_seed(self.config.tf_random_seed)
            self.begin(graph)
            yield graph

    def begin(self, graph: Graph) -> None:
        """What there is before the input."""
        self.make_step(graph)
        global_step_read()

    def input(self, input_fn: Callable[..., Any], mode: str) -> Input:
        """What `input_fn` gives in this mode: a Dataset or a pair, or features alone. ValueError for a longer tuple."""
        self.check_input(input_fn)
        settings = {"mode": mode, "params": self.params, "config": self.config, "input_context": None}
        with device("/cpu:0"):
            return input_parts(call_with_wanted(input_fn, **settings), input_fn)

    def check_input(self, input_fn: Callable[..., Any]) -> None:
        """TypeError for what is no function, ValueError for one with arguments that nobody has for it."""
        if not callable(input_fn):
            raise TypeError(f"input_fn must be a function, given: {input_fn!r}")
        strange = unexpected(input_fn, ("mode", "params", "config", "input_context"))
        if strange:
            raise ValueError(
                f"input_fn ({input_fn}) may take mode, params, config and input_context, and it wants {', '.join(strange)}"
            )

    def spec(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """What the function builds in the default graph. ValueError where that is no EstimatorSpec."""
        wanted = argument_names(self.function)
        if labels is not None and "labels" not in wanted:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        _log.info("Calling model_fn.")
        spec = call_with_wanted(
            self.function, features=features, labels=labels, mode=mode, params=self.params, config=self.config
        )
        _log.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError(f"model_fn should return an EstimatorSpec. Given: {spec!r}")
        return spec


def input_parts(given: Any, input_fn: Callable[..., Any]) -> Input:
    """What `input_fn` has given: of a Dataset its next element. ValueError for None, and for a tuple that is no pair."""
    if given is None:
        raise ValueError(f"input_fn ({input_fn}) gave None: it has to return features, or (features, labels)")
    return given_parts(given)


def given_parts(given: Any) -> Input:
    """The parts of an input, of a Dataset those of its next element. ValueError for a tuple that is no pair."""
    if isinstance(given, Dataset):
        iterator = make_initializable_iterator(given)
        return split_input(iterator.get_next(), (IteratorStart(iterator),))
    return split_input(given, ())


def split_input(given: Any, hooks: tuple[SessionRunHook, ...]) -> Input:
    """A pair of features and labels in its parts, or features alone. ValueError for a tuple that is no pair."""
    if isinstance(given, list | tuple) and not hasattr(given, "_fields"):
        if len(given) != 2:
            raise ValueError(f"input_fn should return (features, labels) as a len 2 tuple. It gave {len(given)} elements.")
        return Input(given[0], given[1], hooks)
    return Input(given, None, hooks)


class IteratorStart(SessionRunHook):
    """Begins a data set in every new session."""

    def __init__(self, iterator: Any):
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        session.run(self._initializer)
