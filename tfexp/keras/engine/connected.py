"""What a layer was called on and what came out, by the number of the call. Source: `tf.keras.layers.Layer`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.engine.gathered import Gathered
from tfexp.keras.engine.node import Node, alone, masks_of
from tfexp.ops.trackable import NoDependency


class Connected(Gathered):
    """The calls of a layer on other layers' tensors, first to last, and their inputs and outputs."""

    _inbound_nodes: list[Node]
    _outbound_nodes: list[Node]

    @property
    def inbound_nodes(self) -> list[Node]:
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        return self._outbound_nodes

    @property
    def _layers(self) -> list[Any]:
        """The layers inside. What programs append to them, and what they assign here, counts, too.

        Checkpoints have what was assigned alone.
        """
        if "_layers" not in vars(self):
            self._assign_attribute("_layers", NoDependency([]))
        kept: list[Any] = vars(self)["_layers"]
        if "_layers" in self._no_parts:
            kept.extend(layer for layer in self._inner_layers if not any(layer is known for known in kept))
        return kept

    @_layers.setter
    def _layers(self, value: Any) -> None:
        vars(self)["_layers"] = value

    @property
    def input(self) -> Any:
        """What it was called on, the first time. AttributeError if it was not called."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return self._at(0, "input_tensors", "input")

    @property
    def output(self) -> Any:
        """What came out, the first time. AttributeError if it was not called."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return self._at(0, "output_tensors", "output")

    @property
    def input_mask(self) -> Any:
        """The masks of what it was called on, None where there is none."""
        return masks_of(self.input)

    @property
    def output_mask(self) -> Any:
        return masks_of(self.output)

    @property
    def input_shape(self) -> Any:
        """The shape that all calls' inputs have (a tuple, or a structure of these). AttributeError where they differ."""
        return self._only_shape("input_shapes", "input")

    @property
    def output_shape(self) -> Any:
        return self._only_shape("output_shapes", "output")

    def get_input_at(self, node_index: int) -> Any:
        """What the call of that number was on. RuntimeError for a layer that was never called, ValueError for another."""
        return self._at(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        return self._at(node_index, "output_tensors", "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        return self._at(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        return self._at(node_index, "output_shapes", "output shape")

    def get_input_mask_at(self, node_index: int) -> Any:
        return masks_of(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        return masks_of(self.get_output_at(node_index))

    def _only_shape(self, attribute: str, what: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(
                f"The layer has never been called and thus has no defined {what} shape. The layer is {self.name}; "
                f"`{what}_shape` is known of Functional and Sequential models."
            )
        shapes = [getattr(node, attribute) for node in self._inbound_nodes]
        if any(shape != shapes[0] for shape in shapes):
            raise AttributeError(
                f'The layer "{self.name} has multiple inbound nodes, with different {what} shapes. Hence the notion of "'
                f'{what} shape" is ill-defined for the layer. Use `get_{what}_shape_at(node_index)` instead.'
            )
        return shapes[0]

    def _at(self, number: int, attribute: str, what: str) -> Any:
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not number < len(self._inbound_nodes):
            raise ValueError(
                f"Asked to get {what} at node {number}, but the layer has only {len(self._inbound_nodes)} inbound nodes."
            )
        return alone(getattr(self._inbound_nodes[number], attribute))
