"""Several steps in one run: `tf.distribute.StrategyExtended.experimental_run_steps_on_iterator`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.distribute import contexts
from tfexp.distribute.values import copies_of, local_results, regroup
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array_identity import identity


class MultiStepContext:
    """What a function of a step tells of it, and what the whole run gives.

    run_op: the operation that runs all steps. last_step_outputs: {name: what the last step gave}; non_tensor_outputs.
    """

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._non_tensor_outputs: dict[str, Any] = {}
        self.run_op: Operation | None = None

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        return self._last_step_outputs

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        return self._non_tensor_outputs

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """The run gives `output` of its last step, or what the replicas' become by `reduce_op`, which a replica has to say.

        ValueError for a replica's output without `reduce_op`.
        """

        def keep(strategy: Any, value: Any) -> None:
            self._last_step_outputs[name] = value if reduce_op is None else strategy.reduce(reduce_op, value)

        if contexts.in_cross_replica_context():
            keep(contexts.get_strategy(), output)
        elif reduce_op is None:
            raise ValueError(f"A replica says how its output {name!r} is reduced: give `reduce_op`")
        else:
            contexts.get_replica_context().merge_call(keep, args=(output,))

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """The run gives `output`, which is known without running it."""

        def keep(strategy: Any, value: Any) -> None:
            self._non_tensor_outputs[name] = value

        if contexts.in_cross_replica_context():
            keep(contexts.get_strategy(), output)
        else:
            contexts.get_replica_context().merge_call(keep, args=(output,))


def run_steps(
    fn: Callable[[MultiStepContext, Any], Any], iterator: Any, iterations: int, initial_loop_values: Any
) -> MultiStepContext:
    """A loop of `iterations` times `fn(context, elements)`, in the context across the replicas."""
    context, initial = MultiStepContext(), nest.flatten({} if initial_loop_values is None else initial_loop_values)

    def step(number: Any, *_: Any) -> list[Any]:
        with control_dependencies([fn(context, iterator.get_next())]):
            last = [identity(part) for part in _parts(context._last_step_outputs)]
            return [number + 1, *last]

    count, *last = while_loop(
        lambda number, *_: number < iterations,
        step,
        [0, *initial],
        parallel_iterations=1,
        back_prop=False,
        name="",
        return_same_structure=True,
    )
    context.run_op = group(count, *last)
    found, given = iter(last), context._last_step_outputs

    def of_last_step(value: Any) -> Any:
        copies = copies_of(value)
        return next(found) if copies is None else regroup([next(found) for _ in copies])

    for name in sorted(given):
        given[name] = nest.map_structure(of_last_step, given[name])
    return context


def _parts(outputs: dict[str, Any]) -> list[Any]:
    """The tensors of the outputs, in the order of their names."""
    return [part for name in sorted(outputs) for value in nest.flatten(outputs[name]) for part in local_results(value)]
