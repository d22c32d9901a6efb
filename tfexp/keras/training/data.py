"""Which kind of data was given, and the batches it makes for training, testing and prediction. Source: `fit`, TF 1.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import log
from tfexp.data.dataset import Dataset
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras.training.arrays import is_composite_value, is_symbolic, known_shape
from tfexp.keras.training.batches import Batches, Cut, CutAlike, Whole
from tfexp.keras.training.compiled import Compiled
from tfexp.keras.training.composite_rows import rows_of
from tfexp.keras.training.dataset_batches import Arranged, DatasetBatches, is_dataset, is_in_order
from tfexp.keras.training.feeding import Feeding
from tfexp.keras.training.generator_batches import GeneratorBatches, is_generator
from tfexp.keras.training.steps import Weighted

NOT_SHUFFLED = (
    "Expected a shuffled dataset but input dataset `x` is not shuffled. Please invoke `shuffle()` on input dataset."
)


class Data:
    """Makes batches for a model. max_queue_size, workers, use_multiprocessing: of generators and Sequences."""

    def __init__(self, feeding: Feeding, max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False):
        self._feeding = feeding
        # Eager execution has all data of a compiled model come through datasets.
        self._streamed = executing_eagerly() and isinstance(feeding, Compiled)
        self._ahead: dict[str, Any] = {
            "max_queue_size": max_queue_size,
            "workers": workers,
            "use_multiprocessing": use_multiprocessing,
        }

    def to_train_on(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        class_weight: Any,
        batch_size: int | None,
        steps: int | None,
        shuffle: bool | str,
        split: float = 0.0,
        validation_steps: int | None = None,
    ) -> tuple[Batches, Batches | None]:
        """What to train on, and what of it was held out to test on, by `validation_split`."""
        compiled = self._compiled
        if is_generator(x) or is_dataset(x):
            refuse(x, y=y, sample_weight=sample_weight, batch_size=batch_size, validation_split=split or None)
            arrange = _arranging(compiled, class_weight)
            if is_dataset(x):
                if shuffle and isinstance(x, Dataset) and not executing_eagerly() and is_in_order(x):
                    log.warn(NOT_SHUFFLED)
                counted = self._streamed
                return self._begun(DatasetBatches(x, steps, arrange, counted=counted, mean_over_samples=counted)), None
            return self._begun(GeneratorBatches(x, steps, arrange, shuffle=bool(shuffle), **self._ahead)), None
        x, y = _as_arrays(x, y)
        values, weighted = compiled.arranged(x, y, sample_weight, class_weight)
        if not split or not 0 < split < 1:
            return self._of_values(values, weighted, batch_size, steps, shuffle, "steps_per_epoch"), None
        if any(is_symbolic(value) for value in values):
            raise ValueError(
                "If your data is in the form of symbolic tensors, you cannot use `validation_split`: pass validation data "
                "instead."
            )
        at = int((known_shape(values[0])[0] or 0) * (1.0 - split))
        first = [rows_of(value, slice(at)) for value in values]
        trained = self._of_values(first, weighted, batch_size, steps, shuffle, "steps_per_epoch")
        held_out = [
            rows_of(value, slice(at, None)) for value in values
        ]  # with the weights of their classes, as TensorFlow has it
        return trained, self._tested_after(trained, held_out, weighted, validation_steps)

    def to_validate_on(self, data: Any, trained: Batches, steps: int | None) -> Batches:
        """(x, y), (x, y, weights), a dataset or a generator. ValueError for another tuple. trained: what is trained on."""
        compiled = self._compiled
        if is_dataset(data):
            counted = self._streamed
            return DatasetBatches(
                data, steps, _arranging(compiled), "validation_steps", counted=counted, mean_over_samples=counted
            )
        if is_generator(data):
            return GeneratorBatches(data, steps, _arranging(compiled), argument="validation_steps", **self._ahead)
        if not isinstance(data, (list, tuple)) or len(data) not in {2, 3}:
            raise ValueError(
                "When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items "
                "(x_val, y_val, val_sample_weights), or alternatively it could be a dataset or a dataset or a dataset "
                f"iterator. However we received `validation_data={data}`"
            )
        x, y = _as_arrays(*data[:2])
        values, weighted = compiled.arranged(x, y, data[2] if len(data) == 3 else None, None)
        if isinstance(trained, GeneratorBatches):
            return CutAlike(values, weighted, lambda: trained.last_size)
        return self._tested_after(trained, values, weighted, steps)

    def _tested_after(self, trained: Batches, values: list[Any], weighted: Weighted, steps: int | None) -> Batches:
        """What is tested on in batches as large as those trained on, or in `steps` batches where these are not known."""
        if not self._streamed:
            # TensorFlow shuffles these, too, which later draws from `np.random` depend on.
            return self._of_values(values, weighted, trained.batch_size, steps, True, "validation_steps")
        size = trained.batch_size
        if size is None and steps is not None:
            size = math.ceil((known_shape(values[0])[0] or 0) / steps)
        return self._cut(values, weighted, size, steps)

    def to_test_on(self, x: Any, y: Any, sample_weight: Any, batch_size: int | None, steps: int | None) -> Batches:
        compiled = self._compiled
        if is_generator(x) or is_dataset(x):
            refuse(x, y=y, sample_weight=sample_weight, batch_size=batch_size)
            if is_dataset(x):
                return self._begun(DatasetBatches(x, steps, _arranging(compiled), "steps", counted=self._streamed))
            return self._begun(GeneratorBatches(x, steps, _arranging(compiled), argument="steps", **self._ahead))
        x, y = _as_arrays(x, y)
        values, weighted = compiled.arranged(x, y, sample_weight, None)
        return self._of_values(values, weighted, batch_size, steps, False, "steps")

    def to_ask(self, x: Any, batch_size: int | None, steps: int | None) -> Batches:
        """Inputs to predict from; targets that a dataset or generator has are left aside."""

        def inputs_of(given: tuple[Any, ...]) -> tuple[list[Any], Weighted]:
            return self._feeding.arranged_inputs(given[0]), ()

        if is_dataset(x):
            refuse(x, batch_size=batch_size)
            return DatasetBatches(x, steps, inputs_of, "steps")
        if is_generator(x):
            return GeneratorBatches(x, steps, inputs_of, argument="steps", **self._ahead)
        return self._of_values(self._feeding.arranged_inputs(*_as_arrays(x)), (), batch_size, steps, False, "steps")

    def _begun(self, batches: Batches) -> Batches:
        """The batches, by now also known to the model: callbacks are told before the first one what is reported."""
        if not self._feeding.prepared:
            batches.look_ahead()
        return batches

    @property
    def _compiled(self) -> Compiled:
        assert isinstance(self._feeding, Compiled)
        return self._feeding

    def _of_values(
        self,
        values: list[Any],
        weighted: Weighted,
        batch_size: int | None,
        steps: int | None,
        shuffle: bool | str,
        argument: str,
    ) -> Batches:
        """Arrays cut into batches; whole in each with steps, or in a graph where one is a tensor or a composite value."""
        if self._streamed:
            count = known_shape(values[0])[0] or 0
            return self._cut(values, weighted, _size_for(count, batch_size, steps), steps, bool(shuffle))
        in_graph = not executing_eagerly()
        if not values or any(is_symbolic(value) or (in_graph and is_composite_value(value)) for value in values):
            if steps is None:
                raise ValueError(
                    f"When using data tensors as input to a model, you should specify the `{argument}` argument."
                )
            return Whole(values, weighted, steps)
        if steps is not None:
            log.warn(
                "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument. Please use "
                "`batch_size` instead."
            )
            return Whole(values, weighted, steps, batch_size)
        size, count = self._feeding.batch_size(batch_size), known_shape(values[0])[0] or 0
        if self._feeding.model.stateful and count % size:
            raise ValueError(
                "In a stateful network, you should only pass inputs with a number of samples that can be divided by the "
                f"batch size. Found: {count} samples"
            )
        return Cut(values, weighted, size, shuffle)

    def _cut(self, values: list[Any], weighted: Weighted, size: int | None, steps: int | None, shuffle: bool = False) -> Cut:
        """Arrays cut into batches, of which an epoch has `steps`; by default as many as there are."""
        size = self._feeding.batch_size(size)
        count = known_shape(values[0])[0] or 0
        return Cut(values, weighted, size, shuffle, math.ceil(count / size) if steps is None else steps)


def _size_for(count: int, size: int | None, steps: int | None) -> int | None:
    """The size of batches to cut `count` samples into. ValueError where they are too few for `steps` of them, or uneven."""
    if steps is None:
        return size
    if size is not None:
        if count < size * steps:
            raise ValueError(
                f"Number of samples {count} is less than samples required for specified batch_size {size} and steps {steps}"
            )
        return size
    if count % steps:
        raise ValueError(
            f"The number of samples {count} is not divisible by steps {steps}. Please change the number of steps to a value "
            "that can consume all the samples"
        )
    return count // steps


def _as_arrays(*given: Any) -> tuple[Any, ...]:
    """In eager execution nested lists of scalars are arrays, if all is such; in graphs a list is of one input or output."""
    if not executing_eagerly() or not all(value is None or _is_of_scalars(value) for value in given):
        return given
    return tuple(None if value is None else np.array(value) for value in given)


def _is_of_scalars(value: Any) -> bool:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
        if isinstance(value, (float, int, str, bytes)):
            return True
    return False


def _arranging(compiled: Compiled, class_weight: Any = None) -> Arranged:
    """How (inputs, targets, weights) of a dataset or generator become the values of a batch."""

    def arrange(given: tuple[Any, ...]) -> tuple[list[Any], Weighted]:
        x, y, weights = (*given, None, None)[:3]
        return compiled.arranged(x, y, weights, class_weight)

    return arrange


def refuse(data: Any, **arguments: Any) -> None:
    """ValueError for arguments that are about arrays, where data comes otherwise."""
    where = "input `x` is a dataset or a dataset iterator" if is_dataset(data) else "data isa generator or Sequence instance"
    for name, value in arguments.items():
        if value is None:
            continue
        if name == "batch_size":
            raise ValueError(
                "The `batch_size` argument must not be specified for the given input type. Received input: "
                f"{data}, batch_size: {value}"
            )
        if name == "validation_split":
            raise ValueError(
                f"`validation_split` argument is not supported when {where}. Received: x={data}, validation_split={value}"
                if is_dataset(data)
                else "If your data is in the form of a Python generator, you cannot use `validation_split`."
            )
        if name == "y":
            if is_dataset(data):
                raise ValueError(
                    f"You passed a dataset or dataset iterator ({data}) as input `x` to your model. In that case, you "
                    "should not specify a target (`y`) argument, since the dataset or dataset iterator generates both input "
                    f"data and target data. Received: {value}"
                )
            raise ValueError(
                f"`y` argument is not supported when {where}. Instead pass targets as the second element of the generator."
            )
        if is_dataset(data):
            raise ValueError(
                f"`sample_weight` argument is not supported when {where}. Instead, youcan provide sample_weight as the "
                f"third element  of yourdataset, i.e. (inputs, targets, sample_weight). Received: x={data}, "
                f"sample_weight={value}"
            )
        raise ValueError(
            f"`sample_weight` argument is not supported when {where}. Instead pass sample weights as the third element of "
            "the generator."
        )
