"""`tensorflow.python.keras.engine.training_utils`: what training asks about data. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes, nest
from tfexp.data.dataset import Dataset
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras import backend
from tfexp.keras.training.arrays import check_lengths, check_shapes, in_order, is_symbolic
from tfexp.keras.training.batches import Whole, batches_shuffled
from tfexp.keras.training.by_output import losses_by_output, weights_by_output
from tfexp.keras.training.dataset_batches import is_dataset
from tfexp.keras.training.loop import Validation
from tfexp.keras.training.outputs import as_loss as get_loss_function
from tfexp.keras.training.outputs import reported_name as get_metric_name
from tfexp.keras.training.sample_weights import combined_weights as standardize_weights

__all__ = ["get_loss_function", "get_metric_name", "standardize_weights"]


class ModelInputs:
    """The inputs of a model, of which only data are known: one, several or a dictionary of arrays or TensorSpecs."""

    def __init__(self, inputs: Any):
        self._single = not isinstance(inputs, (list, tuple, Mapping))
        self._named = isinstance(inputs, Mapping)
        if self._named:
            self._by_name = dict(sorted(inputs.items()))
        else:
            self._by_name = {f"input_{number}": one for number, one in enumerate(nest.flatten(inputs), start=1)}

    def get_input_names(self) -> list[str]:
        """The keys of a dictionary, sorted; `input_1` and so on for others."""
        return list(self._by_name)

    def get_symbolic_inputs(self, return_single_as_list: bool = False) -> Any:
        """Placeholders in the place of data, in their structure. From now on these are the inputs."""
        self._by_name = {name: _placeholder(name, one) for name, one in self._by_name.items()}
        if self._named:
            return dict(self._by_name)
        made = self.as_list()
        return made[0] if self._single and not return_single_as_list else made

    def as_dict(self) -> Any:
        """Pairs of name and input."""
        return iter(self._by_name.items())

    def as_list(self) -> list[Any]:
        return list(self._by_name.values())


def _placeholder(name: str, value: Any) -> Any:
    """One for batches of such data: numbers alone become columns, floats are of Keras's float type."""
    value = np.asarray(value) if isinstance(value, (list, int, float)) else value
    if not isinstance(value, (np.ndarray, EagerTensor, TensorSpec)):
        return value
    shape = (None, *(value.shape[1:] if len(value.shape) > 1 else [1]))
    dtype = dtypes.as_dtype(value.dtype)
    floating = dtype.is_floating and not isinstance(value, TensorSpec)
    return backend.placeholder(shape=shape, name=name, dtype=backend.floatx() if floating else dtype.name)


# --- batches ------------------------------------------------------------------------------------------------------------


class MetricsAggregator:
    """The loss as its mean over steps or samples; of metrics, which add up by themselves, the last values."""

    def __init__(self, use_steps: bool, num_samples: int | None = None, steps: int | None = None):
        self.use_steps, self.num_samples, self.steps = use_steps, num_samples, steps
        self.results: list[Any] = []

    def create(self, batch_outs: Sequence[Any]) -> None:
        self.results = [0.0] * len(batch_outs)

    def aggregate(self, batch_outs: Sequence[Any], batch_start: int = 0, batch_end: int = 1) -> None:
        """batch_start, batch_end: which samples they are of, where these are counted."""
        weight = 1 if self.use_steps else batch_end - batch_start
        self.results = [self.results[0] + batch_outs[0] * weight, *batch_outs[1:]]

    def finalize(self) -> None:
        """ValueError where there was no batch."""
        if not self.results:
            raise ValueError("Empty training data.")
        self.results[0] /= self.num_samples or self.steps


