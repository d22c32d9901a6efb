"""`Metric`: a number that adds up over batches, in variables. Source: `tf.keras.metrics.Metric`, TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.autograph.conversion import convert
from tfexp.core import dtypes, nest
from tfexp.functions.function import function
from tfexp.graph.operation import Operation
from tfexp.graph.replica_modes import across_replicas
from tfexp.graph.scopes import control_dependencies, executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.dependencies import is_symbolic
from tfexp.ops.array_identity import identity
from tfexp.ops.variable_base import VariableAggregation, VariableSynchronization


class Metric(Layer):
    """Subclasses make variables in `__init__` (`add_weight`), take batches in `update_state`, and say `result()`.

    In a graph `update_state` gives an op, which is among `updates`, and calling the metric gives the result after that op.
    What `update_state` of a class outside of this package does to variables is done in any case, whatever it returns. Of a
    strategy's replicas each one adds up its own batches, and the result is that of all.
    """

    _object_identifier = "_tf_keras_metric"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        # Around what the class itself defines: methods of base classes that these call are left as they are.
        vars(made)["update_state"] = _Update(made)
        vars(made)["result"] = _Result(made)
        return made

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=backend.floatx() if dtype is None else dtype, **kwargs)
        self.stateful = True
        self.built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Take a batch; the result with it."""
        with _graph_of((args, kwargs)):
            update = self.update_state(*args, **kwargs)
            with control_dependencies([] if update is None or executing_eagerly() else [update]):
                result = self.result()
        if isinstance(result, Tensor):
            result._metric_obj = self  # type: ignore[attr-defined]
        return result

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Take a batch: the op that adds it to the variables."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self) -> Any:
        """The number, of all batches since the last reset."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def reset_states(self) -> None:
        """All variables become 0."""
        backend.batch_set_value([(variable, np.zeros(variable.shape.as_list())) for variable in self.variables])

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Any = (),
        aggregation: VariableAggregation = VariableAggregation.SUM,
        synchronization: VariableSynchronization = VariableSynchronization.ON_READ,
        initializer: Any = None,
        dtype: Any = None,
    ) -> Any:
        """A variable that is not trained, in no collection, by default a scalar."""
        return super().add_weight(
            name=name,
            shape=shape,
            dtype=self._dtype if dtype is None else dtypes.as_dtype(dtype),
            trainable=False,
            initializer=initializer,
            collections=[],
            synchronization=synchronization,
            aggregation=aggregation,
        )

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype}

    # Copies are wrapped anew: they have methods of their own.

    def __reduce_ex__(self, protocol: Any) -> Any:
        state = {key: value for key, value in vars(self).items() if key not in ("update_state", "result")}
        return type(self).__new__, (type(self),), state


def _graph_of(values: Any) -> Any:
    """In eager execution, the graph of symbolic tensors if there are any among the values; else where we are."""
    symbolic = any(is_symbolic(leaf) for leaf in nest.flatten(values, expand_composites=True))
    return backend.get_graph().as_default() if symbolic and get_default_graph().is_eager else contextlib.nullcontext()


class _Update:
    """A metric's `update_state`, which keeps the op among the metric's updates."""

    def __init__(self, metric: Metric):
        self._metric = metric
        self._function: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with _graph_of((args, kwargs)):
            update = self._own()(*args, **kwargs)
            if update is not None:
                self._metric.add_update(update)
        return update

    def _own(self) -> Callable[..., Any]:
        own = type(self._metric).update_state.__get__(self._metric)
        graph = get_default_graph()
        if own.__module__.startswith("tfexp.keras.") or graph.is_eager or graph.building_function:
            return own
        # As a function: all that it does to variables is done, and in that order.
        if self._function is None:
            converted = convert(own)

            def update(*args: Any, **kwargs: Any) -> Any:
                made = converted(*args, **kwargs)
                return None if isinstance(made, Operation) else made  # the function itself is the op that does it

            self._function = function(update, autograph=False)
        return self._function


class _Result:
    """A metric's `result`, of all replicas."""

    def __init__(self, metric: Metric):
        self._metric = metric

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = type(self._metric).result.__get__(self._metric)
        value = across_replicas(lambda: own(*args, **kwargs))
        if isinstance(value, dict):
            return {key: identity(one) for key, one in value.items()}
        return identity(value)
