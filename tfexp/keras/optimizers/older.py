"""Optimizers that update variables by Keras's own functions, as they were before `tf.keras.optimizers` had its own slots.

`tensorflow.python.keras.optimizers` has them, and programs derive optimizers of their own from their base class: such an
optimizer gives the updates of a step (`get_updates`) and keeps what it remembers in `weights`. Source: TF 1.15.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, executing_eagerly
from tfexp.keras import backend
from tfexp.ops.array_identity import identity
from tfexp.ops.check_types import is_tensor
from tfexp.ops.clip import clip_by_norm, clip_by_value

_KEYWORDS = ("clipnorm", "clipvalue")


class Optimizer:
    """Base class. kwargs: `clipnorm` (the largest norm of each gradient), `clipvalue` (the largest absolute value of their
    elements); TypeError for others, ValueError for those below zero."""

    clipnorm: float
    clipvalue: float
    weights: Any

    def __init__(self, **kwargs: Any):
        for key, value in kwargs.items():
            if key not in _KEYWORDS:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self.__dict__.update(kwargs)
        self.updates: list[Any] = []
        self.weights = []

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The ops that take one step against the gradient of a tensor in a graph."""
        raise NotImplementedError

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of a tensor in a graph, clipped. ValueError for a parameter that the loss does not depend on."""
        found = backend.gradients(loss, params)
        if None in found:
            raise ValueError(
                "An operation has `None` for gradient. Please make sure that all of your ops have a gradient defined (i.e. "
                "are differentiable). Common ops without gradient: K.argmax, K.round, K.eval."
            )
        return self._clipped(found)

    def _clipped(self, grads: Sequence[Any]) -> list[Any]:
        clipped = list(grads)
        if (norm := getattr(self, "clipnorm", None)) is not None:
            clipped = [clip_by_norm(g, norm) for g in clipped]
        if (value := getattr(self, "clipvalue", None)) is not None:
            clipped = [clip_by_value(g, -value, value) for g in clipped]
        return clipped

    def get_weights(self) -> list[Any]:
        """The values of `weights`."""
        return list(backend.batch_get_value(self.weights))

    def set_weights(self, weights: Any) -> None:
        """Give `weights` these values. ValueError for another number of them, or other shapes."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"Length of the specified weight list ({len(weights)}) does not match the number of weights of the "
                f"optimizer ({len(own)})"
            )
        for value, now in zip(weights, backend.batch_get_value(own), strict=True):
            if now.shape != value.shape:
                raise ValueError(
                    f"Optimizer weight shape {now.shape} not compatible with provided weight shape {value.shape}"
                )
        backend.batch_set_value(list(zip(own, weights, strict=True)))

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes such an optimizer of, without the values of its variables."""
        return {key: getattr(self, key) for key in _KEYWORDS if hasattr(self, key)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """An optimizer as `get_config` describes it."""
        return cls(**config)


class _Rule(Optimizer):
    """One that moves each variable by itself: by its value, its gradient and what is kept beside it (`_moved`).

    variables: hyperparameters that are variables, by names; the rate of step t is divided by 1 + decay * t.
    """

    # The hyperparameters of the configuration, in order.
    _described: tuple[str, ...]
    # How many values are kept beside each variable, and whether the count of steps is among the weights.
    _kept = 2
    _weighs_count = True
    lr: Any
    decay: Any

    def __init__(self, variables: Mapping[str, float], **kwargs: Any):
        super().__init__(**kwargs)
        with backend.name_scope(type(self).__name__):
            self.iterations = backend.variable(0, dtype="int64", name="iterations")
            for name, value in variables.items():
                setattr(self, name, backend.variable(value, name=name))
        self.initial_decay = variables.get("decay", 0.0)
        self._slots: list[list[Any]] = []

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        grads = self.get_gradients(loss, params)
        self._make_slots(params)
        return self._step(grads, params)

    def apply_gradients(self, grads_and_vars: Any) -> None:
        """A step at once, of [(gradient or None, variable), …]: eager execution has no tensor to take gradients of."""
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        params = [variable for _, variable in pairs]
        if not self._slots:
            self._make_slots(params)
        self._step(self._clipped([grad for grad, _ in pairs]), params)

    def _make_slots(self, params: Sequence[Any]) -> None:
        self._slots = [[self._slot(kind, p) for p in params] for kind in range(self._kept)]
        self.weights = [*([self.iterations] if self._weighs_count else ()), *itertools.chain(*self._slots)]

    def _slot(self, kind: int, variable: Any) -> Any:
        return backend.zeros(backend.int_shape(variable), dtype=backend.dtype(variable))

    def _step(self, grads: Sequence[Any], params: Sequence[Any]) -> list[Any]:
        # Read before they are assigned: the count here, and what is kept as it goes into the new value.
        count = identity(self.iterations)
        with control_dependencies([] if executing_eagerly() else [count]):
            self.updates = [backend.update_add(self.iterations, 1)]
        time = backend.cast(count + 1, backend.floatx())
        rate: Any = convert_to_tensor(self.lr)
        if self.initial_decay > 0:
            rate = rate / (1.0 + self.decay * time)  # 1.15 leaves it to chance whether this step counts; mostly it does
        constants = self._constants(rate, time)
        for variable, grad, *slots in zip(params, grads, *self._slots, strict=True):
            kept = [convert_to_tensor(slot) for slot in slots]
            new, *news = self._moved(convert_to_tensor(variable), convert_to_tensor(grad), kept, *constants)
            self.updates += [backend.update(slot, value) for slot, value in zip(slots, news, strict=False)]
            constraint = getattr(variable, "constraint", None)
            self.updates.append(backend.update(variable, new if constraint is None else constraint(new)))
        return self.updates

    def _constants(self, rate: Any, time: Any) -> tuple[Any, ...]:
        """What is the same for all variables in a step: the rate, and what comes of the number of the step, from 1 on."""
        return (rate,)

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        """The variable's new value, and the new ones of what is kept."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self._described}
        return {**super().get_config(), **{name: _plain(value) for name, value in values.items()}}


