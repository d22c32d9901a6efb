"""What a model is fed with: its inputs in order, and, for a model that does not know them, what its first data tells."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes, nest
from tfexp.core.nest import Composite
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import executing_eagerly, init_scope
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras import backend
from tfexp.keras.engine.node import alone, as_called_with, shape_of
from tfexp.keras.training.arrays import (
    Shape,
    as_fed,
    check_shapes,
    in_order,
    is_composite_value,
    is_symbolic,
)
from tfexp.keras.training.batches import Batch
from tfexp.keras.training.eager_steps import EagerSteps
from tfexp.keras.training.outputs import Output
from tfexp.keras.training.steps import PREDICT, GraphSteps, Steps
from tfexp.ops.check_types import is_tensor


class Feeding:
    """A model as something that takes arrays and gives predictions. It is prepared when it first sees data."""

    def __init__(self, model: Any):
        self.model = model
        self.outputs: list[Output] = []
        self._steps: Steps | None = None
        self._input_names: list[str] = []
        self._input_shapes: list[Shape | None] = []
        self._input_dtypes: list[Any] = []
        self._input_is_sparse: list[bool] = []

    @property
    def prepared(self) -> bool:
        return self._steps is not None

    def prepare(self, x: Any = None) -> None:
        """Make what computes steps. x: the first data, for a model without known inputs."""
        if self.prepared:
            return
        if self.model.inputs:
            fed = fed_inputs(self.model)
            self._input_names = [name for name, _ in fed]
            self._input_shapes = [shape_of(tensor) for _, tensor in fed]
            self._input_dtypes = [tensor.dtype.base_dtype for _, tensor in fed]
            self._input_is_sparse = [backend.is_sparse(tensor) for _, tensor in fed]
            tensors, names = self.model.outputs, self.model.output_names
            self._with_outputs(names, [shape_of(tensor) for tensor in tensors], tensors)
        elif executing_eagerly() and self.model.dynamic:
            self._know_by_calling(x)
        else:
            know_inputs(self.model, x)
            self.prepare()

    def _know_by_calling(self, x: Any) -> None:
        """A dynamic model, which cannot be drawn, is asked about the first example."""
        self.model._takes_named_inputs = isinstance(x, Mapping)
        given = x if isinstance(x, Mapping) else _as_list(x)
        self._input_names = sorted(x) if isinstance(x, Mapping) else [f"input_{i}" for i in range(1, len(given) + 1)]
        self.model.input_names = self._input_names
        arrays = in_order(given, self._input_names, "input")
        self._input_dtypes = [_dtype_of(array) for array in arrays]
        self._input_is_sparse = [False for _ in arrays]
        self._input_shapes = [(None, *array.shape[1:]) for array in arrays]
        examples = [
            convert_to_tensor(as_fed(np.asarray(array[:1]), dtype))
            for array, dtype in zip(arrays, self._input_dtypes, strict=True)
        ]
        predictions = nest.flatten(self.model(as_called_with(self.model, examples)))
        names = [f"output_{number}" for number in range(1, len(predictions) + 1)]
        self.model.output_names = names
        self._with_outputs(names, [(None, *prediction.shape.as_list()[1:]) for prediction in predictions], predictions)

    def _with_outputs(self, names: Sequence[str], shapes: Sequence[Any], tensors: Sequence[Any]) -> None:
        """Now that they are known: make the steps."""
        self._steps = self._make_steps()

    def _make_steps(self) -> Steps:
        return EagerSteps(self.model, self.outputs) if executing_eagerly() else GraphSteps(self.model, self.outputs)

    @property
    def steps(self) -> Any:
        """What computes steps; RuntimeError before there has been data to know the inputs by."""
        self.prepare_without_data()
        return self._steps

    def prepare_without_data(self) -> None:
        if not self.prepared:
            if not self.model.inputs:
                raise RuntimeError(f"The inputs of model {self.model.name!r} are not known before it has seen data")
            self.prepare()

    @property
    def input_names(self) -> list[str]:
        """The inputs that take values: all but those that are tensors of the user's."""
        return self._input_names

    def arranged_inputs(self, x: Any) -> list[Any]:
        """The arrays of the inputs, in their order. ValueError for what does not fit."""
        self.prepare(x)
        names = self._input_names
        values = in_order(x, names, "input", self._input_shapes)
        missing = [name for name, value in zip(names, values, strict=True) if value is None]
        if missing:
            raise ValueError(f'No data provided for "{missing[0]}". Need data for each key in: {names}')
        check_shapes(values, names, self._input_shapes, "input")
        kinds = zip(values, self._input_dtypes, self._input_is_sparse, strict=True)
        return [as_fed(value, dtype, sparse) for value, dtype, sparse in kinds]

    def batch_size(self, given: int | None) -> int:
        """The given one, or the one that the inputs have, or 32. ValueError where the two differ."""
        fixed = next((shape[0] for shape in self._input_shapes if shape and shape[0] is not None), None)
        if fixed is not None and given is not None and given != fixed:
            raise ValueError(
                f"The `batch_size` argument value {given} is incompatible with the specified batch size of your Input "
                f"Layer: {fixed}"
            )
        return given or fixed or 32

    def predict(self, batch: Batch) -> list[Any]:
        self.prepare(batch.values)
        return list(self.steps.function(PREDICT, ())(batch.values))

    def backend_function(self, mode: str) -> Any:
        """The function of `tf.keras.backend` behind the steps; None in eager execution, which has none."""
        return None if executing_eagerly() else self.steps.backend_function(mode, self.announced_weights)

    @property
    def announced_weights(self) -> tuple[bool, ...]:
        """For each output whether there will be weights, as `compile` was told."""
        return ()


