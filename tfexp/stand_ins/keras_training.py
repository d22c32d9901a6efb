"""`tensorflow.python.keras.engine.training_utils`: what training asks about data. Source: TF 1.15."""

from __future__ import annotations

import abc
import atexit
import multiprocessing.pool
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes, nest
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras import backend
from tfexp.keras.training.arrays import is_composite_value
from tfexp.keras.training.batches import Whole, batches_shuffled
from tfexp.keras.training.dataset_batches import is_dataset
from tfexp.keras.training.joined import joined
from tfexp.keras.training.loop import Validation
from tfexp.keras.training.sample_weights import combined_weights as standardize_weights  # noqa: F401 (a name of the module)
from tfexp.stand_ins.keras_training_data import (  # noqa: F401 (names of the module this stands in for)
    assert_not_batched,
    assert_not_shuffled,
    call_metric_function,
    cast_if_floating_dtype,
    cast_if_floating_dtype_and_mismatch,
    cast_single_tensor,
    check_array_lengths,
    check_generator_arguments,
    check_loss_and_target_compatibility,
    check_num_samples,
    check_steps_argument,
    collect_per_output_metric_info,
    convert_eager_tensors_to_numpy,
    extract_tensors_from_dataset,
    generic_output_names,
    get_input_shape_and_dtype,
    get_iterator,
    get_loss_function,
    get_metric_function,
    get_metric_name,
    get_progbar,
    get_static_batch_size,
    has_symbolic_tensors,
    has_tensors,
    infer_steps_for_dataset,
    initialize_iterator,
    is_dataset_or_iterator,
    is_eager_dataset_or_iterator,
    list_to_tuple,
    prepare_loss_functions,
    standardize_class_weights,
    standardize_input_data,
    standardize_sample_or_class_weights,
    standardize_sample_weights,
    standardize_single_array,
    unpack_iterator_input,
    validate_dataset_input,
    validate_input_types,
    verify_dataset_shuffled,
)


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