def _plain(value: Any) -> Any:
    return float(backend.get_value(value)) if is_tensor(value) else value


class SGD(_Rule):
    """v := momentum * v - lr * g;  x += v, or with `nesterov` momentum * v - lr * g of the new v."""

    _described = ("lr", "momentum", "decay", "nesterov")
    _kept = 1
    momentum: Any

    def __init__(self, lr: float = 0.01, momentum: float = 0.0, decay: float = 0.0, nesterov: bool = False, **kwargs: Any):
        super().__init__({"lr": lr, "momentum": momentum, "decay": decay}, **kwargs)
        self.nesterov = nesterov

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        (rate,) = constants
        velocity = self.momentum * kept[0] - rate * grad
        return value + (self.momentum * velocity - rate * grad if self.nesterov else velocity), velocity


class RMSprop(_Rule):
    """a := rho * a + (1 - rho) * g²;  x -= lr * g / (√a + epsilon)."""

    _described = ("lr", "rho", "decay", "epsilon")
    _kept, _weighs_count = 1, False
    rho: Any

    def __init__(self, lr: float = 0.001, rho: float = 0.9, epsilon: float | None = None, decay: float = 0.0, **kwargs: Any):
        super().__init__({"lr": lr, "rho": rho, "decay": decay}, **kwargs)
        self.epsilon = _epsilon(epsilon)

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        (rate,) = constants
        mean = self.rho * kept[0] + (1.0 - self.rho) * backend.square(grad)
        return value - rate * grad / (backend.sqrt(mean) + self.epsilon), mean


class Adagrad(_Rule):
    """a += g²;  x -= lr * g / (√a + epsilon)."""

    _described = ("lr", "decay", "epsilon")
    _kept, _weighs_count = 1, False

    def __init__(self, lr: float = 0.01, epsilon: float | None = None, decay: float = 0.0, **kwargs: Any):
        super().__init__({"lr": lr, "decay": decay}, **kwargs)
        self.epsilon = _epsilon(epsilon)

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        (rate,) = constants
        total = kept[0] + backend.square(grad)
        return value - rate * grad / (backend.sqrt(total) + self.epsilon), total


class Adadelta(_Rule):
    """a := rho * a + (1 - rho) * g²;  u = g * √(d + epsilon) / √(a + epsilon);  x -= lr * u;  d is to u as a is to g."""

    _described = ("lr", "rho", "decay", "epsilon")
    _weighs_count = False

    def __init__(self, lr: float = 1.0, rho: float = 0.95, epsilon: float | None = None, decay: float = 0.0, **kwargs: Any):
        super().__init__({"lr": lr, "decay": decay}, **kwargs)
        self.rho, self.epsilon = rho, _epsilon(epsilon)

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        (rate,) = constants
        mean = self.rho * kept[0] + (1.0 - self.rho) * backend.square(grad)
        move = grad * backend.sqrt(kept[1] + self.epsilon) / backend.sqrt(mean + self.epsilon)
        return value - rate * move, mean, self.rho * kept[1] + (1.0 - self.rho) * backend.square(move)