class OutputsAggregator:
    """Outputs of batches, one behind the other, in their structure."""

    def __init__(
        self, use_steps: bool, num_samples: int | None = None, steps: int | None = None, batch_size: int | None = None
    ):
        self.use_steps, self.num_samples, self.steps, self.batch_size = use_steps, num_samples, steps, batch_size
        self.results: Any = []
        self._structure: Any = None
        self._batches: list[list[Any]] = []

    def create(self, batch_outs: Any) -> None:
        """RuntimeError for what is no array."""
        self._structure = batch_outs
        for one in nest.flatten(batch_outs):
            if not isinstance(one, (np.ndarray, EagerTensor)):
                raise RuntimeError(f"Attempted to aggregate unsupported object {one}.")

    def aggregate(self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """ValueError for more rows than a batch has."""
        parts = [np.asarray(one) for one in nest.flatten(batch_outs)]
        size = self.batch_size if self.use_steps or batch_start is None or batch_end is None else batch_end - batch_start
        for part in parts:
            if size and part.shape[0] > size:
                raise ValueError(
                    "Mismatch between expected batch size and model output batch size. Output shape = "
                    f"{part.shape}, expected output shape = shape {(size, *part.shape[1:])}"
                )
        self._batches.append(parts)

    def finalize(self) -> None:
        joined = [np.concatenate(parts, axis=0) for parts in zip(*self._batches, strict=True)]
        self.results = nest.pack_sequence_as(self._structure, joined)


def batch_shuffle(index_array: np.ndarray[Any, Any], batch_size: int) -> np.ndarray[Any, Any]:
    """Whole batches in another order; the last, smaller one stays last."""
    return batches_shuffled(index_array, batch_size)


def slice_arrays(arrays: Any, indices: Any, contiguous: bool = True) -> Any:
    """What an array, or each of a list, has at these places; None for None. contiguous: from the first to the last."""
    which = slice(indices[0], indices[-1] + 1) if contiguous else indices
    if isinstance(arrays, list):
        return [None if one is None else one[which] for one in arrays]
    return None if arrays is None else arrays[which]


def split_training_and_validation_data(x: Any, y: Any, sample_weights: Any, validation_split: float) -> tuple[Any, ...]:
    """(x, y, weights) of the first part, then of the last. ValueError for tensors without values."""
    if has_symbolic_tensors(x):
        raise ValueError(
            "If your data is in the form of symbolic tensors, you cannot use `validation_split`: pass validation data "
            "instead."
        )
    count = int(x[0].shape[0])
    at = int(count * (1.0 - validation_split))
    first, last = range(at), range(at, count)
    return tuple(slice_arrays(one, part) for part in (first, last) for one in (x, y, sample_weights))


def unpack_validation_data(validation_data: Any) -> tuple[Any, Any, Any]:
    """(x, y, weights); a dataset is x. ValueError for another number of them."""
    if is_dataset(validation_data):
        return validation_data, None, None
    if len(validation_data) not in (2, 3):
        raise ValueError(
            "`validation_data` must contain 2 items (x_val, y_val) or 3 items (x_val, y_val, val_sample_weights), or be a "
            f"dataset or an iterator over one, not {validation_data}"
        )
    x, y, *weights = validation_data
    return x, y, weights[0] if weights else None


def should_run_validation(validation_freq: Any, epoch: int) -> bool:
    """Whether there is a validation after this epoch, which are counted from 0."""
    return Validation(Whole([], (), 0), validation_freq).is_due(epoch)


# --- what was given -----------------------------------------------------------------------------------------------------


def standardize_input_data(
    data: Any, names: Sequence[str], shapes: Any = None, check_batch_axis: bool = True, exception_prefix: str = ""
) -> list[Any]:
    """The arrays of these names, of the shapes; batch sizes are not looked at. ValueError for what does not fit."""
    values = in_order(data, names, exception_prefix)
    check_shapes(values, names, shapes or [None] * len(names), exception_prefix)
    return values


def standardize_sample_weights(sample_weight: Any, output_names: Sequence[str]) -> list[Any]:
    """For each output its weights of samples."""
    return weights_by_output(sample_weight, output_names, "sample_weight")


def standardize_class_weights(class_weight: Any, output_names: Sequence[str]) -> list[Any]:
    """For each output its weights of classes."""
    return weights_by_output(class_weight, output_names, "class_weight")


def prepare_loss_functions(loss: Any, output_names: Sequence[str]) -> list[Any]:
    """For each output its loss."""
    return [get_loss_function(one) for one in losses_by_output(loss, output_names)]


def check_array_lengths(inputs: Any, targets: Any, weights: Any = None) -> None:
    """ValueError unless all have the same number of samples."""
    check_lengths(inputs or [], targets or [], weights or [])


def check_num_samples(
    ins: Sequence[Any], batch_size: int | None = None, steps: int | None = None, steps_name: str = "steps"
) -> int | None:
    """How many samples there are; None where steps are counted. ValueError for both a batch size and steps."""
    if steps is not None and batch_size is not None:
        raise ValueError(f"If {steps_name} is set, the `batch_size` must be None.")
    if check_steps_argument(ins, steps, steps_name):
        return None
    return int(ins[0].shape[0]) if hasattr(ins[0], "shape") else None


def check_steps_argument(input_data: Any, steps: int | None, steps_name: str) -> bool:
    """Whether steps are counted. ValueError where they are to be told and are not: of these only a dataset knows its end."""
    if isinstance(input_data, Dataset):
        return True
    is_empty = isinstance(input_data, list) and not input_data
    counted = input_data is None or is_empty or is_dataset(input_data) or has_symbolic_tensors(input_data)
    if counted and steps is None:
        what = "a Dataset iterator" if is_dataset(input_data) else "data tensors"
        raise ValueError(f"When using {what} as input to a model, you should specify the `{steps_name}` argument.")
    return counted


def has_symbolic_tensors(ls: Any) -> bool:
    """Whether one of them is a tensor without a value."""
    return any(is_symbolic(one) for one in nest.flatten(ls))


def is_dataset_or_iterator(data: Any) -> bool:
    return is_dataset(data)


def is_eager_dataset_or_iterator(data: Any) -> bool:
    """Whether it is one whose elements can be taken in Python."""
    return executing_eagerly() and is_dataset(data)


def get_input_shape_and_dtype(layer: Any) -> tuple[Any, Any]:
    """What a first layer, or the first inside, was told of batches."""
    while getattr(layer, "_layers", None):
        layer = layer._layers[0]
    return getattr(layer, "_batch_input_shape", None), layer.dtype


def get_static_batch_size(layer: Any) -> int | None:
    """How large batches are, where a layer was told."""
    shape, _ = get_input_shape_and_dtype(layer)
    return None if shape is None else shape[0]


def generic_output_names(outputs_list: Sequence[Any]) -> list[str]:
    return [f"output_{number}" for number in range(1, len(outputs_list) + 1)]


def list_to_tuple(maybe_list: Any) -> Any:
    return tuple(maybe_list) if isinstance(maybe_list, list) else maybe_list


def convert_eager_tensors_to_numpy(structure: Any) -> Any:
    """Tensors that have values, as arrays."""
    return nest.map_structure(lambda one: one.numpy() if isinstance(one, EagerTensor) else one, structure)
