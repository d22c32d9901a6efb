"""Checkpoints of a `tf.contrib.eager.Network`, which may be restored before there are variables. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tfexp.contributed.eager_network import Network
from tfexp.graph.defaults import get_default_session
from tfexp.graph.scopes import executing_eagerly
from tfexp.layers.base import Layer
from tfexp.train.checkpoint_utils import load_checkpoint
from tfexp.train.global_step import get_global_step
from tfexp.train.saver import Saver

NameMap = Callable[[str], str]


def save_network_checkpoint(
    network: Network, save_path: str, global_step: Any = None, map_func: NameMap | None = None
) -> str:
    """The prefix of a new checkpoint with a network's variables; in a graph with the values of the default session.

    save_path: the prefix, or a folder, in which the network's name is the prefix; the step, of `global_step` or else the
    default one's if there is one, is added to it. map_func: from the names of variables to those in the checkpoint, by
    default those below the network's scope. ValueError before the first call, and for two variables of one name.
    Source: `tf.contrib.eager.save_network_checkpoint`.
    """
    if not network.built:
        raise ValueError("A Network is saved after it was first called: before, there are no variables.")
    network._set_scope(None)
    variables = _by_names(network, map_func)
    step = get_global_step() if global_step is None else global_step
    return str(Saver(variables).save(_session(), _prefix(network, save_path), step, write_meta_graph=False))


def restore_network_checkpoint(network: Network, save_path: str, map_func: NameMap | None = None) -> None:
    """Gives a network's variables their values of a checkpoint, and those that are not there yet when they are made.

    Where several checkpoints have a variable that is not there yet, it has its value of the last one. save_path, map_func:
    as `save_network_checkpoint`. ValueError for two variables of one name, NotFoundError for one that the checkpoint lacks.
    Source: `tf.contrib.eager.restore_network_checkpoint`.
    """
    network.settle_name(None)
    network._set_scope(None)
    prefix = _prefix(network, save_path)
    there = _by_names(network, map_func)
    if there:
        Saver(there).restore(_session(), prefix)
    with load_checkpoint(prefix) as reader:
        names = [name for name in reader.get_variable_to_shape_map() if name not in there]
        later = {name: reader.get_tensor(name) for name in names}
    if later:
        _ask(network, _Later(network, later, map_func))


def _session() -> Any:
    return None if executing_eagerly() else get_default_session()


def _prefix(network: Network, save_path: str) -> str:
    return os.path.join(save_path, network.name.replace("/", "_")) if os.path.isdir(save_path) else save_path


def _name_map(network: Network, map_func: NameMap | None) -> NameMap:
    below = f"{network.scope_name}/"
    return map_func or (lambda name: name.removeprefix(below))


def _by_names(network: Network, map_func: NameMap | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable in network.variables:
        name = _name_map(network, map_func)(_name(variable))
        if found.setdefault(name, variable) is not variable:
            raise _two_of_one_name(network, name, found[name], variable)
    return found


def _name(variable: Any) -> str:
    return str(variable.name).partition(":")[0]


def _two_of_one_name(network: Network, name: str, first: Any, second: Any) -> ValueError:
    return ValueError(
        f"In a checkpoint of the Network {network.name!r}, two variables would have the name {name!r}: {_name(first)!r} and "
        f"{_name(second)!r}. A layer that was added to another Network first has the prefix of that; `map_func` may give "
        f"other names (`lambda name: name`: all with their prefixes, here {network.scope_name!r})."
    )


class _Later:
    """The values of a checkpoint that wait for their variables."""

    def __init__(self, network: Network, values: dict[str, Any], map_func: NameMap | None):
        self._network, self._values, self._session = network, values, _session()
        self._name_map = _name_map(network, map_func)
        self._made: dict[str, Any] = {}

    def has(self, name: str) -> bool:
        return self._name_map(name) in self._values

    def make(self, getter: Callable[..., Any], name: str, shape: Any, initializer: Any, settings: dict[str, Any]) -> Any:
        """The variable, which begins with its value in the checkpoint. ValueError where another one has had that."""
        key = self._name_map(name)
        variable = getter(name, shape=None, initializer=self._values[key], **settings)
        if self._made.setdefault(key, variable) is not variable:
            raise _two_of_one_name(self._network, key, self._made[key], variable)
        if self._session is not None:
            self._session.run(variable.initializer)
        return variable


def _ask(layer: Layer, later: _Later) -> None:
    """Has the variables that the layer, and those inside, will make begin with the values."""
    waiting: list[_Later] = vars(layer).setdefault("_waiting_values", [])
    waiting.append(later)
    if isinstance(layer, Network):
        layer._set_scope(None)
        layer.open_scopes_of_layers()
        for inner in layer.layers:
            _ask(inner, later)
        return

    def get(getter: Callable[..., Any], name: str, shape: Any = None, initializer: Any = None, **settings: Any) -> Any:
        for one in reversed(waiting):
            if one.has(name):
                return one.make(getter, name, shape, initializer, settings)
        return getter(name, shape=shape, initializer=initializer, **settings)

    assert layer._scope is not None
    layer._scope.set_custom_getter(get)
