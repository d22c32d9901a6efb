"""`tensorflow.python.keras.engine.data_adapter`: what `fit` may be given, as datasets of batches. Source: TF 1.15."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfexp.core import log, nest
from tfexp.core.nest import Composite
from tfexp.data.dataset import Dataset
from tfexp.graph.tensor import Tensor
from tfexp.keras.utils.data import GeneratorEnqueuer, OrderedEnqueuer, Sequence
from tfexp.ops.array_gather import gather


class DataAdapter:
    """Data as a dataset of batches, which ends with an epoch. A size that nobody knows is None.

    ValueError for data of a kind that `can_handle` refuses.
    """

    _dataset: Dataset
    _size: int | None = None  # in batches
    _batch_size: int | None = None
    _rest: int | None = None  # the size of a last batch that is smaller

    def __init__(self, x: Any, y: Any = None, **kwargs: Any):
        if not self.can_handle(x, y):
            raise ValueError(f"{type(self)} Cannot handle input {x}")

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether it is for such inputs and targets."""
        raise NotImplementedError

    def get_dataset(self) -> Dataset:
        return self._dataset

    def get_size(self) -> int | None:
        """How many batches there are."""
        return self._size

    def batch_size(self) -> int | None:
        return self._batch_size

    def has_partial_batch(self) -> bool:
        """Whether the last batch is known to be smaller."""
        return self._rest is not None

    def partial_batch_size(self) -> int | None:
        """The size of a last, smaller batch."""
        return self._rest

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        """Whether each epoch goes through the dataset anew."""
        return self._size is not None or steps_per_epoch is None


