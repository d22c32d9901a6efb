"""What a converter may be told: ops it may use, what it should optimise, examples. Source: `tf.lite`, TF 1.15."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any


class Optimize(enum.Enum):
    """What to optimise for; all three round weights to int8, and with a representative data set activations, too."""

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"

    def __str__(self) -> str:
        return str(self.value)


class OpsSet(enum.Enum):
    """The ops that a model may use."""

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"

    def __str__(self) -> str:
        return str(self.value)

    @staticmethod
    def get_options() -> list[str]:
        """Their names."""
        return [str(option) for option in OpsSet]


class RepresentativeDataset:
    """Examples by which ranges of activations are found: `input_gen()` yields lists of arrays, one for each input."""

    def __init__(self, input_gen: Callable[[], Iterable[list[Any]]]):
        self.input_gen = input_gen


class TargetSpec:
    """What the model is to run on: `supported_ops`, a set of `OpsSet`; `supported_types` of constants."""

    def __init__(self, supported_ops: Any = None, supported_types: Any = None):
        self.supported_ops = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else supported_ops
        self.supported_types = [] if supported_types is None else supported_types
