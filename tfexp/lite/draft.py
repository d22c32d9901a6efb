"""A model while it is made: tensors by name, steps in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfexp.formats.lite_model import LiteModel, LiteOperator, LiteTensor, type_of


@dataclass
class Step:
    """An op of TensorFlow Lite's on tensors by name; "" is an input that is left out."""

    op: str
    inputs: list[str]
    outputs: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    custom: str | None = None


class Draft:
    def __init__(self) -> None:
        self.tensors: dict[str, LiteTensor] = {}
        self.steps: list[Step] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []

    def add_tensor(self, name: str, shape: Any, dtype: Any) -> str:
        """Something that a step makes, or that the model is given."""
        self.tensors[name] = LiteTensor(name, tuple(shape), type_of(dtype))
        return name

    def add_constant(self, name: str, value: Any) -> str:
        """A constant of that name; of a name like it where the name has another value already."""
        value = np.asarray(value)
        name = self.free_name(name)
        self.tensors[name] = LiteTensor(
            name, value.shape, type_of(value.dtype), np.ascontiguousarray(value).reshape(value.shape)
        )
        return name

    def free_name(self, name: str) -> str:
        """The name itself, or with a number behind it."""
        found, number = name, 0
        while found in self.tensors:
            number += 1
            found = f"{name}_{number}"
        return found

    def value(self, name: str) -> np.ndarray | None:
        """A constant's; None for what is computed."""
        return self.tensors[name].data if name else None

    def consumers(self, name: str) -> list[Step]:
        return [step for step in self.steps if name in step.inputs]

    def only_consumer(self, name: str) -> Step | None:
        """The step that takes this tensor, where it is one, it takes it once, and the model does not give it out."""
        found = self.consumers(name)
        if len(found) != 1 or name in self.outputs or found[0].inputs.count(name) > 1:
            return None
        return found[0]

    def rename(self, old: str, new: str) -> None:
        """Call a tensor by another name, in all steps."""
        self.tensors[old].name = new
        self.tensors = {tensor.name: tensor for tensor in self.tensors.values()}
        for step in self.steps:
            step.inputs = [new if name == old else name for name in step.inputs]
            step.outputs = [new if name == old else name for name in step.outputs]

    def prune(self) -> None:
        """Drop the steps that no output needs, and tensors that no step has."""
        needed = set(self.outputs)
        kept = []
        for step in reversed(self.steps):
            if needed.intersection(step.outputs):
                needed.update(step.inputs, step.outputs)
                kept.append(step)
        self.steps = kept[::-1]
        needed.update(self.inputs)
        self.tensors = {name: tensor for name, tensor in self.tensors.items() if name in needed}

    def sort(self) -> None:
        """Let tensors be numbered by their names' order; what is added later comes behind."""
        self.tensors = {name: self.tensors[name] for name in sorted(self.tensors)}

    def model(self) -> LiteModel:
        """The model as it is now."""
        names = list(self.tensors)
        number = {name: place for place, name in enumerate(names)} | {"": -1}
        return LiteModel(
            tensors=[self.tensors[name] for name in names],
            inputs=[number[name] for name in self.inputs],
            outputs=[number[name] for name in self.outputs],
            operators=[
                LiteOperator(
                    step.op,
                    [number[name] for name in step.inputs],
                    [number[name] for name in step.outputs],
                    step.options,
                    step.version,
                    step.custom,
                )
                for step in self.steps
            ],
            description="Converted by tfexp.",
        )