class _Samples(DataAdapter):
    """Samples that are cut into batches."""

    def _count(self, samples: int, batch_size: int | None, steps: int | None) -> int:
        """How large batches are. ValueError where neither a batch size nor steps tell."""
        if not batch_size and not steps:
            raise ValueError("`batch_size` or `steps` is required for `Tensor` or `NumPy` input data.")
        size = batch_size or -(-samples // (steps or 1))
        self._size, self._batch_size, self._rest = -(-samples // size), size, samples % size or None
        return size

    def _cut(self, given: Any, batch_size: int | None, epochs: int, steps: int | None, shuffle: bool) -> None:
        """All epochs, each in an order of its own if shuffled."""
        count = int(nest.flatten(given)[0].shape[0])
        size = min(self._count(count, batch_size, steps), count)
        orders = np.tile(np.arange(count), (epochs, 1))
        if shuffle:
            for order in orders:
                np.random.shuffle(order)

        def in_batches(order: Tensor) -> Dataset:
            return Dataset.from_tensor_slices(order).batch(size, drop_remainder=count % size == 0)

        def taken(places: Tensor) -> Any:
            return nest.map_structure(lambda one: gather(one, places), given)

        self._dataset = Dataset.from_tensor_slices(orders).flat_map(in_batches).map(taken)


class TensorLikeDataAdapter(_Samples):
    """Arrays and tensors."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        steps: int | None = None,
        shuffle: bool = False,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        self._cut(_together(x, y, sample_weights), batch_size, epochs, steps, shuffle)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return all(_is_array(one) for one in _leaves(x, y))

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        return False  # it goes on where the last epoch ended


class CompositeTensorDataAdapter(_Samples):
    """Sparse and ragged tensors, among them arrays and dense tensors."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        shuffle: bool = False,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        given = _together(x, y, sample_weights)
        count = int(nest.flatten(given)[0].shape[0])
        dataset = Dataset.from_tensor_slices(given)
        self._dataset = (dataset.shuffle(count) if shuffle else dataset).batch(self._count(count, batch_size, steps))

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        leaves = _leaves(x, y)
        composite = [isinstance(one, Composite) and not isinstance(one, Dataset) for one in leaves]
        return any(composite) and all(known or _is_array(one) for one, known in zip(leaves, composite, strict=True))


class ListsOfScalarsDataAdapter(_Samples):
    """Numbers or texts in nested lists."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        shuffle: bool = False,
        **kwargs: Any,
    ):
        super().__init__(x, y)
        arrays = [None if one is None else np.asarray(one) for one in (x, y, sample_weights)]
        self._cut(_together(*arrays), batch_size, kwargs.get("epochs", 1), kwargs.get("steps"), shuffle)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return _is_of_scalars(x) and (y is None or _is_of_scalars(y))


class DatasetAdapter(DataAdapter):
    """A dataset, as it is."""

    def __init__(self, x: Any, y: Any = None, sample_weights: Any = None, **kwargs: Any):
        super().__init__(x, y, **kwargs)
        _refuse(y, sample_weights, "dataset")
        self._dataset = x

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return isinstance(x, Dataset)


class GeneratorDataAdapter(DataAdapter):
    """A generator of batches, each like the first."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        _refuse(y, sample_weights, "python generator")
        if workers > 0 and use_multiprocessing:
            log.warn(
                "Using a generator with `use_multiprocessing=True` and multiple workers may duplicate your data. Please "
                "consider using the `tf.data.Dataset`."
            )
        first = next(x)
        batches = itertools.chain([first], x)

        def ahead() -> Iterator[Any]:
            enqueuer = GeneratorEnqueuer(batches, use_multiprocessing=use_multiprocessing)
            enqueuer.start(workers=workers, max_queue_size=max_queue_size)
            return enqueuer.get()

        self._dataset, self._batch_size = _generated(ahead if workers > 0 else lambda: batches, first)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return inspect.isgenerator(x)


class KerasSequenceAdapter(DataAdapter):
    """A `tf.keras.utils.Sequence` of batches, each like the first."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        shuffle: bool = False,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        _refuse(y, sample_weights, "`keras.utils.Sequence`")

        def ahead() -> Iterator[Any]:
            enqueuer = OrderedEnqueuer(x, use_multiprocessing=use_multiprocessing)
            enqueuer.start(workers=workers, max_queue_size=max_queue_size)
            return enqueuer.get()

        dataset, self._batch_size = _generated(ahead if workers > 0 else lambda: map(x.__getitem__, range(len(x))), x[0])
        self._size = len(x)
        self._dataset = dataset.shuffle(self._size) if shuffle else dataset

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return isinstance(x, Sequence)


ALL_ADAPTER_CLS: list[type[DataAdapter]] = [
    ListsOfScalarsDataAdapter,
    TensorLikeDataAdapter,
    DatasetAdapter,
    GeneratorDataAdapter,
    KerasSequenceAdapter,
    CompositeTensorDataAdapter,
]


def select_data_adapter(x: Any, y: Any) -> type[DataAdapter]:
    """The class for such data. ValueError where there is none, RuntimeError where there are several."""
    found = [one for one in ALL_ADAPTER_CLS if one.can_handle(x, y)]
    if not found:
        raise ValueError(f"Failed to find data adapter that can handle input: {_kind(x)}, {_kind(y)}")
    if len(found) > 1:
        raise RuntimeError(
            f"Data adapters should be mutually exclusive for handling inputs. Found multiple adapters {found} to handle "
            f"input: {_kind(x)}, {_kind(y)}"
        )
    return found[0]


def is_none_or_empty(inputs: Any) -> bool:
    """Whether there is nothing in it."""
    return inputs is None or not nest.flatten(inputs)


def _kind(value: Any) -> str:
    """The type, and the types of what is inside."""
    if isinstance(value, dict):
        keys, values = ({_kind(one) for one in part} for part in (value.keys(), value.values()))
        return f"({type(value)} containing {keys} keys and {values} values)"
    if isinstance(value, (list, tuple)):
        return f"({type(value)} containing values of types { ({_kind(one) for one in value}) })"
    return str(type(value))


def _leaves(x: Any, y: Any) -> list[Any]:
    return [*nest.flatten(x), *([] if y is None else nest.flatten(y))]


def _is_array(value: Any) -> bool:
    return isinstance(value, (Tensor, np.ndarray))


def _is_of_scalars(value: Any) -> bool:
    while isinstance(value, (list, tuple)):
        value = value[0]
    return isinstance(value, (float, int, str))


def _together(x: Any, y: Any, weights: Any) -> tuple[Any, ...]:
    """An element of the dataset, whole: (inputs,), (inputs, targets) or (inputs, targets, weights).

    A list would be stacked, and is a tuple; one of a single thing is that thing. Outputs without weights have ones.
    """
    if isinstance(weights, (list, tuple)) and any(one is not None for one in weights):
        count = next(one.shape[0] for one in weights if one is not None)
        weights = [np.ones(int(count), np.float32) if one is None else one for one in weights]
    parts = [None if is_none_or_empty(part) else part for part in (x, y, weights)]
    given = parts[: next((place for place, part in enumerate(parts) if part is None), len(parts))]
    return tuple(_as_element(part) for part in given)


def _as_element(part: Any) -> Any:
    leaves = nest.flatten(part)
    if len(leaves) == 1:
        return leaves[0]
    return tuple(part) if isinstance(part, list) else part


def _generated(batches: Callable[[], Iterator[Any]], first: Any) -> tuple[Dataset, int]:
    """A dataset of what a generator makes, of types and shapes of the first batch, and how large that is."""
    dtypes, shapes = (nest.map_structure(lambda one, what=what: getattr(one, what), first) for what in ("dtype", "shape"))
    return Dataset.from_generator(batches, dtypes, output_shapes=shapes), int(nest.flatten(first)[0].shape[0])


def _refuse(y: Any, sample_weights: Any, what: str) -> None:
    for value, name in ((y, "y"), (sample_weights, "sample_weight")):
        if not is_none_or_empty(value):
            raise ValueError(f"`{name}` argument is not supported when using {what} as input.")
