"""`tf.estimator.tpu.TPUEstimatorSpec`: what the model function of a TPUEstimator gives back. Source: TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tfexp.estimator.export_outputs import ExportOutput
from tfexp.estimator.spec import EstimatorSpec, checked_hooks
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook

HostCall = tuple[Callable[..., Any], Sequence[Any] | Mapping[str, Any]]


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: HostCall | None
    export_outputs: Mapping[str, ExportOutput] | None
    scaffold_fn: Callable[[], Scaffold] | None
    host_call: HostCall | None
    training_hooks: tuple[SessionRunHook, ...]
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class TPUEstimatorSpec(_Fields):
    """An EstimatorSpec whose metrics and scaffold are functions, so that they can be made apart from the model.

    `eval_metrics` is (function, tensors): the function takes the tensors, by position or by name, and gives what
    `EstimatorSpec.eval_metric_ops` takes. `host_call` is the like for what a step also runs, such as summaries.
    `scaffold_fn()` gives a Scaffold. TypeError for a function that cannot be called or hooks that are none, ValueError for
    something else than such a pair, RuntimeError where function and tensors do not fit.
    """

    __slots__ = ()

    def __new__(  # the fields are checked before there is an instance
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: HostCall | None = None,
        export_outputs: Mapping[str, ExportOutput] | None = None,
        scaffold_fn: Callable[[], Scaffold] | None = None,
        host_call: HostCall | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> TPUEstimatorSpec:
        _check_call("eval_metrics", eval_metrics)
        _check_call("host_call", host_call)
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            eval_metrics,
            export_outputs,
            scaffold_fn,
            host_call,
            checked_hooks(training_hooks),
            checked_hooks(evaluation_hooks),
            checked_hooks(prediction_hooks),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The EstimatorSpec with the same meaning on the CPU. ValueError as that says."""
        every_step: tuple[SessionRunHook, ...] = ()
        if self.host_call is not None:
            every_step = (_BesideStep(_called(self.host_call)),)
        return EstimatorSpec(
            self.mode,
            self.predictions,
            self.loss,
            self.train_op,
            eval_metric_ops=None if self.eval_metrics is None else _called(self.eval_metrics),
            export_outputs=self.export_outputs,
            training_hooks=self.training_hooks + every_step,
            scaffold=None if self.scaffold_fn is None else self.scaffold_fn(),
            evaluation_hooks=self.evaluation_hooks + every_step,
            prediction_hooks=self.prediction_hooks + every_step,
        )


class _BesideStep(SessionRunHook):
    """Runs something with every step."""

    def __init__(self, fetches: Any):
        self._fetches = fetches

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._fetches)


def _called(call: HostCall) -> Any:
    function, tensors = call
    return function(**tensors) if isinstance(tensors, Mapping) else function(*tensors)


def _check_call(name: str, call: Any) -> None:
    if call is None:
        return
    if not isinstance(call, list | tuple):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements: a function and its tensors. It has {len(call)}.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, list | tuple | Mapping):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    given = ((), tensors) if isinstance(tensors, Mapping) else (tensors, {})
    try:
        inspect.signature(function).bind(*given[0], **given[1])
    except TypeError as error:
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, the {len(tensors)} tensors do not match the arguments of the function: {error}"
        ) from error
