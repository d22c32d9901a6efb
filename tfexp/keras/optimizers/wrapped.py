"""`tf.train`'s optimizers in the place of Keras's. Source: `tf.keras.optimizers.TFOptimizer`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.replica_modes import distributing
from tfexp.graph.scopes import name_scope
from tfexp.keras import backend
from tfexp.keras.optimizers.older import Optimizer
from tfexp.ops.trackable import NoDependency, Trackable
from tfexp.train.global_step import get_global_step


class TFOptimizer(Optimizer, Trackable):
    """`optimizer`, a `tf.train.Optimizer`, which counts its steps in `iterations`.

    It has no configuration, and its variables are not Keras's to set: NotImplementedError.
    """

    def __init__(self, optimizer: Any, iterations: Any = None):
        self.optimizer = optimizer
        if iterations is None:
            with name_scope(type(self).__name__):
                iterations = backend.variable(0, dtype="int64", name="iterations")
        self.iterations: Any = NoDependency(iterations)
        self._track_trackable(iterations, "global_step")  # as checkpoints call it
        self.updates: list[Any] = []
        backend.track_tf_optimizer(self)

    def minimize(self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None) -> Any:
        """The op that takes one step against the gradient of `loss()`, a function without arguments."""
        pairs = self.optimizer.compute_gradients(loss, var_list, grad_loss=grad_loss)
        return self.optimizer.apply_gradients(pairs, global_step=self.iterations, name=name)

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """The op that applies [(gradient or None, variable), …] and counts the step."""
        return self.optimizer.apply_gradients(grads_and_vars, global_step=self.iterations, name=name)

    def get_grads(self, loss: Any, params: Any) -> list[tuple[Any, Any]]:
        """[(gradient or None, variable), …]."""
        return list(self.optimizer.compute_gradients(loss, params))

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients alone."""
        return [gradient for gradient, _ in self.get_grads(loss, params)]

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """[the op that takes one step]; without parameters it only counts."""
        if not params and distributing() is None:
            self.updates = [self.iterations.assign_add(1)]
            return self.updates
        step = get_global_step() if distributing() is not None else self.iterations
        pairs = self.get_grads(loss, params or None)
        self.updates = [self.optimizer.apply_gradients(pairs, global_step=step)]
        return self.updates

    @property
    def weights(self) -> list[Any]:
        raise NotImplementedError("A `tf.train` optimizer does not hand out its variables as Keras's do")

    def get_weights(self) -> list[Any]:
        return self.weights

    def set_weights(self, weights: Any) -> None:
        raise NotImplementedError("A `tf.train` optimizer does not take its variables' values as Keras's do")

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("A `tf.train` optimizer has no configuration")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        raise NotImplementedError("A `tf.train` optimizer has no configuration")
