"""The part of `tensorflow.python.keras.engine.training_utils` that checks what training was given. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import log, nest
from tfexp.core.nest import Composite
from tfexp.data.dataset import Dataset
from tfexp.data.iterator import make_initializable_iterator
from tfexp.data.transformations import cardinality
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras import metrics as keras_metrics
from tfexp.keras.callbacks.progress import ProgbarLogger
from tfexp.keras.losses.loss import LossFunctionWrapper
from tfexp.keras.training.arrays import check_lengths, check_shapes, check_targets, in_order, is_symbolic
from tfexp.keras.training.by_output import losses_by_output, metrics_by_output, weights_by_output
from tfexp.keras.training.data import NOT_SHUFFLED, refuse
from tfexp.keras.training.dataset_batches import INFINITE, is_dataset, is_in_order, is_of_single_elements
from tfexp.keras.training.outputs import as_loss as get_loss_function
from tfexp.keras.training.outputs import function_name, function_of
from tfexp.keras.training.outputs import reported_name as get_metric_name
from tfexp.ops.array import expand_dims
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.variable_base import Variable
from tfexp.stand_ins.weighted_losses import squeeze_or_expand_dimensions


def standardize_input_data(
    data: Any, names: Sequence[str], shapes: Any = None, check_batch_axis: bool = True, exception_prefix: str = ""
) -> list[Any]:
    """The arrays of these names, of the shapes; batch sizes are not looked at. ValueError for what does not fit."""
    values = in_order(data, names, exception_prefix, shapes)
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


def has_tensors(ls: Any) -> bool:
    """Whether it is a tensor or a variable, whatever its value, or a list or dictionary that has one."""
    several = ls.values() if isinstance(ls, Mapping) else ls if isinstance(ls, (list, tuple)) else [ls]
    return any(isinstance(one, (Tensor, Variable, Composite)) for one in several)


def standardize_single_array(x: Any, expected_shape: Any = None) -> Any:
    """An array or tensor of one dimension as a column, unless one dimension is what is expected."""
    if x is None or len(x.shape) != 1 or (expected_shape is not None and len(expected_shape) == 1):
        return x
    return expand_dims(x, axis=-1) if isinstance(x, Tensor) else np.expand_dims(x, -1)


def standardize_sample_or_class_weights(x_weight: Any, output_names: Sequence[str], weight_type: str) -> list[Any]:
    """For each output its weights; `weight_type` is what errors call them."""
    return weights_by_output(x_weight, output_names, weight_type)


def validate_input_types(inp: Any, orig_inp: Any, allow_dict: bool = True, field_name: str = "inputs") -> None:
    """ValueError for what is no array or tensor, no list of these and no dictionary (or is one that is not allowed)."""
    if isinstance(inp, (list, tuple)):
        good = all(isinstance(one, np.ndarray) or has_tensors(one) for one in inp)
    elif isinstance(inp, Mapping):
        if not allow_dict:
            raise ValueError(f"You cannot pass a dictionary as model {field_name}.")
        good = True
    else:
        good = isinstance(inp, np.ndarray) or has_tensors(inp)
    if not good:
        raise ValueError(
            f"Please provide as model inputs either a single array or a list of arrays. You passed: {field_name}={orig_inp}"
        )


def check_generator_arguments(y: Any = None, sample_weight: Any = None, validation_split: Any = None) -> None:
    """ValueError for what a generator gives by itself."""
    refuse(None, y=y, sample_weight=sample_weight, validation_split=validation_split or None)


def validate_dataset_input(x: Any, y: Any, sample_weight: Any, validation_split: Any = None) -> None:
    """ValueError for what a dataset gives by itself."""
    refuse(x, y=y, sample_weight=sample_weight, validation_split=validation_split or None)


# --- types --------------------------------------------------------------------------------------------------------------


def cast_single_tensor(x: Any, dtype: Any = None) -> Any:
    """Floats as `dtype` (None: Keras's float type)."""
    return cast(x, dtype or backend.floatx()) if np.dtype(x.dtype.name).kind == "f" else x


def cast_if_floating_dtype(x: Any) -> Any:
    """Floats of a structure in Keras's float type."""
    return nest.map_structure(cast_single_tensor, x)


def cast_if_floating_dtype_and_mismatch(targets: Any, outputs: Sequence[Any]) -> Any:
    """Targets that are floats, in the type of their outputs; one target in that of the first."""
    if isinstance(targets, Tensor):
        return cast_single_tensor(targets, dtype=outputs[0].dtype)
    return [
        cast_single_tensor(target, dtype=output.dtype if target.dtype != output.dtype else None)
        for target, output in zip(targets, outputs, strict=False)
    ]


# --- losses and metrics -------------------------------------------------------------------------------------------------


class _Compared:
    """An output as `check_targets` looks at it."""

    def __init__(self, loss: Any, shape: Any):
        self.loss = loss
        self.loss_function_name = function_name(loss) or getattr(loss, "__name__", None)
        self.target_shape = shape if isinstance(loss, LossFunctionWrapper) else None


def check_loss_and_target_compatibility(targets: Sequence[Any], loss_fns: Sequence[Any], output_shapes: Any) -> None:
    """ValueError for targets whose shape their loss would not take as meant."""
    outputs: list[Any] = [_Compared(loss, shape) for loss, shape in zip(loss_fns, output_shapes, strict=True)]
    check_targets(targets, outputs)


def get_metric_function(metric: Any, output_shape: Any = None, loss_fn: Any = None) -> Any:
    """The function of a metric; of 'accuracy' and 'crossentropy' by the output's shape and what its loss takes."""
    return function_of(metric, output_shape, function_name(loss_fn))


def call_metric_function(
    metric_fn: Callable[..., Any], y_true: Any, y_pred: Any = None, weights: Any = None, mask: Any = None
) -> Any:
    """What a metric makes of these. A mask, and weights with it, are of the predictions' type."""
    if mask is not None:
        mask = cast(mask, y_pred.dtype)
        if weights is not None:
            mask, _, weights = squeeze_or_expand_dimensions(mask, None, weights)
            mask = mul(weights, mask)
        weights = mask
    if y_pred is None:
        return metric_fn(y_true, sample_weight=weights)
    return metric_fn(y_true, y_pred, sample_weight=weights)


def collect_per_output_metric_info(
    metrics: Any, output_names: Sequence[str], output_shapes: Any, loss_fns: Sequence[Any], is_weighted: bool = False
) -> list[dict[str, Any]]:
    """For each output its metrics by the names that reports use."""
    found = []
    given = zip(metrics_by_output(metrics, output_names), output_shapes, loss_fns, strict=True)
    for of_output, shape, loss in given:
        by_name = {}
        for metric in of_output:
            name, function = get_metric_name(metric, is_weighted), get_metric_function(metric, shape, loss)
            is_metric = isinstance(function, keras_metrics.Metric)
            by_name[name] = function if is_metric else keras_metrics.MeanMetricWrapper(function, name=name)
        found.append(by_name)
    return found


# --- datasets -----------------------------------------------------------------------------------------------------------


def assert_not_batched(dataset: Dataset) -> None:
    """ValueError unless it is known that elements do not come in batches."""
    if not is_of_single_elements(dataset):
        raise ValueError("Could not assert that dataset is not batched.")


def assert_not_shuffled(dataset: Dataset) -> None:
    """ValueError unless it is known that elements come in their order."""
    if not is_in_order(dataset):
        raise ValueError("Could not assert that dataset is not shuffled.")


def verify_dataset_shuffled(x: Dataset) -> None:
    """A warning for a dataset that comes in its order."""
    if is_in_order(x):
        log.warn(NOT_SHUFFLED)


def infer_steps_for_dataset(
    model: Any, dataset: Dataset, steps: int | None, epochs: int = 1, steps_name: str = "steps"
) -> int | None:
    """How many steps there are: those asked for, or the dataset's; None where nobody knows.

    ValueError for too many, and for a dataset without end where none are asked for.
    """
    size = int(backend.get_value(cardinality(dataset)))
    if steps is None:
        if size == INFINITE:
            raise ValueError(f"When passing an infinitely repeating dataset, you must specify the `{steps_name}` argument.")
        return size if size >= 0 else None
    if 0 <= size < steps and epochs == 1:
        raise ValueError(
            f"The dataset you passed contains {size} batches, but you passed `{steps_name}={steps}`, which are more. Try "
            f"`{steps_name}={size}`."
        )
    return steps


def get_iterator(dataset: Dataset) -> Any:
    """An iterator that stands at the first element."""
    if executing_eagerly():
        return iter(dataset)
    iterator = make_initializable_iterator(dataset)
    initialize_iterator(iterator)
    return iterator


def initialize_iterator(iterator: Any) -> None:
    """Have Keras's session begin with it, in a graph."""
    if not executing_eagerly():
        backend.get_session().run(iterator.initializer)


def unpack_iterator_input(iterator: Any) -> tuple[Any, Any, Any]:
    """(x, y, weights) of the next element, None for what it lacks. ValueError for a tuple of another number."""
    element = iterator.get_next()
    if not isinstance(element, (list, tuple)):
        return element, None, None
    if len(element) not in (2, 3):
        raise ValueError(
            "Please provide model inputs as a list or tuple of 2 or 3 elements: (input, target) or (input, target, "
            f"sample_weights) Received {element}"
        )
    x, y, *weights = element
    return x, y, weights[0] if weights else None


def extract_tensors_from_dataset(dataset: Dataset) -> tuple[Any, Any, Any]:
    """(x, y, weights) of the first element."""
    return unpack_iterator_input(get_iterator(dataset))


def get_progbar(model: Any, count_mode: str) -> ProgbarLogger:
    """What draws the progress of such a model. Its metrics are totals already, its loss is averaged."""
    return ProgbarLogger(count_mode, stateful_metrics=getattr(model, "metrics_names", [])[1:])