class Aggregator(abc.ABC):
    """What batches give, put together: `create` with the first, `aggregate` each, then `finalize`; see `results`."""

    def __init__(
        self, use_steps: bool, num_samples: int | None = None, steps: int | None = None, batch_size: int | None = None
    ):
        self.use_steps, self.num_samples, self.steps, self.batch_size = use_steps, num_samples, steps, batch_size
        self.results: Any = []

    @abc.abstractmethod
    def create(self, batch_outs: Any) -> None:
        """batch_outs: what the first batch gave."""

    @abc.abstractmethod
    def aggregate(self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """batch_start, batch_end: which samples these are of, where samples are counted."""

    @abc.abstractmethod
    def finalize(self) -> None:
        """Nothing more comes."""


class MetricsAggregator(Aggregator):
    """The loss as its mean over steps or samples; of metrics, which add up by themselves, the last values."""

    def __init__(self, use_steps: bool, num_samples: int | None = None, steps: int | None = None):
        super().__init__(use_steps, num_samples, steps)

    def create(self, batch_outs: Sequence[Any]) -> None:
        self.results = [0.0] * len(batch_outs)

    def aggregate(self, batch_outs: Sequence[Any], batch_start: int | None = None, batch_end: int | None = None) -> None:
        counted = not self.use_steps and batch_start is not None and batch_end is not None
        weight = batch_end - batch_start if counted else 1  # type: ignore[operator]
        self.results = [self.results[0] + batch_outs[0] * weight, *batch_outs[1:]]

    def finalize(self) -> None:
        """ValueError where there was no batch."""
        if not self.results:
            raise ValueError("Empty training data.")
        self.results[0] /= self.num_samples or self.steps


class ConcatAggregator(Aggregator):
    """Arrays, or values of sparse and ragged tensors, one behind the other. `batch_size`: of all but the last, if known."""

    def __init__(self, batch_size: int | None):
        super().__init__(use_steps=True, batch_size=batch_size)

    def create(self, batch_element: Any) -> None:
        self._is_composite = is_composite_value(batch_element)

    def aggregate(self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """ValueError for more rows than a batch has."""
        if self.batch_size and not self._is_composite and self.batch_size < batch_element.shape[0]:
            raise ValueError(
                "Mismatch between expected batch size and model output batch size. Output shape = "
                f"{batch_element.shape}, expected output shape = shape {(self.batch_size, *batch_element.shape[1:])}"
            )
        self.results.append(batch_element)

    def finalize(self) -> None:
        self.results = joined(self.results)


_COPY_THREADS = 4
_COPY_POOL: Any = None


def get_copy_pool() -> Any:
    """The threads in which large arrays are copied, made when they are first asked for."""
    global _COPY_POOL
    if _COPY_POOL is None:
        _COPY_POOL = multiprocessing.pool.ThreadPool(_COPY_THREADS)
        atexit.register(_COPY_POOL.close)
    return _COPY_POOL


class SliceAggregator(Aggregator):
    """Arrays of which the number of rows is known, each written at its place: large ones in threads."""

    _BINARY_SIZE_THRESHOLD = 2**14
    _MAX_COPY_SECONDS = 300

    def __init__(self, num_samples: int, batch_size: int | None):
        super().__init__(use_steps=False, num_samples=num_samples, batch_size=batch_size)
        self._copies: list[threading.Event] = []
        self._errors: list[Exception] = []

    def create(self, batch_element: Any) -> None:
        self.results = np.empty((self.num_samples, *batch_element.shape[1:]), dtype=batch_element.dtype)

    def aggregate(self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        """The error of an earlier copy is raised here, or when nothing more comes."""
        if self._errors:
            raise self._errors[0]
        if batch_end - batch_start == self.num_samples:  # type: ignore[operator]
            self.results = batch_element
            return
        if batch_element.size < self._BINARY_SIZE_THRESHOLD:
            self.results[batch_start:batch_end] = batch_element
            return
        done = threading.Event()
        self._copies.append(done)
        get_copy_pool().apply_async(self._slice_assign, args=(batch_element, batch_start, batch_end, done))

    def _slice_assign(self, batch_element: Any, batch_start: int, batch_end: int, is_finished: threading.Event) -> None:
        try:
            self.results[batch_start:batch_end] = batch_element
        except Exception as error:
            self._errors.append(error)
        finally:
            is_finished.set()

    def finalize(self) -> None:
        """ValueError for a copy that does not end."""
        end = time.monotonic() + self._MAX_COPY_SECONDS
        for done in self._copies:
            if not done.wait(max(0.0, end - time.monotonic())):
                raise ValueError("Timed out waiting for copy to complete.")
        if self._errors:
            raise self._errors[0]


class OutputsAggregator(Aggregator):
    """Outputs of batches, one behind the other, in their structure."""

    def create(self, batch_outs: Any) -> None:
        """RuntimeError for what is no array."""
        self._structure = batch_outs
        for one in _leaves(batch_outs):
            if is_composite_value(one) or (self.use_steps and isinstance(one, (np.ndarray, EagerTensor))):
                part: Aggregator = ConcatAggregator(self.batch_size)
            elif isinstance(one, (np.ndarray, EagerTensor)):
                part = SliceAggregator(self.num_samples or 0, self.batch_size)
            else:
                raise RuntimeError(f"Attempted to aggregate unsupported object {one}.")
            part.create(one)
            self.results.append(part)

    def aggregate(self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None) -> None:
        for part, one in zip(self.results, _leaves(batch_outs), strict=True):
            part.aggregate(one, batch_start, batch_end)

    def finalize(self) -> None:
        for part in self.results:
            part.finalize()
        self.results = _packed(self._structure, iter([part.results for part in self.results]))


def _is_several(outputs: Any) -> bool:
    return isinstance(outputs, (list, tuple)) and not is_composite_value(outputs)


def _leaves(outputs: Any) -> list[Any]:
    """The outputs of a structure; values of sparse and ragged tensors, which are tuples, are outputs."""
    if isinstance(outputs, Mapping):
        return [leaf for key in sorted(outputs) for leaf in _leaves(outputs[key])]
    return [leaf for one in outputs for leaf in _leaves(one)] if _is_several(outputs) else [outputs]


def _packed(structure: Any, values: Iterator[Any]) -> Any:
    """The values in the places of the structure's leaves."""
    if isinstance(structure, Mapping):
        filled = {key: _packed(structure[key], values) for key in sorted(structure)}
        return {key: filled[key] for key in structure}
    return [_packed(one, values) for one in structure] if _is_several(structure) else next(values)


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
