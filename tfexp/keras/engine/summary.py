"""The table that `model.summary()` prints. Source: `tf.keras.Model.summary`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.keras import backend
from tfexp.keras.engine.weights import each_once


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: Sequence[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """A row for each layer: name, class, shape of the output, number of parameters; if not one chain, what it reads from.

    positions: where each column ends, as parts of `line_length`. print_fn: is called with each line; `print` by default.
    """
    show = print if print_fn is None else print_fn
    chain = _is_chain(model)
    length = line_length or (65 if chain else 98)
    places = positions or ([0.45, 0.85, 1.0] if chain else [0.33, 0.55, 0.67, 1.0])
    ends = [int(length * place) for place in places] if places[-1] <= 1 else [int(place) for place in places]
    titles = ["Layer (type)", "Output Shape", "Param #"] + ([] if chain else ["Connected to"])
    show(f'Model: "{model.name}"')
    show("_" * length)
    show(_row(titles, ends))
    show("=" * length)
    layers = model.layers
    for number, layer in enumerate(layers):
        sources = [] if chain else _sources(layer, model)
        cells = [f"{layer.name} ({type(layer).__name__})", shown_shape(layer, "output_shape"), str(layer.count_params())]
        show(_row(cells if chain else [*cells, sources[0] if sources else ""], ends))
        for source in sources[1:]:
            show(_row(["", "", "", source], ends))
        show(("=" if number == len(layers) - 1 else "_") * length)
    # Of a compiled model, what training changes: what was trainable then.
    trained = count_params(getattr(model, "_collected_trainable_weights", model.trainable_weights))
    fixed = count_params(model.non_trainable_weights)
    show(f"Total params: {trained + fixed:,}")
    show(f"Trainable params: {trained:,}")
    show(f"Non-trainable params: {fixed:,}")
    show("_" * length)


def _row(cells: Sequence[str], ends: Sequence[int]) -> str:
    line = ""
    for number, cell in enumerate(cells):
        if number:
            line = line[:-1] + " "
        line = (line + str(cell))[: ends[number]]
        line += " " * (ends[number] - len(line))
    return line


def _is_chain(model: Any) -> bool:
    """Whether its layers come one after the other, so that what each reads from need not be said."""
    if not model._is_graph_network or not model._map.nodes:
        return True
    by_depth = model._map.nodes_by_depth.values()
    if any(len(nodes) > 1 for nodes in by_depth) or any(len(node.sources()) > 1 for nodes in by_depth for node in nodes):
        return False
    known = set(model._map.nodes)
    return all(sum(node in known for node in layer._inbound_nodes) <= 1 for layer in model.layers)


def shown_shape(layer: Any, which: str) -> str:
    """A layer's `input_shape` or `output_shape` as text; 'multiple' for one without: of several calls, or of none."""
    try:
        return str(getattr(layer, which))
    except AttributeError:
        return "multiple"


def _sources(layer: Any, model: Any) -> list[str]:
    known = set(model._map.nodes)
    calls = [node for node in layer._inbound_nodes if node in known]
    return [
        f"{history.layer.name}[{history.node_index}][{history.tensor_index}]"
        for node in calls
        for history, _ in node.sources()
    ]


def count_params(weights: Sequence[Any]) -> int:
    """The number of elements of variables, each counted once."""
    return sum(backend.count_params(weight) for weight in each_once(list(weights)))
