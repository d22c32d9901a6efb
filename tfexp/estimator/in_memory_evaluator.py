"""`tf.estimator.experimental.InMemoryEvaluatorHook`: evaluations within the training, without a checkpoint. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.estimator import evaluating, replicas
from tfexp.estimator.estimator import Estimator
from tfexp.ops.variable_lists import global_variables
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_hooks import SessionRunContext, SessionRunHook, SessionRunValues
from tfexp.train.step_timer import SecondOrStepTimer


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates when the training begins, every `every_n_iter` steps, and at its end; as `Estimator.evaluate`.

    The variables of the evaluation get the values that those of the training have: ValueError where one has no
    counterpart. Only for a process that is alone: there is no evaluating a part of a cluster.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluatorHook supports only single machine (aka Local) setting.")
        self._estimator, self._input_fn = estimator, input_fn
        self._steps, self._hooks, self._name = steps, list(hooks or ()), name
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        self._timer.reset()
        self._count = 0
        self._trained = {variable.op.name: variable for variable in global_variables()}

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        self._timer.update_last_triggered_step(self._count)
        self._evaluate(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._count += 1
        if self._timer.should_trigger_for_step(self._count):
            self._timer.update_last_triggered_step(self._count)
            self._evaluate(run_context.session)

    def end(self, session: Session) -> None:
        self._evaluate(session)

    def _evaluate(self, session: Session) -> None:
        values = session.run(self._trained)
        model = self._estimator._model
        with model.graph(scope=replicas.scope(model.config.eval_distribute)):
            evaluation = evaluating.build(model, self._input_fn)
            scaffold = Scaffold(copy_from_scaffold=evaluation.scaffold, init_fn=_loader(values))
            folder = self._estimator.eval_dir(self._name)
            evaluating.run(evaluation, model, None, folder, self._steps, self._hooks, scaffold)


def _loader(values: Mapping[str, Any]) -> Callable[[Scaffold, Session], None]:
    """What gives the default graph's variables these values."""

    def load(scaffold: Scaffold, session: Session) -> None:
        for variable in global_variables():
            if variable.op.name not in values:
                raise ValueError(f"The evaluation has a variable that the training does not have: {variable.op.name}")
            variable.load(values[variable.op.name], session)

    return load
