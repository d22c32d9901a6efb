"""`tf.contrib.seq2seq`: helpers made of functions, and one that sometimes feeds a model its own samples. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.decoding import Helper, TrainingHelper
from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops.array import shape as shape_of
from tfexp.ops.array import size
from tfexp.ops.array_fill import fill
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.random import multinomial, random_uniform
from tfexp.ops.reduce import reduce_all


class CustomHelper(Helper):
    """Does what three functions do, which take the arguments of the methods after which they are called.

    ValueError for the batch's size before `initialize` was called. Source: `tf.contrib.seq2seq.CustomHelper`.
    """

    def __init__(
        self,
        initialize_fn: Callable[[], tuple[Any, Any]],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ):
        self._initialize, self._sample, self._next_inputs = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size: Any = None
        self._shape = TensorShape(sample_ids_shape or [])
        self._dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Any:  # type: ignore[override]
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        with name_scope(name, "CustomHelperInitialize"):
            finished, inputs = self._initialize()
            if self._batch_size is None:
                self._batch_size = size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "CustomHelperSample", [time, outputs, state]):
            return self._sample(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        with name_scope(name, "CustomHelperNextInputs", [time, outputs, state]):
            return self._next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class InferenceHelper(Helper):
    """Feeds a model what `sample_fn` makes of its outputs, until `end_fn` says of all of that, [batch], that it ends.

    next_inputs_fn: makes inputs of samples; by default they are the samples. Source: `tf.contrib.seq2seq.InferenceHelper`.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ):
        self._sample, self._ends, self._next_inputs = sample_fn, end_fn, next_inputs_fn
        self._shape, self._dtype = TensorShape(sample_shape), sample_dtype
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self.batch_size = shape_of(start_inputs)[0]  # type: ignore[index]

    @property
    def sample_ids_shape(self) -> TensorShape:
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return tile([False], [self.batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        following = sample_ids if self._next_inputs is None else self._next_inputs(sample_ids)
        return self._ends(sample_ids), following, state


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A TrainingHelper that feeds, by chance, embeddings of ids drawn from softmax(outputs) (arXiv 1506.03099).

    embedding: a table, or a function of ids. sampling_probability: of drawing, a scalar. A sample is -1 where none was
    drawn. Source: `tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper`.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ):
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            if callable(embedding):
                self._embed: Callable[[Any], Any] = embedding
            else:
                self._embed = lambda ids: embedding_lookup(embedding, ids)
            self._probability: Any = convert_to_tensor(sampling_probability, name="sampling_probability")
            if self._probability.get_shape().ndims not in (0, 1):
                raise ValueError(
                    f"sampling_probability must be either a scalar or a vector. saw shape: {self._probability.get_shape()}"
                )
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chances = random_uniform([self.batch_size], seed=self._scheduling_seed, dtype=self._probability.dtype)
            drawn: Any = multinomial(outputs, 1, seed=self._seed, output_dtype=dtypes.int32)
            return where(chances < self._probability, drawn[:, 0], fill([self.batch_size], -1))  # type: ignore[operator]

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)

            def mixed() -> Any:
                return where(greater_equal(sample_ids, 0), self._embed(maximum(sample_ids, 0)), inputs)

            return finished, cond(reduce_all(finished), lambda: inputs, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A TrainingHelper that feeds, by chance, the model's own outputs of the step before (arXiv 1506.03099).

    sampling_probability: of doing so, a scalar or one for each example. next_inputs_fn: makes inputs of outputs; by default
    they are inputs as they are. auxiliary_inputs: joined to inputs of either kind, [batch, time, …]. A sample is 1 where
    outputs are fed. ValueError for probabilities of a higher rank. Source: `tf.contrib.seq2seq`, TF 1.15.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ):
        given = [inputs, auxiliary_inputs, sampling_probability]
        with name_scope(name, "ScheduledOutputTrainingHelper", given):
            self._probability: Any = convert_to_tensor(sampling_probability, name="sampling_probability")
            if self._probability.get_shape().ndims not in (0, 1):
                raise ValueError(
                    f"sampling_probability must be either a scalar or a vector. saw shape: {self._probability.get_shape()}"
                )
            self._seed, self._next_inputs_fn, self._auxiliary = seed, next_inputs_fn, None
            if auxiliary_inputs is not None:
                inputs = nest.map_structure(lambda x, more: concat([x, more], -1), inputs, auxiliary_inputs)
                self._auxiliary = TrainingHelper(auxiliary_inputs, sequence_length, time_major)
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            chances: Any = random_uniform([self.batch_size], seed=self._seed, dtype=self._probability.dtype)
            return cast(chances < self._probability, dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)
            own = outputs if self._next_inputs_fn is None else self._next_inputs_fn(outputs)
            if self._auxiliary is not None:
                _, more, _ = self._auxiliary.next_inputs(time, outputs, state, sample_ids)
                own = nest.map_structure(lambda x, y: concat([x, y], -1), own, more)
            fed = cast(sample_ids, dtypes.bool)
            return finished, nest.map_structure(lambda x, y: where(fed, x, y), own, inputs), state
