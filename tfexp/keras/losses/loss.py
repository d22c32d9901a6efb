"""`Loss`: a function of targets, predictions and weights that gives one number. Source: `tf.keras.losses.Loss`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from tfexp.graph.replica_modes import distributing
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.losses.weighted import Reduction, compute_weighted_loss
from tfexp.ops.variable_base import Variable


class Loss:
    """Subclasses define `call(y_true, y_pred)`, the losses of the examples. ValueError for an unknown reduction."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None):
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name
        # Training loops of Keras's own divide by the number of replicas themselves.
        self._allow_sum_over_batch_size = False

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The reduced loss; `sample_weight`: a scalar, or a weight for each example or element."""
        scope = "lambda" if self.name == "<lambda>" else self.name
        with name_scope(scope or type(self).__name__):
            losses = self.call(y_true, y_pred)
            return compute_weighted_loss(losses, sample_weight, reduction=self._get_reduction())

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The losses of the examples."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        """The arguments of an equal one."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        return cls(**config)

    def _get_reduction(self) -> str:
        means = self.reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE)
        if means and not self._allow_sum_over_batch_size and distributing() is not None:
            raise ValueError(
                "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction when "
                "losses are used with `tf.distribute.Strategy` outside of the built-in training loops. You can implement "
                "`tf.keras.losses.Reduction.SUM_OVER_BATCH_SIZE` using global batch size like: `loss = tf.reduce_sum("
                "losses) * (1. / global_batch_size)`"
            )
        return Reduction.SUM_OVER_BATCH_SIZE if self.reduction == Reduction.AUTO else self.reduction


class LossFunctionWrapper(Loss):
    """The loss of a function `fn(y_true, y_pred, **kwargs)`."""

    def __init__(self, fn: Callable[..., Any], reduction: str = Reduction.AUTO, name: str | None = None, **kwargs: Any):
        super().__init__(reduction=reduction, name=name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **values_of(self._fn_kwargs)}


def values_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as a configuration has them: of tensors and variables the values."""
    return {name: backend.eval(one) if isinstance(one, (Tensor, Variable)) else one for name, one in arguments.items()}