class _OfMoments(_Rule):
    """m := beta_1 * m + (1 - beta_1) * g, and one more moment, by beta_2."""

    beta_1: Any
    beta_2: Any

    def __init__(self, variables: Mapping[str, float], epsilon: float | None, kwargs: Mapping[str, Any]):
        super().__init__(variables, **kwargs)
        self.epsilon = _epsilon(epsilon)

    def _first(self, moment: Any, grad: Any) -> Any:
        return self.beta_1 * moment + (1.0 - self.beta_1) * grad

    def _second(self, moment: Any, grad: Any) -> Any:
        return self.beta_2 * moment + (1.0 - self.beta_2) * backend.square(grad)


class Adam(_OfMoments):
    """v is the second moment;  x -= lr * √(1 - beta_2^t) / (1 - beta_1^t) * m / (√v + epsilon).

    amsgrad: with the largest v until now in place of v.
    """

    _described = ("lr", "beta_1", "beta_2", "decay", "epsilon", "amsgrad")
    _kept = 3

    def __init__(
        self,
        lr: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        amsgrad: bool = False,
        **kwargs: Any,
    ):
        super().__init__({"lr": lr, "beta_1": beta_1, "beta_2": beta_2, "decay": decay}, epsilon, kwargs)
        self.amsgrad = amsgrad

    def _slot(self, kind: int, variable: Any) -> Any:
        # Without `amsgrad` there is no largest v, but files have a number in its place.
        return backend.zeros(1) if kind == 2 and not self.amsgrad else super()._slot(kind, variable)

    def _constants(self, rate: Any, time: Any) -> tuple[Any, ...]:
        return (rate * backend.sqrt(1.0 - backend.pow(self.beta_2, time)) / (1.0 - backend.pow(self.beta_1, time)),)

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        (rate,) = constants
        first, second = self._first(kept[0], grad), self._second(kept[1], grad)
        largest = (backend.maximum(kept[2], second),) if self.amsgrad else ()
        return value - rate * first / (backend.sqrt((second, *largest)[-1]) + self.epsilon), first, second, *largest


class Adamax(_OfMoments):
    """u := max(beta_2 * u, |g|);  x -= lr / (1 - beta_1^t) * m / (u + epsilon)."""

    _described = ("lr", "beta_1", "beta_2", "decay", "epsilon")

    def __init__(
        self,
        lr: float = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__({"lr": lr, "beta_1": beta_1, "beta_2": beta_2, "decay": decay}, epsilon, kwargs)

    def _constants(self, rate: Any, time: Any) -> tuple[Any, ...]:
        return (rate / (1.0 - backend.pow(self.beta_1, time)),)

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        (rate,) = constants
        first, largest = self._first(kept[0], grad), backend.maximum(self.beta_2 * kept[1], backend.abs(grad))
        return value - rate * first / (largest + self.epsilon), first, largest


class Nadam(_OfMoments):
    """Adam with Nesterov's momentum: with s(t) = beta_1 * (1 - 0.96^(t * schedule_decay) / 2), S the product of s until t,

    x -= lr * ((1 - s(t)) * g / (1 - S) + s(t + 1) * m / (1 - S * s(t + 1))) / (√(v / (1 - beta_2^t)) + epsilon).
    """

    _described = ("lr", "beta_1", "beta_2", "epsilon", "schedule_decay")
    m_schedule: Any

    def __init__(
        self,
        lr: float = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ):
        super().__init__({"m_schedule": 1.0, "lr": lr, "beta_1": beta_1, "beta_2": beta_2}, epsilon, kwargs)
        self.schedule_decay = schedule_decay

    def _make_slots(self, params: Sequence[Any]) -> None:
        super()._make_slots(params)
        self.weights.insert(1, self.m_schedule)

    def _constants(self, rate: Any, time: Any) -> tuple[Any, ...]:
        now, following = (
            self.beta_1 * (1.0 - 0.5 * backend.pow(backend.cast_to_floatx(0.96), t * self.schedule_decay))
            for t in (time, time + 1.0)
        )
        product = convert_to_tensor(self.m_schedule) * now
        self.updates.append(backend.update(self.m_schedule, product))
        second = 1.0 - backend.pow(self.beta_2, time)
        return rate, (1.0 - now) / (1.0 - product), following / (1.0 - product * following), second

    def _moved(self, value: Any, grad: Any, kept: Sequence[Any], *constants: Any) -> tuple[Any, ...]:
        rate, of_gradient, of_moment, part = constants
        first, second = self._first(kept[0], grad), self._second(kept[1], grad)
        mean = of_gradient * grad + of_moment * first
        return value - rate * mean / (backend.sqrt(second / part) + self.epsilon), first, second


def _epsilon(given: float | None) -> float:
    return backend.epsilon() if given is None else given
