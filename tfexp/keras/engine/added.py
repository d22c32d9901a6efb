"""Losses and metrics that are added to a network by tensors: layers at its side, so that they are computed on every call."""

from __future__ import annotations

from typing import Any

from tfexp.keras.engine.base_layer import Layer


class AddLoss(Layer):
    """Hands its input on and counts it as a loss; unconditional: one that does not depend on the network's inputs."""

    def __init__(self, unconditional: bool, **kwargs: Any):
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        self.add_loss(inputs, inputs=None if self.unconditional else inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """Hands its input on and reports it."""

    def __init__(self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.aggregation, self.metric_name = aggregation, metric_name

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "aggregation": self.aggregation, "metric_name": self.metric_name}
