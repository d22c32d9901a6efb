"""What a Keras optimizer has: hyperparameters, a count of steps, slots beside the variables that it trains."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Self

from tfexp.core import dtypes
from tfexp.graph.replica_modes import beside, distributing
from tfexp.graph.scopes import device, init_scope
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend, initializers
from tfexp.keras.optimizers import schedules
from tfexp.ops.cast import cast
from tfexp.ops.trackable import Trackable, variables_made
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization, graph_of

_KEYWORDS = ("clipnorm", "clipvalue", "lr", "decay")


class OptimizerState(Trackable):
    """Hyperparameters become variables when they are first used; `lr` is another name of `learning_rate`."""

    _object_identifier = "optimizer"

    clipnorm: float
    clipvalue: float

    def __init__(self, name: str, **kwargs: Any):
        for key, value in kwargs.items():
            if key not in _KEYWORDS:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self._use_locking = True
        self._hyper: dict[str, Any] = {}
        self._hypers_created = False
        self._slots: dict[Any, dict[str, Any]] = {}
        self._weights: list[Any] = []
        self._tracked: dict[str, Any] = {}
        self._iterations: Any = None
        decay = kwargs.pop("decay", None) or 0.0
        self._initial_decay = decay
        for key in ("clipnorm", "clipvalue"):
            if kwargs.get(key) is not None:
                setattr(self, key, kwargs[key])

    # --- hyperparameters ------------------------------------------------------------------------------------------------

    def _set_hyper(self, name: str, value: Any) -> None:
        """Give a hyperparameter a value: a number, a tensor, a function without arguments, a schedule."""
        made = self._hyper.get(name)
        if isinstance(made, Variable) and not isinstance(value, (Tensor, schedules.LearningRateSchedule)):
            backend.set_value(made, value)
        else:
            self._hyper[name] = value

    def _set_rate(self, learning_rate: Any, kwargs: Mapping[str, Any]) -> None:
        """The hyperparameters that all have: the rate, or `lr` among the keywords in its place, and the rate's `decay`."""
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)

    def _set_momentum(self, momentum: Any) -> None:
        """The hyperparameter `momentum`; `_momentum` says whether there is any. ValueError unless in [0, 1]."""
        self._momentum = isinstance(momentum, Tensor) or callable(momentum) or momentum > 0
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError(f"`momentum` must be between [0, 1]. Received: momentum={momentum} (of type {type(momentum)}).")
        self._set_hyper("momentum", momentum)

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        """A hyperparameter: its variable, the result of the function that it is, or the schedule itself."""
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, schedules.LearningRateSchedule):
            return value
        value = value() if callable(value) else value
        return value if dtype is None else cast(value, dtype)

    def _create_hypers(self) -> None:
        """Variables of those hyperparameters that are numbers."""
        self._hypers_created = True
        with init_scope():
            for name, value in sorted(self._hyper.items()):
                if not isinstance(value, (Tensor, Variable)) and not callable(value):
                    self._hyper[name] = self._make_variable(
                        name, [], None, value, aggregation=VariableAggregation.ONLY_FIRST_REPLICA
                    )

    def __getattr__(self, name: str) -> Any:
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", ()):
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", ()):
            self._set_hyper(name, value)
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._hyper}
        return sorted(names | {"lr"} if "learning_rate" in names else names)

    def _decayed_lr(self, var_dtype: Any) -> Any:
        """The rate of this step, by schedule and decay."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, schedules.LearningRateSchedule):
            rate = cast(rate(cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * cast(self.iterations, var_dtype))
        return rate

    @property
    def iterations(self) -> Any:
        """The variable that counts the steps."""
        if self._iterations is None:
            with init_scope():
                self._iterations = self.add_weight(
                    "iter", shape=[], dtype=dtypes.int64, aggregation=VariableAggregation.ONLY_FIRST_REPLICA
                )
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been created. Here it is "
                f"attempting to set `iterations` to {variable}."
            )
        self._iterations = self._tracked["iter"] = variable
        self._weights.append(variable)
        variables_made(self)

    # --- variables ------------------------------------------------------------------------------------------------------

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """The slot of this name beside `var`, made if it is not there."""
        slots = self._slots.setdefault(_key(var), {})
        if slot_name not in slots:
            if isinstance(initializer, str) or callable(initializer):
                make = initializers.get(initializer)
                value: Any = functools.partial(make, var.shape.as_list(), dtype=var.dtype.base_dtype)
            else:
                value = initializer
            with beside(var) if distributing() is not None else device(var.device):
                slots[slot_name] = Variable(
                    initial_value=value,
                    name=f"{_whole(var)._shared_name}/{slot_name}",
                    dtype=var.dtype,  # a reference, which a variable in old style has, is refused
                    trainable=False,
                    use_resource=True,
                )
            backend.track_variable(slots[slot_name])
            self._weights.append(slots[slot_name])
        return slots[slot_name]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot of this name beside `var`. KeyError where there is none."""
        return self._slots[_key(var)][slot_name]

    def get_slot_names(self) -> list[str]:
        """The names of all slots, in the order in which they were first made."""
        return list(dict.fromkeys(name for slots in self._slots.values() for name in slots))

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = "zeros",
        trainable: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        """A variable of the optimizer's own, which checkpoints know by `name`; float32 by default, and not trained."""
        return self._make_variable(name, shape, dtype, initializer, bool(trainable), synchronization, aggregation)

    def _make_variable(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        initializer: Any,
        trainable: bool = False,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        wanted = dtypes.as_dtype(dtype or dtypes.float32)
        if isinstance(initializer, str) or callable(initializer):
            initial: Any = functools.partial(initializers.get(initializer), shape, dtype=wanted)
        else:
            initial = initializer
        variable = Variable(
            initial_value=initial,
            name=name,
            dtype=wanted,
            trainable=trainable,
            use_resource=True,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        backend.track_variable(variable)
        self._tracked[name] = variable
        variables_made(self)
        return variable

    @property
    def weights(self) -> list[Any]:
        """The count of steps, and the slots in the order in which they were made."""
        return self._weights

    def variables(self) -> list[Any]:
        """The same as `weights`."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """The values of `weights`."""
        return list(backend.batch_get_value(self.weights))

    def set_weights(self, weights: Any) -> None:
        """Give `weights` these values. ValueError for another number of them, or other shapes."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list of length {len(weights)}, "
                f"but the optimizer was expecting {len(own)} weights. Provided weights: {str(weights)[:50]}..."
            )
        for value, now in zip(weights, backend.batch_get_value(own), strict=True):
            if now.shape != getattr(value, "shape", ()):
                raise ValueError(
                    f"Optimizer weight shape {now.shape} not compatible with provided weight shape {value.shape}."
                )
        backend.batch_set_value(list(zip(own, weights, strict=True)))

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        return sorted(self._tracked.items())

    def _checkpoint_slots(self, variable: Any) -> list[tuple[str, Any]]:
        return list(self._slots.get(_key(variable), {}).items())

    # --- configuration --------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes such an optimizer of, without the values of its variables."""
        config: dict[str, Any] = {"name": self._name}
        for key in ("clipnorm", "clipvalue"):
            if hasattr(self, key):
                config[key] = getattr(self, key)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Self:
        """An optimizer as `get_config` describes it."""
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects=custom_objects)
        return cls(**config)

    def _serialized(self, *names: str) -> dict[str, Any]:
        """Hyperparameters as a configuration has them, by name."""
        return {name: self._serialize_hyperparameter(name) for name in names}

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        """The value of a hyperparameter now; of a schedule, its configuration."""
        value = self._hyper[hyperparameter_name]
        if isinstance(value, schedules.LearningRateSchedule):
            return schedules.serialize(value)
        if callable(value):
            return value()
        return backend.get_value(value) if isinstance(value, (Tensor, Variable)) else value


def _whole(var: Any) -> Any:
    """The variable that a strategy's copy is one of; any other itself."""
    return var if getattr(var, "_distributed_container", None) is None else var._distributed_container


def _key(var: Any) -> Any:
    # Names of eager execution's variables need not differ.
    var = _whole(var)
    return (graph_of(var), var._unique_id) if hasattr(var, "_unique_id") else (var.op.graph, var.op.name)
