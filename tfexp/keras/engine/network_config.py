"""A network of layers as a configuration, and back. Source: `tf.keras.Model.get_config`, TF 1.15.

    {"name", "layers": [{"name", "class_name", "config", "inbound_nodes"}], "input_layers", "output_layers"}

An inbound node is a list of [layer, node, tensor, arguments]: a tensor by the name of its layer, the number of the call
among those of the network, and its number among the call's outputs.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tfexp.core import nest
from tfexp.core.log import get_logger
from tfexp.keras.engine.model_text import plain
from tfexp.keras.engine.node import Node, alone, history_of

if TYPE_CHECKING:
    from tfexp.keras.engine.network import Network


def config_of_network(network: Network) -> dict[str, Any]:
    """What `network_from_config` makes the network's inputs and outputs of."""
    numbers = network._map.numbers()

    def place(history: Any) -> list[Any]:
        return [history.layer.name, numbers[history.layer._inbound_nodes[history.node_index]], history.tensor_index]

    def call(node: Node) -> Any:
        arguments = _as_json(node, place)
        places = [[*place(history), arguments] for history, _ in node.sources()]
        if isinstance(node.input_tensors, Mapping):
            return dict(zip(nest.keys_in_order(node.input_tensors), places, strict=True))
        return places

    layers = [
        {
            "name": layer.name,
            "class_name": type(layer).__name__,
            "config": copy.deepcopy(layer.get_config()),
            "inbound_nodes": [call(node) for node in layer._inbound_nodes if node in numbers and node.sources()],
        }
        for layer in network._map.layers
    ]
    return {
        "name": network.name,
        "layers": layers,
        "input_layers": [place(history_of(tensor)) for tensor in network.inputs],
        "output_layers": [place(history) for history in network._output_coordinates],
    }


def _as_json(node: Node, place: Callable[[Any], list[Any]]) -> dict[str, Any]:
    """A call's further arguments, tensors of layers by their places, if they can be written; else none, with a warning."""

    def written_as(value: Any) -> Any:
        history = history_of(value)
        return value if history is None else place(history)

    try:
        written = json.dumps(nest.map_structure(written_as, node.arguments), default=plain)
    except TypeError:
        get_logger().warning(
            "Layer %s was passed non-serializable keyword arguments: %s. They will not be included in the serialized model "
            "(and thus will be missing at deserialization time).",
            node.outbound_layer.name,
            node.arguments,
        )
        return {}
    found: dict[str, Any] = json.loads(written)
    return found


def network_from_config(
    config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
) -> tuple[Any, Any, list[Any]]:
    """(inputs, outputs, the new layers) as the configuration says. ValueError for layers that wait for what never comes."""
    from tfexp.keras.layers.serialization import deserialize  # layers stand above the engine, which finds them by name

    layers = {one["name"]: deserialize(one, custom_objects=custom_objects) for one in config["layers"]}
    # What it begins with: an input layer's node, a model's own.
    made: dict[str, list[Node]] = {name: list(layer._inbound_nodes) for name, layer in layers.items()}
    waiting = [(one["name"], call) for one in config["layers"] for call in one["inbound_nodes"]]
    while waiting:
        rest: list[tuple[str, Any]] = []
        for name, call in waiting:
            # The calls of one layer keep their order: they are known by their numbers.
            ready = all(place[1] < len(made[place[0]]) for place in _places_read(call, made))
            if ready and not any(other == name for other, _ in rest):
                _call(layers[name], call, made)
                made[name].append(layers[name]._inbound_nodes[-1])
            else:
                rest.append((name, call))
        if len(rest) == len(waiting):
            raise ValueError(f"The layers {[name for name, _ in rest]} of a model's config wait for each other")
        waiting = rest

    def tensors(places: Any) -> Any:
        found = [_tensor(place, made) for place in ([places] if isinstance(places[0], str) else places)]
        return alone(found)

    return tensors(config["input_layers"]), tensors(config["output_layers"]), list(layers.values())


def _places(call: Any) -> list[Any]:
    return list(call.values()) if isinstance(call, Mapping) else list(call)


def _places_read(call: Any, made: Mapping[str, Any]) -> list[Any]:
    """The places of a call's inputs, and those among its further arguments."""
    places = _places(call)
    found, waiting = [place[:3] for place in places], [place[3] for place in places[:1] if len(place) > 3]
    while waiting:
        one = waiting.pop()
        if _is_place(one, made):
            found.append(one)
        elif isinstance(one, (list, Mapping)):
            waiting += one.values() if isinstance(one, Mapping) else one
    return found


def _is_place(written: Any, made: Mapping[str, Any]) -> bool:
    """Whether it is [layer, node, tensor]."""
    return isinstance(written, list) and [type(one) for one in written] == [str, int, int] and written[0] in made


def _tensor(place: Any, made: Mapping[str, list[Node]]) -> Any:
    name, node, tensor = place[:3]
    return nest.flatten(made[name][node].output_tensors)[tensor]


def _with_tensors(written: Any, made: Mapping[str, list[Node]]) -> Any:
    """Arguments as they were written, with tensors in the place of where these come from."""
    if _is_place(written, made):
        return _tensor(written, made)
    if isinstance(written, list):
        return [_with_tensors(one, made) for one in written]
    if isinstance(written, Mapping):
        return {key: _with_tensors(one, made) for key, one in written.items()}
    return written


def _call(layer: Any, call: Any, made: Mapping[str, list[Node]]) -> None:
    places = _places(call)
    found = [_tensor(place, made) for place in places]
    arguments = _with_tensors(places[0][3] if len(places[0]) > 3 else {}, made)
    if isinstance(call, Mapping):
        layer(dict(zip(call, found, strict=True)), **arguments)
    else:
        layer(alone(found), **arguments)
