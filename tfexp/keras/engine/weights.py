"""What a layer has: variables of its own and of the layers in its attributes, lists and dicts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import as_shape
from tfexp.graph.scopes import name_scope
from tfexp.keras import backend, constraints, initializers, regularizers
from tfexp.keras.mixed_precision.autocast import cast_when_read
from tfexp.keras.mixed_precision.policy import INFER, Policy
from tfexp.ops.module import Module
from tfexp.ops.trackable import NoDependency, Trackable, variables_made
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization


def _parts(value: Any) -> Iterator[Any]:
    """The variables and trackable objects in a value: itself, or the elements of lists, tuples and dicts."""
    if isinstance(value, (Variable, Trackable)):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _parts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _parts(one)


# What most attributes are, and nothing to look into.
_PLAIN = frozenset({str, int, float, bool, type(None), FunctionType, MethodType})


class Weights(Module):
    """Variables by `add_weight` and by attributes; those of inner layers come behind.

    What is added later to a list or dict that is an attribute counts, too.
    """

    # Attributes in which Keras keeps its books: what they hold is not the layer's on that account.
    _books = frozenset(
        {
            "_trainable_weights",
            "_non_trainable_weights",
            "_named_weights",
            "_initial_weights",
            "_inbound_nodes",
            "_outbound_nodes",
            "_losses",
            "_updates",
            "_metrics",
            "_metrics_tensors",
            "_input_spec",
            "inputs",
            "outputs",
        }
    )
    _TF_MODULE_IGNORED_PROPERTIES = _books - {"_trainable_weights", "_non_trainable_weights"}
    _trainable_weights: list[Any]
    _non_trainable_weights: list[Any]
    _dtype: str | None
    _policy: Policy = INFER
    _own_trainable: bool = True
    _has_added: frozenset[str] = frozenset()  # see `_note_added`
    _named_weights: Mapping[str, Any] = MappingProxyType({})  # by the names that `add_weight` was given
    _initial_weights: Any = None
    built: bool

    @property
    def name(self) -> str:
        raise NotImplementedError

    # --- what is found in attributes ------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(vars(self).get(name), Variable):
            self._drop_variables(vars(self)[name])
        self._assign_attribute(name, value)  # past that of modules, which first reads what the attribute is
        if name not in self._books and self._setattr_tracking:
            self._keep_parts(value.value if isinstance(value, NoDependency) else value)

    def __delattr__(self, name: str) -> None:
        self._drop_variables(vars(self).get(name))
        super().__delattr__(name)

    def _drop_variables(self, value: Any) -> None:
        gone = list(_parts(value))
        for name in ("_trainable_weights", "_non_trainable_weights"):
            kept = vars(self).get(name, [])  # a subclass may never call `super().__init__()`
            kept[:] = [variable for variable in kept if not any(variable is one for one in gone)]

    def _keep_parts(self, value: Any) -> None:
        for part in _parts(value):
            if isinstance(part, Variable):
                self._keep_weight(part, bool(getattr(part, "trainable", True)))

    def _keep_weight(self, variable: Any, trainable: bool, name: str | None = None) -> None:
        """Count a variable as the layer's; `name`: what `add_weight` was told to call it."""
        if isinstance(variable, Variable) and name:
            vars(self).setdefault("_named_weights", {})[name] = variable
        if "_trainable_weights" not in vars(self):
            # A subclass that sets attributes before `super().__init__()`.
            self._trainable_weights, self._non_trainable_weights = [], []
        known = self._trainable_weights + self._non_trainable_weights
        if not any(variable is other for other in known):
            (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
            if isinstance(variable, Variable):  # not one in parts, which its program initializes
                backend.track_variable(variable)
                variables_made(self)

    def _owned(self) -> list[Any]:
        """The layers in attributes, lists and dicts, in the order in which they were set; metrics, too.

        `_layers`, where TensorFlow keeps them and programs put their own, counts whether attributes are tracked or not.
        """
        found: dict[int, Any] = {}
        hidden = self._books | self._unseen - {"_layers"}
        for name, value in list(vars(self).items()):
            if name not in hidden and type(value) not in _PLAIN:
                for part in _parts(value):
                    if isinstance(part, Weights) and part is not self:
                        found.setdefault(id(part), part)
                    elif isinstance(part, Variable):
                        self._keep_parts(part)
        return list(found.values())

    @property
    def _inner_layers(self) -> list[Any]:
        """The layers that are part of it. A metric is a layer with `update_state`, and none of these."""
        return [part for part in self._owned() if not hasattr(part, "update_state")]

    def _note_added(self, name: str) -> None:
        """Something was added to this list of TensorFlow's layer: if attributes are tracked, it is a part from now on."""
        if self._setattr_tracking:
            self._has_added |= {name}

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        """Variables under the names that `add_weight` was given, then what attributes hold."""
        named = dict(self._named_weights)
        for name, part in super()._checkpoint_children():
            if name not in self._books:
                named.setdefault(name, part)
        for name in sorted(self._has_added):
            named.setdefault(name, [])
        return list(named.items())

    @property
    def _tracking_metadata(self) -> str:
        from tfexp.keras.saving.tensorflow_metadata import metadata_of  # saving stands above the engine

        return metadata_of(self)

    # --- variables ------------------------------------------------------------------------------------------------------

    @property
    def trainable(self) -> bool:
        """Whether training may change its variables. Setting it sets that of all layers inside."""
        return self._own_trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._own_trainable = value
        for layer in self._inner_layers:
            layer.trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        """Those of the layer, then those of each layer inside: a variable that several have comes with each."""
        if not self.trainable:
            return []
        inner = [weight for layer in self._inner_layers for weight in layer.trainable_weights]
        return self._trainable_weights + inner

    @property
    def non_trainable_weights(self) -> list[Any]:
        layers = self._inner_layers
        if self.trainable:
            return self._non_trainable_weights + [w for layer in layers for w in layer.non_trainable_weights]
        own = self._trainable_weights + self._non_trainable_weights
        return own + [weight for layer in layers for weight in layer.weights]

    @property
    def weights(self) -> list[Any]:
        """All variables: those that are trained come first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """A variable of the layer, below the name scope that is open; a resource variable unless told otherwise.

        initializer: by default Glorot's uniform one for floats, zeros for other numbers. kwargs: `getter`, `collections`,
        `experimental_autocast` (False: it reads as what it is, whatever the layer's policy), `caching_device`.
        """
        for key in kwargs:
            if key not in ("getter", "collections", "experimental_autocast", "caching_device"):
                raise TypeError("Unknown keyword argument:", key)
        wanted = dtypes.as_dtype(dtype or self._dtype or backend.floatx())
        if self._dtype is None:
            self._dtype = wanted.base_dtype.name
        trainable = is_trained(trainable, synchronization)
        initial = initializers.get(initializer) if initializer is not None else self._default_initializer(name, wanted)
        size = as_shape(() if shape is None else shape)
        variable = kwargs.get("getter", _make_variable)(
            name=name or "Variable",
            shape=size,
            dtype=wanted,
            initializer=initial,
            trainable=trainable,
            constraint=constraints.get(constraint),
            use_resource=use_resource is None or use_resource,
            collections=kwargs.get("collections"),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        if wanted.is_floating and self._policy.should_cast_variables and kwargs.get("experimental_autocast", True):
            cast_when_read(variable)
        regularize = regularizers.get(regularizer)
        if regularize is not None:
            self.add_loss(functools.partial(_regularized, variable, regularize))
        self._keep_weight(variable, trainable, name)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """The same as `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def _default_initializer(self, name: str | None, dtype: Any) -> Any:
        if dtype.is_floating:
            return initializers.get("glorot_uniform")
        if dtype.is_integer or dtype.is_bool:
            return initializers.get("zeros")
        raise ValueError(f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer {self.name}")

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        raise NotImplementedError

    # --- their values ---------------------------------------------------------------------------------------------------

    def get_weights(self) -> list[np.ndarray]:
        """The values of `weights`, in their order."""
        return list(backend.batch_get_value(self.weights))

    def set_weights(self, weights: Any) -> None:
        """Give `weights` these values. ValueError for another number of them, or other shapes."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length {len(weights)}, '
                f"but the layer was expecting {len(own)} weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(own, weights, strict=True):
            shape = tuple(variable.get_shape().as_list())
            if shape != np.shape(value):
                raise ValueError(f"Layer weight shape {shape} not compatible with provided weight shape {np.shape(value)}")
        if own:
            backend.batch_set_value(list(zip(own, weights, strict=True)))

    def count_params(self) -> int:
        """The number of elements of all its variables. ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it manually via"
                f": `{self.name}.build(batch_input_shape)`."
            )
        return sum(int(np.prod(variable.get_shape().as_list())) for variable in self.weights)


def is_trained(trainable: bool | None, synchronization: VariableSynchronization) -> bool:
    """Whether a variable is trained, which is so unless something else is said. ValueError for one that cannot be."""
    if synchronization is VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. "
                "You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
            )
        return False
    return trainable is None or trainable


def _make_variable(name: str, shape: Any, dtype: Any, initializer: Any, **settings: Any) -> Any:
    """A variable with a value that is made where its initializer belongs."""
    if isinstance(initializer, type):
        initializer = initializer()
    if dtype.is_bool and not settings["use_resource"]:
        settings["use_resource"] = True
    return Variable(
        initial_value=lambda: initializer(shape.as_list(), dtype=dtype),
        name=name,
        dtype=dtype.base_dtype,
        shape=shape if shape.rank is not None else None,
        **settings,
    )


def _regularized(variable: Any, regularizer: Callable[[Any], Any]) -> Any:
    """The loss of a variable, below a scope beside it; of one in parts, the sum of the parts' losses."""
    name = variable.name.partition(":")[0]
    with name_scope(f"{name}/Regularizer"):
        return regularizer(variable)


def each_once(values: list[Any]) -> list[Any]:
    """The values in their order, each the first time that it comes (the same object)."""
    return list({id(value): value for value in values}.values())
