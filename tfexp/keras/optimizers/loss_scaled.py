"""Keras's optimizers with a loss scale. Source: `tf.keras.mixed_precision.experimental.LossScaleOptimizer`, TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from tfexp.graph.replica_modes import distributing
from tfexp.graph.scopes import init_scope, name_scope
from tfexp.keras import backend
from tfexp.keras.optimizers.optimizer import Optimizer
from tfexp.ops.cast import cast
from tfexp.train.loss_scale import LossScale, apply_where_finite, as_loss_scale, loss_scale_of_config, unscaled


class LossScaleOptimizer(Optimizer):
    """Another optimizer's steps, on a loss that is scaled and gradients that are scaled back.

    loss_scale: a `tf.train.experimental.LossScale`, a number or "dynamic". A step whose gradients are not finite is left
    out where the loss scale says so. ValueError for what is no optimizer of Keras's, and for one that clips gradients.
    """

    _says_what_is_new = False  # the other one does

    def __init__(self, opt: Any, loss_scale: Any):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of tf.keras.optimizers.Optimizer, but got: {opt!r}')
        for option in ("clipnorm", "clipvalue"):
            if hasattr(opt, option):
                raise ValueError(
                    f"LossScaleOptimizer does not support wrapping optimizers with a {option}. Optimizer {opt} has "
                    f"{option} {getattr(opt, option)}"
                )
        super().__init__(opt._name)
        self._hyper = opt._hyper  # `lr` and the like are the other one's
        self._optimizer = opt
        self._loss_scale = as_loss_scale(loss_scale)
        for variable in self._loss_scale.weights:
            backend.track_variable(variable)

    @property
    def loss_scale(self) -> LossScale:
        return self._loss_scale

    # --- a step ---------------------------------------------------------------------------------------------------------

    def get_scaled_loss(self, loss: Any) -> Any:
        """The loss times the scale; of a function without arguments such a function."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * cast(self._loss_scale(), loss.dtype)

    def get_unscaled_gradients(self, grads: Any) -> list[Any]:
        """Gradients of the scaled loss as those of the loss itself; None stays."""
        return unscaled(self._loss_scale, grads)

    def _compute_gradients(self, loss: Any, var_list: Any, grad_loss: Any = None) -> list[tuple[Any, Any]]:
        found = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        back = self.get_unscaled_gradients([grad for grad, _ in found])
        return [(grad, variable) for grad, (_, variable) in zip(back, found, strict=True)]

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        return self.get_unscaled_gradients(self._optimizer.get_gradients(self.get_scaled_loss(loss), params))

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], name: str | None = None) -> Any:
        pairs = list(grads_and_vars)
        mode = distributing()
        if mode is not None and mode.replica is not None:
            return mode.replica.merge_call(self._distributed_apply, args=(pairs,), kwargs={"name": name})
        with name_scope(self._optimizer._name), init_scope():  # what the step needs is not made inside a condition
            self._create_all_weights([variable for grad, variable in pairs if grad is not None])
        grads = [grad for grad, _ in pairs]
        return apply_where_finite(self._loss_scale, grads, lambda: self._optimizer.apply_gradients(pairs, name))

    def _distributed_apply(self, distribution: Any, grads_and_vars: Any, name: str | None) -> Any:
        """A step of all replicas, left out where the gradients of one are not finite."""
        each = [part for grad, _ in grads_and_vars for part in distribution.experimental_local_results(grad)]
        with name_scope(self._optimizer._name), init_scope():
            self._create_all_weights([variable for _, variable in grads_and_vars])

        def apply() -> Any:
            step = self._optimizer.apply_gradients
            return distribution.group(distribution.extended.call_for_each_replica(step, args=(grads_and_vars, name)))

        return apply_where_finite(self._loss_scale, each, apply)

    # --- what the other one has -----------------------------------------------------------------------------------------

    def _create_all_weights(self, var_list: list[Any]) -> None:
        self._optimizer._create_all_weights(var_list)

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        return self._optimizer._get_hyper(name, dtype)

    def _set_hyper(self, name: str, value: Any) -> None:
        self._optimizer._set_hyper(name, value)

    @property
    def iterations(self) -> Any:
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self._optimizer.iterations = variable

    @property
    def weights(self) -> list[Any]:
        return self._optimizer.weights

    def variables(self) -> list[Any]:
        return self._optimizer.variables()

    def get_slot(self, var: Any, slot_name: str) -> Any:
        return self._optimizer.get_slot(var, slot_name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        scale = zip(("current_loss_scale", "good_steps"), self._loss_scale.weights, strict=False)
        return [*self._optimizer._checkpoint_children(), *scale]

    def _checkpoint_slots(self, variable: Any) -> list[tuple[str, Any]]:
        return self._optimizer._checkpoint_slots(variable)

    # --- configuration --------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        from tfexp.keras.optimizers import serialize

        scale = {"class_name": type(self._loss_scale).__name__, "config": self._loss_scale.get_config()}
        return {"optimizer": serialize(self._optimizer), "loss_scale": scale}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Self:
        from tfexp.keras.optimizers import deserialize

        return cls(deserialize(config["optimizer"], custom_objects), loss_scale_of_config(config["loss_scale"]))
