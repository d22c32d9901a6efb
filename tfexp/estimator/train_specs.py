"""`tf.estimator.TrainSpec` and `EvalSpec`: what `train_and_evaluate` is to do. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tfexp.estimator.exporters import Exporter
from tfexp.train.saving_hooks import CheckpointSaverListener
from tfexp.train.session_hooks import SessionRunHook


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[SessionRunHook, ...]
    saving_listeners: tuple[CheckpointSaverListener, ...]


class TrainSpec(_TrainFields):
    """The arguments of `Estimator.train`: up to the global step `max_steps`, or until the input ends."""

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> TrainSpec:
        _check_function(input_fn)
        _check("max_steps", max_steps, least=1)
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks), tuple(saving_listeners or ()))


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[SessionRunHook, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """The arguments of `Estimator.evaluate`, what to export after it, and when.

    An evaluator waits `start_delay_secs` at first; between two evaluations are `throttle_secs` at least, and a new
    checkpoint. `exporters` have different names: ValueError.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        exporters: Exporter | Iterable[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_function(input_fn)
        _check("steps", steps, least=1)
        _check("start_delay_secs", start_delay_secs, least=0)
        _check("throttle_secs", throttle_secs, least=0)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        checked = _checked_exporters(exporters)
        return super().__new__(cls, input_fn, steps, name, _checked_hooks(hooks), checked, start_delay_secs, throttle_secs)


def _check_function(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _check(name: str, number: float | None, least: int) -> None:
    if number is not None and number < least:
        raise ValueError(f"Must specify {name} {'>' if least else '>='} 0, given: {number}")


def _checked_hooks(hooks: Iterable[SessionRunHook] | None) -> tuple[SessionRunHook, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return found


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    found = (exporters,) if isinstance(exporters, Exporter) else tuple(exporters or ())
    if not all(isinstance(one, Exporter) for one in found):
        raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
    names = [one.name for one in found]
    if not all(names):
        raise ValueError(f"An Exporter cannot have a name that is `None` or empty. All exporter names: {names}")
    if len(set(names)) < len(names):
        raise ValueError(f"`exporters` must have unique names. All exporter names: {names}")
    return found
