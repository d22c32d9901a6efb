"""What keeps the variables of columns in layers, `StateManager` of TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from tfexp.graph.scopes import name_scope
from tfexp.ops.variable_scope import get_variable, variable_scope


class StateManager:
    """Makes and keeps what columns need from step to step."""

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column: Any, var: Any) -> Any:
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        raise NotImplementedError("StateManager.get_var")

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> Any:
        raise NotImplementedError("StateManager.add_resource")

    def get_resource(self, feature_column: Any, name: str) -> Any:
        raise NotImplementedError("StateManager.get_resource")


class LayerStates(StateManager):
    """The variables of columns are those of a layer. ValueError for a name that a column has already, or does not have.

    of_variables: what else `add_weight` is told of each.
    """

    _making: ClassVar[Mapping[str, Any]] = {"getter": get_variable}  # by the names of scopes, once

    def __init__(self, layer: Any, trainable: bool, **of_variables: Any):
        self._layer, self._trainable, self._of_variables = layer, trainable, of_variables
        self._variables: dict[tuple[Any, str], Any] = {}
        self._resources: dict[tuple[Any, str], Any] = {}
        if layer is not None:  # as libraries have it that ask only for resources
            layer._resources = {}  # which TensorFlow's checkpoints have as a part of it

    def make(self, columns: Iterable[Any], also: Callable[[Any], None] | None = None) -> None:
        """Make what the columns need below the layer's name and theirs; also: makes more for each, in the same scope."""
        with variable_scope(self._layer.name, auxiliary_name_scope=False):
            for column in columns:
                with variable_scope(column.name, auxiliary_name_scope=False):
                    column.create_state(self)
                    if also is not None:
                        also(column)

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        if (feature_column, name) in self._variables:
            raise ValueError("Variable already exists.")
        made = self._layer.add_weight(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
            **self._making,
            **self._of_variables,
        )
        self._variables[feature_column, name] = made
        return made

    def get_variable(self, feature_column: Any, name: str) -> Any:
        if (feature_column, name) not in self._variables:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column, name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        self._resources[feature_column, name] = resource

    def get_resource(self, feature_column: Any, name: str) -> Any:
        if (feature_column, name) not in self._resources:
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column, name]


class NamedStates(LayerStates):
    """The variables of columns in layers of version 2, whose names are made unique as those of all their variables are."""

    _making: ClassVar[Mapping[str, Any]] = {}

    def make(self, columns: Iterable[Any], also: Callable[[Any], None] | None = None) -> None:
        for column in columns:
            with name_scope(column.name):
                column.create_state(self)
                if also is not None:
                    also(column)
