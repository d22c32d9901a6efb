"""What `tf.compat.v2.keras.layers` has of its own: other defaults, and a normalization that can be frozen."""

from typing import Any

from tfexp.api.keras import layers


class DenseFeatures(layers.DenseFeatures):
    """`DenseFeatures` of a class of its own, as programs tell them apart by it."""


class LSTMCell(layers.LSTMCell):
    """`LSTMCell` with logistic gates."""

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", *args: Any, **kwargs: Any
    ):
        super().__init__(units, activation, recurrent_activation, *args, **{"implementation": 2, **kwargs})


class LSTM(layers.LSTM):
    """`LSTM` with logistic gates."""

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", *args: Any, **kwargs: Any
    ):
        super().__init__(units, activation, recurrent_activation, *args, **{"implementation": 2, **kwargs})


class GRUCell(layers.GRUCell):
    """`GRUCell` with logistic gates, of which the reset gate comes after the product."""

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", *args: Any, **kwargs: Any
    ):
        options = {"implementation": 2, "reset_after": True, **kwargs}
        super().__init__(units, activation, recurrent_activation, *args, **options)


class GRU(layers.GRU):
    """`GRU` with logistic gates, of which the reset gate comes after the product."""

    def __init__(
        self, units: int, activation: Any = "tanh", recurrent_activation: Any = "sigmoid", *args: Any, **kwargs: Any
    ):
        options = {"implementation": 2, "reset_after": True, **kwargs}
        super().__init__(units, activation, recurrent_activation, *args, **options)


class BatchNormalization(layers.BatchNormalization):
    """`BatchNormalization` that only uses its moving averages while it is not trainable."""

    def call(self, inputs: Any, training: Any = None) -> Any:
        return super().call(inputs, training if self.trainable else False)
