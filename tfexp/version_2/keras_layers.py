"""What `tf.compat.v2.keras.layers` has of its own: other defaults, and a normalization that can be frozen."""

from typing import Any

from tfexp.api.keras import layers
from tfexp.feature_column.states import NamedStates


class DenseFeatures(layers.DenseFeatures):
    """`DenseFeatures` whose variables are named as those of all layers, so that several may have one name."""

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any):
        super().__init__(feature_columns, trainable, name, **kwargs)
        self._states = NamedStates(self, self.trainable)


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
