"""`tf.keras.utils.plot_model` and `model_to_dot`: a model as a drawing of boxes and arrows. Source: TF 1.15.

pydot, which is optional, holds the drawing, and Graphviz, a program, makes an image of it.
"""

from __future__ import annotations

import os
from typing import Any


def _pydot() -> Any:
    """The module. ImportError, which says what to do, without it."""
    try:
        import pydot
    except ImportError:
        raise ImportError(
            "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work: `pip install pydot`, and "
            "the program from https://graphviz.org/download/."
        ) from None
    return pydot


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int | None = 96,
    subgraph: bool = False,
) -> Any:
    """A `pydot.Dot` of the layers of a model (a `pydot.Cluster` of them with `subgraph`).

    show_shapes: of inputs and outputs, in the boxes. rankdir: 'TB' downwards, 'LR' to the right. expand_nested: models in
    the model are drawn with their layers. ImportError without pydot.
    """
    pydot = _pydot()
    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name)
        dot.set("label", model.name)
        dot.set("labeljust", "l")
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or calling `fit()` with some "
            "data, or specify an `input_shape` argument in the first layer(s) for automatic build."
        )
    if not model._is_graph_network:
        dot.add_node(pydot.Node(str(id(model)), label=model.name))
        return dot
    nested = [layer for layer in model._map.layers if expand_nested and getattr(layer, "_is_graph_network", False)]
    for layer in model._map.layers:
        if layer in nested:
            dot.add_subgraph(model_to_dot(layer, show_shapes, show_layer_names, rankdir, expand_nested, subgraph=True))
        else:
            dot.add_node(pydot.Node(str(id(layer)), label=_label(layer, show_shapes, show_layer_names)))
    for node in model._map.nodes:
        for number, (history, _) in enumerate(node.sources()):
            start, end = history.layer, node.outbound_layer
            tensor_index = history.tensor_index
            while expand_nested and getattr(start, "_is_graph_network", False):
                start, _, tensor_index = start._output_coordinates[tensor_index]
            while expand_nested and getattr(end, "_is_graph_network", False):
                end, number = end._input_layers[number], 0
            dot.add_edge(pydot.Edge(str(id(start)), str(id(end))))
    return dot


def _label(layer: Any, show_shapes: bool, show_layer_names: bool) -> str:
    name, kind = layer.name, type(layer).__name__
    inside = getattr(layer, "layer", None)
    if inside is not None and hasattr(inside, "name"):  # a wrapper
        name, kind = f"{name}({inside.name})", f"{kind}({type(inside).__name__})"
    label = f"{name}: {kind}" if show_layer_names else kind
    if not show_shapes:
        return label
    from tfexp.keras.engine.summary import shown_shape  # models stand above what programs need around them

    before, after = (shown_shape(layer, which) for which in ("input_shape", "output_shape"))
    return f"{label}\n|{{input:|output:}}|{{{{{before}}}|{{{after}}}}}"


def plot_model(
    model: Any,
    to_file: str = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int | None = 96,
) -> Any:
    """Draw a model (see `model_to_dot`) into an image file, of the kind that the name's extension says.

    In a notebook the image is handed back too. ImportError without pydot.
    """
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    extension = os.path.splitext(to_file)[1][1:] or "png"
    dot.write(to_file, format=extension)
    if extension == "pdf":
        return None
    try:
        from IPython import display
    except ImportError:
        return None
    return display.Image(filename=to_file)
