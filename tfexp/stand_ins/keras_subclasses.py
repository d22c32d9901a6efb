"""Models that say in `call` what they compute, for tests of subclasses: `model_subclassing_test_util`. Source: TF 1.15.

What their `call` takes is what those tests are about: often less, or more, than a network's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.keras.engine.input_layer import Input
from tfexp.keras.engine.model import Model
from tfexp.keras.layers.convolutional import Conv2D
from tfexp.keras.layers.dense import Dense
from tfexp.keras.layers.dropout import Dropout
from tfexp.keras.layers.normalization import BatchNormalization
from tfexp.keras.layers.reshaping import Flatten


class SimpleTestModel(Model):
    """A perceptron, with dropout and normalization between its layers if asked for."""

    def __init__(self, use_bn: bool = False, use_dp: bool = False, num_classes: int = 10):
        super().__init__(name="test_model")
        self.use_bn, self.use_dp, self.num_classes = use_bn, use_dp, num_classes
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(num_classes, activation="softmax")
        if use_dp:
            self.dp = Dropout(0.5)
        if use_bn:
            self.bn = BatchNormalization(axis=-1)

    def call(self, x: Any) -> Any:  # type: ignore[override]
        x = self.dense1(x)
        x = self.dp(x) if self.use_dp else x
        x = self.bn(x) if self.use_bn else x
        return self.dense2(x)


class SimpleConvTestModel(Model):
    """A convolution, and classes."""

    def __init__(self, num_classes: int = 10):
        super().__init__(name="test_model")
        self.num_classes = num_classes
        self.conv1 = Conv2D(32, (3, 3), activation="relu")
        self.flatten = Flatten()
        self.dense1 = Dense(num_classes, activation="softmax")

    def call(self, x: Any) -> Any:  # type: ignore[override]
        return self.dense1(self.flatten(self.conv1(x)))


class MultiIOTestModel(Model):
    """Two inputs through one layer, then each to classes of its own; dropout is for the first, normalization the second."""

    def __init__(self, use_bn: bool = False, use_dp: bool = False, num_classes: Sequence[int] = (2, 3)):
        super().__init__(name="test_model")
        self.use_bn, self.use_dp, self.num_classes = use_bn, use_dp, num_classes
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(num_classes[0], activation="softmax")
        self.dense3 = Dense(num_classes[1], activation="softmax")
        if use_dp:
            self.dp = Dropout(0.5)
        if use_bn:
            self.bn = BatchNormalization()

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        first, second = map(self.dense1, inputs)
        first = self.dp(first) if self.use_dp else first
        second = self.bn(second) if self.use_bn else second
        return [self.dense2(first), self.dense3(second)]


class _Nested(Model):
    """A model inside of one."""

    def __init__(self, name: str, num_classes: int, inner: Any):
        super().__init__(name=name)
        self.num_classes = num_classes
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(num_classes, activation="relu")
        self.bn = BatchNormalization()
        self.test_net = inner

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return self.dense2(self.test_net(self.bn(self.dense1(inputs))))


class NestedTestModel1(_Nested):
    """One of a subclass inside."""

    def __init__(self, num_classes: int = 2):
        super().__init__("nested_model_1", num_classes, SimpleTestModel(num_classes=4, use_bn=True, use_dp=True))


class NestedTestModel2(_Nested):
    """One of the functional API inside."""

    def __init__(self, num_classes: int = 2):
        super().__init__("nested_model_2", num_classes, self.get_functional_graph_model(32, 4))

    @staticmethod
    def get_functional_graph_model(input_dim: int, num_classes: int) -> Any:
        inputs = Input(shape=(input_dim,))
        return Model(inputs, Dense(num_classes)(_normalized(inputs)))


def _normalized(inputs: Any) -> Any:
    return BatchNormalization()(Dense(32, activation="relu")(inputs))


class _Inner(Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(32, activation="relu")
        self.dense2 = Dense(5, activation="relu")
        self.bn = BatchNormalization()

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return self.bn(self.dense2(self.dense1(inputs)))


def get_nested_model_3(input_dim: int, num_classes: int) -> Any:
    """One of the functional API with a subclass inside."""
    inputs = Input(shape=(input_dim,))
    outputs = Dense(num_classes)(_Inner()(_normalized(inputs)))
    return Model(inputs, outputs, name="nested_model_3")


class CustomCallModel(Model):
    """`call` takes more than inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1, activation="relu")
        self.dense2 = Dense(1, activation="softmax")

    def call(self, first: Any, second: Any, fiddle_with_output: str = "no", training: Any = True) -> Any:  # type: ignore[override]
        both = self.dense1(first) + self.dense2(second)
        return 10.0 * both if fiddle_with_output == "yes" else both


class TrainingNoDefaultModel(Model):
    """`call` has to be told whether it is training."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1)

    def call(self, x: Any, training: Any) -> Any:  # type: ignore[override]
        return self.dense1(x)


class TrainingMaskingModel(Model):
    """`call` may be told of training and masks."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1)

    def call(self, x: Any, training: Any = False, mask: Any = None) -> Any:
        return self.dense1(x)