def fed_inputs(model: Any) -> list[tuple[str, Any]]:
    """(name, placeholder) of each input that takes values: all but those that are tensors of the user's."""
    named = zip(model.input_names, model.inputs, strict=True)
    return [(name, tensor) for name, tensor in named if backend.is_placeholder(tensor)]


def know_inputs(model: Any, x: Any) -> None:
    """Give a model that says in `call` what it computes inputs like these data, and outputs; in a graph."""
    if x is None:
        raise ValueError(f"The inputs of model {model.name!r} are not known: it needs data, or `build`, first")
    named = sorted(x.items()) if isinstance(x, Mapping) else list(enumerate(_as_list(x), start=1))
    names = [f"input_{key}" if isinstance(key, int) else key for key, _ in named]
    with backend.get_graph().as_default():
        placeholders = [_placeholder_like(value, name) for (_, value), name in zip(named, names, strict=True)]
    model._takes_named_inputs = isinstance(x, Mapping)
    as_inputs_of(model, placeholders, names)


def as_inputs_of(model: Any, placeholders: list[Any], names: list[str] | None = None) -> None:
    """Give a model that says in `call` what it computes these inputs, and the outputs that it has for them."""
    eagerly = executing_eagerly()
    with contextlib.nullcontext() if eagerly else backend.get_graph().as_default(), init_scope():
        names = names or [f"input_{number}" for number in range(1, len(placeholders) + 1)]
        given = dict(zip(names, placeholders, strict=True)) if model._takes_named_inputs else alone(placeholders)
        # Drawn eagerly, what is not said of training is a placeholder all the same.
        arguments = {"training": backend.learning_phase()} if model._takes("training") and not eagerly else {}
        outputs = nest.flatten(model(given, **arguments))
    model.inputs, model.outputs = placeholders, outputs
    model.input_names = names
    model.output_names = [f"output_{number}" for number in range(1, len(outputs) + 1)]


def _placeholder_like(value: Any, name: str) -> Any:
    """A placeholder for batches of such examples, or of a TensorSpec. Numbers alone become columns."""
    if isinstance(value, Composite) or is_composite_value(value):
        raise ValueError(
            "All SparseTensor and RaggedTensor inputs must be explicitly declared using a keras.Input() with sparse=True or "
            f"ragged=True. We found an undeclared input {value}."
        )
    if is_tensor(value) or isinstance(value, TensorSpec):
        return backend.placeholder(shape=(None, *value.shape.as_list()[1:]), dtype=_dtype_of(value).name, name=name)
    array = in_order([value], [name], "input")[0]
    return backend.placeholder(shape=(None, *array.shape[1:]), dtype=_dtype_of(array).name, name=name)


def _dtype_of(array: Any) -> Any:
    """The type that an input has for such data: Keras's float type for all floats."""
    known = is_symbolic(array) or isinstance(array, TensorSpec)
    dtype = array.dtype if known else dtypes.as_dtype(np.asarray(array).dtype)
    return dtypes.as_dtype(backend.floatx()) if dtype.is_floating else dtype


def _as_list(x: Any) -> list[Any]:
    if isinstance(x, Mapping):
        return [x[key] for key in sorted(x)]
    if isinstance(x, (list, tuple)) and x and hasattr(x[0], "shape"):
        return list(x)
    return [x]
