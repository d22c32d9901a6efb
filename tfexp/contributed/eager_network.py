"""Layers that are made of layers: `tf.contrib.eager.Network` and `Sequential`. Source: TF 1.15.

A network has its name when it is added to another one or, at the top, when it is first called; variables have the names of
the networks that they are in.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable
from typing import Any, NoReturn

from tfexp.core.text import snake_case
from tfexp.estimator.arguments import argument_names
from tfexp.keras.backend import unique_object_name
from tfexp.layers.base import Layer
from tfexp.ops.variable_scope import VariableScope, get_variable_scope, opened_scopes, variable_scope

_TAKEN = "A Network named {!r} already exists (or a variable_scope was created with this name). Names must be unique."


class Network(Layer):
    """A layer made of those that `track_layer` was given: subclasses make them in `__init__` and use them in `call`.

    name: of its scope, which no other network there may have (ValueError at the first call); by default the class's in snake
    case, made unique. ValueError for one with a slash and for a variable scope. Source: `tf.contrib.eager.Network`.
    """

    def __init__(self, name: str | None = None):
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._layers: list[Layer] = []
        self._named_here: dict[str, Layer] = {}
        self._numbers: dict[Any, int] = {}
        self._parent: Callable[[], Network | None] | None = None
        # Where it is if it has no parent, and the names that its own must not be among.
        self._around, self._taken = get_variable_scope(), opened_scopes()

    def _default_name(self, base_name: str) -> str:
        return ""  # it is not known yet

    @property
    def name(self) -> str:
        """ValueError before it is known."""
        if not self._name:
            raise ValueError(
                "The network does not yet have a final name, but a name was requested for it. Networks get a name when they "
                "are added to another Network via track_layer, or when they are first called/built."
            )
        return self._name

    # --- its layers ------------------------------------------------------------------------------------------------------

    def track_layer(self, layer: Any) -> Any:
        """The layer, which is a part of the network from now on.

        One that has no name of its own and no variables yet is named anew, by its number in the network. TypeError for what
        is no layer, ValueError for a second one of a name, RuntimeError before `__init__`.
        """
        if "_named_here" not in vars(self):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, Layer):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        if isinstance(layer, Network):
            layer.settle_name(self)
            is_own = not layer.built and layer._living_parent() is self
        else:
            is_own = not layer.built and self._adopt(layer)
        if is_own:
            known = self._named_here.setdefault(layer.name, layer)
            if known is not layer:
                raise ValueError(f"Attempt to add two Layers with the name {layer.name!r} to the same Network.")
            if any(layer is other for other in self._layers):
                return layer
        self._layers.append(layer)
        return layer

    def _adopt(self, layer: Layer) -> bool:
        """Whether the layer, which is no network, is below this one: it is, unless it is below another one already."""
        if _parent_of(layer) is None:
            if layer._name != layer._base_name:
                layer._name = self.unique_name(layer._base_name, self._named_here)
            layer._network = weakref.ref(self)  # type: ignore[attr-defined]
        return _parent_of(layer) is self

    def unique_name(self, base_name: str, taken: Collection[str]) -> str:
        """The next of this name in the network."""
        return unique_object_name(base_name, self._numbers, taken, zero_based=True)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """The first layer of a name, or the one that was tracked at a place. ValueError for neither, both, or none there."""
        if index is not None:
            if name is not None:
                raise ValueError("Exactly one of 'index' or 'name' must be provided")
            if index >= len(self._layers):
                count = len(self._layers)
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {count} layers.")
            return self._layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def layers(self) -> list[Layer]:
        return self._layers

    @property
    def weights(self) -> list[Any]:
        return [weight for layer in self._layers for weight in layer.weights]

    @property
    def trainable(self) -> bool:
        """True; AttributeError for another: layers may be those of several networks."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("add_variable is not for a Network: its variables are those of its layers.")

    def add_loss(self, losses: Any, inputs: Any = None) -> NoReturn:
        raise RuntimeError("add_loss is not for a Network: its losses are those of its layers.")

    # --- names and scopes ------------------------------------------------------------------------------------------------

    def _living_parent(self) -> Network | None:
        return self._parent() if self._parent is not None else None

    def settle_name(self, parent: Network | None) -> None:
        """Has it be a part of `parent`, unless it is one of another network, or of none for good; then it has its name."""
        if not self._name:
            base_name = snake_case(type(self).__name__)
            if parent is not None:
                self._name = parent.unique_name(base_name, parent._named_here)
            else:
                outside = f"{self._around.name}/" if self._around.name else ""
                taken = {name.removeprefix(outside) for name in self._taken if name.startswith(outside)}
                self._name = unique_object_name(base_name, None, taken, self._around.name, zero_based=True)
        if self._parent is None or (self._parent is not _nobody and self._parent() is None):
            self._parent = _nobody if parent is None else weakref.ref(parent)

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        parent = self._living_parent()
        if parent is None:
            self.settle_name(None)
        else:
            parent._set_scope(None)
        with variable_scope(self._around if parent is None else parent._scope) as outer:
            if f"{outer.name}/{self._name}" in self._taken:
                raise ValueError(_TAKEN.format(self._name))
            with variable_scope(None, default_name=self._name, use_resource=True) as own:
                outside, _, last = own.name.rpartition("/")
                if last != self._name:
                    raise ValueError(_TAKEN.format(self._name))
                if parent is not None and outside != parent.scope_name:
                    raise ValueError(
                        f"Network {self._name!r} is below {parent.scope_name!r} and so are its variables, but the variable "
                        f"scope that is open is {outside!r}."
                    )
        self._scope = own
        if parent is None:
            self._name = own.name
        self.open_scopes_of_layers()

    def open_scopes_of_layers(self) -> None:
        """Gives the layers, but for networks, their scopes. ValueError where the network that one is below is gone."""
        for layer in self._layers:
            if layer._scope is None and not isinstance(layer, Network):
                parent = _parent_of(layer)
                if parent is None:
                    raise ValueError(f"The parent of a Layer added to Network {self.name} was gone before it was built.")
                parent._set_scope(None)
                with variable_scope(parent._scope), variable_scope(None, layer.name, use_resource=True) as own:
                    layer._scope = own


def _nobody() -> None:
    """The parent of a network that has none for good."""


def _parent_of(layer: Layer) -> Network | None:
    """The network that the layer is below, if there is one still."""
    found: Any = vars(layer).get("_network")
    parent: Network | None = found and found()
    return parent


class Sequential(Network):
    """Layers and functions, each of what the one before it gives. Source: `tf.contrib.eager.Sequential`."""

    def __init__(self, layers_funcs: Iterable[Any] | None = None, name: str | None = None):
        super().__init__(name=name)
        self._steps: list[tuple[Callable[..., Any], bool]] = []
        for one in layers_funcs or ():
            self.add(one)

    def add(self, layer_func: Any) -> None:
        """One more, at the end. TypeError for what is neither a layer nor a function."""
        if isinstance(layer_func, Layer):
            takes = argument_names(self.track_layer(layer_func).call)
        elif callable(layer_func):
            takes = argument_names(layer_func)
        else:
            given = f"{layer_func!r} of {type(layer_func)}"
            raise TypeError(f"Sequential.add() takes only tf.layers.Layer objects or callables; not {given}.")
        self._steps.append((layer_func, "training" in takes))

    def call(self, inputs: Any, training: Any = None) -> Any:
        """`training`, if it is given, goes to those that take it."""
        for step, takes_training in self._steps:
            inputs = step(inputs, training) if takes_training and training is not None else step(inputs)
        return inputs
