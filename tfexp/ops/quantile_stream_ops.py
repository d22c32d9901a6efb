"""The ops that divide float features into buckets for boosted trees, by their quantiles. Source: TF 1.15.

The summaries are `ops.weighted_quantiles`; a resource has a stream of them for each feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.handle_ops import shared_or_own
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.weighted_quantiles import Stream, Summary, checked_weights

_STREAMS = "quantile_stream_resource_handle: resource"

quantile_stream_resource = define_op(
    "BoostedTreesQuantileStreamResourceHandleOp() -> (resource: resource) "
    "{container: string = ''; shared_name: string = ''} #stateful"
)
create_quantile_stream_resource = define_op(
    f"BoostedTreesCreateQuantileStreamResource({_STREAMS}, epsilon: float, num_streams: int64) -> () "
    "{max_elements: int = 1099511627776} #stateful"
)
is_quantile_stream_resource_initialized = define_op(
    f"IsBoostedTreesQuantileStreamResourceInitialized({_STREAMS}) -> (is_initialized: bool) #stateful"
)
make_quantile_summaries = define_op(
    "BoostedTreesMakeQuantileSummaries(float_values: num_features * float, example_weights: float, epsilon: float) -> "
    "(summaries: num_features * float) {num_features: int >= 0}"
)
add_quantile_summaries = define_op(
    f"BoostedTreesQuantileStreamResourceAddSummaries({_STREAMS}, summaries: num_features * float) -> () "
    "{num_features: int >= 0} #stateful"
)
flush_quantile_stream = define_op(
    f"BoostedTreesQuantileStreamResourceFlush({_STREAMS}, num_buckets: int64) -> () "
    "{generate_quantiles: bool = false} #stateful"
)
flush_quantile_summaries = define_op(
    f"BoostedTreesFlushQuantileSummaries({_STREAMS}) -> (summaries: num_features * float) "
    "{num_features: int >= 0} #stateful"
)
get_bucket_boundaries = define_op(
    f"BoostedTreesQuantileStreamResourceGetBucketBoundaries({_STREAMS}) -> (bucket_boundaries: num_features * float) "
    "{num_features: int >= 0} #stateful"
)
restore_bucket_boundaries = define_op(
    f"BoostedTreesQuantileStreamResourceDeserialize({_STREAMS}, bucket_boundaries: num_streams * float) -> () "
    "{num_streams: int >= 1} #stateful"
)
bucketize = define_op(
    "BoostedTreesBucketize(float_values: num_features * float, bucket_boundaries: num_features * float) -> "
    "(buckets: num_features * int32) {num_features: int >= 0}"
)


class _Streams:
    """A stream for each feature, and the boundaries that the numbers so far came to."""

    def __init__(self, name: str):
        self.name = name
        self._boundaries: list[Array] | None = None

    @property
    def is_initialized(self) -> bool:
        return self._boundaries is not None

    def create(self, epsilon: float, count: int, most: int) -> None:
        """Does nothing the second time."""
        if self._boundaries is None:
            self._epsilon, self._most = epsilon, most
            self._boundaries = [np.zeros(0, np.float32)] * count
            self._streams = self._anew(count)

    def _anew(self, count: int) -> list[Stream]:
        return [Stream(self._epsilon, self._most) for _ in range(count)]

    def boundaries(self, count: int) -> list[Array]:
        if self._boundaries is None:
            raise FailedPreconditionError(None, None, f"Quantile streams '{self.name}' have not been created")
        if len(self._boundaries) != count:
            text = f"Quantile streams '{self.name}' are of {len(self._boundaries)} features, and used for {count}"
            raise InvalidArgumentError(None, None, text)
        return self._boundaries

    def add(self, summaries: list[Array]) -> None:
        self.boundaries(len(summaries))
        for stream, rows in zip(self._streams, summaries, strict=True):
            stream.push_summary(Summary.from_rows(rows))

    def flush_summaries(self, count: int) -> list[Array]:
        """The rows of the numbers so far; begins anew."""
        self.boundaries(count)
        rows = [stream.summary().rows() for stream in self._streams]
        self._streams = self._anew(count)
        return rows

    def flush(self, count: int, as_quantiles: bool) -> None:
        """Makes boundaries of the numbers so far, and begins anew. There are as many quantiles as asked for."""
        summaries = [stream.summary() for stream in self._streams]
        self._boundaries = [one.quantiles(count - 1) if as_quantiles else one.boundaries(count) for one in summaries]
        self._streams = self._anew(len(summaries))

    def restore(self, boundaries: list[Array]) -> None:
        self.boundaries(len(boundaries))
        self._boundaries = [np.array(one) for one in boundaries]


@quantile_stream_resource.shape
def _() -> TensorShape:
    return TensorShape([])


@quantile_stream_resource.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> _Streams:
    found: _Streams = shared_or_own(ctx, "quantile streams", container, shared_name, _Streams)
    return found


@create_quantile_stream_resource.shape
def _(streams: InputShape, epsilon: InputShape, num_streams: InputShape) -> None:
    with_rank(epsilon, 0)
    with_rank(num_streams, 0)


@create_quantile_stream_resource.kernel("CPU")
def _(ctx: Any, streams: _Streams, epsilon: Array, num_streams: Array, *, max_elements: int) -> None:
    streams.create(float(epsilon), int(num_streams), max_elements)


@is_quantile_stream_resource_initialized.shape
def _(streams: InputShape) -> TensorShape:
    return TensorShape([])


@is_quantile_stream_resource_initialized.kernel("CPU")
def _(ctx: Any, streams: _Streams) -> Any:
    return np.bool_(streams.is_initialized)


@make_quantile_summaries.shape
def _(float_values: list[InputShape], example_weights: InputShape, epsilon: InputShape) -> list[TensorShape]:
    with_rank(example_weights, 1)
    with_rank(epsilon, 0)
    for shape in float_values:
        with_rank(shape, 1)
    return [TensorShape([None, 4])] * len(float_values)


@make_quantile_summaries.kernel("CPU")
def _(ctx: Any, float_values: list[Array], example_weights: Array, epsilon: Array) -> list[Array]:
    """[entries, 4] of each feature: values, their weights, and the least and most that there is up to them."""
    summaries = []
    for values in float_values:
        stream = Stream(float(epsilon), values.size + 1)
        stream.push(values, checked_weights(example_weights, values.size))
        summaries.append(stream.summary().rows())
    return summaries


@add_quantile_summaries.shape
def _(streams: InputShape, summaries: list[InputShape]) -> None:
    for shape in summaries:
        with_rank(shape, 2)


@add_quantile_summaries.kernel("CPU")
def _(ctx: Any, streams: _Streams, summaries: list[Array]) -> None:
    streams.add(summaries)


@flush_quantile_stream.shape
def _(streams: InputShape, num_buckets: InputShape) -> None:
    with_rank(num_buckets, 0)


@flush_quantile_stream.kernel("CPU")
def _(ctx: Any, streams: _Streams, num_buckets: Array, *, generate_quantiles: bool) -> None:
    streams.flush(int(num_buckets), generate_quantiles)


@flush_quantile_summaries.shape
def _(streams: InputShape, *, num_features: int) -> list[TensorShape]:
    return [TensorShape([None, 4])] * num_features


@flush_quantile_summaries.kernel("CPU")
def _(ctx: Any, streams: _Streams, *, num_features: int) -> list[Array]:
    return streams.flush_summaries(num_features)


@get_bucket_boundaries.shape
def _(streams: InputShape, *, num_features: int) -> list[TensorShape]:
    return [TensorShape([None])] * num_features


@get_bucket_boundaries.kernel("CPU")
def _(ctx: Any, streams: _Streams, *, num_features: int) -> list[Array]:
    return list(streams.boundaries(num_features))


@restore_bucket_boundaries.shape
def _(streams: InputShape, bucket_boundaries: list[InputShape]) -> None:
    for shape in bucket_boundaries:
        with_rank(shape, 1)


@restore_bucket_boundaries.kernel("CPU")
def _(ctx: Any, streams: _Streams, bucket_boundaries: list[Array]) -> None:
    streams.restore(bucket_boundaries)


@bucketize.shape
def _(float_values: list[InputShape], bucket_boundaries: list[InputShape]) -> list[TensorShape]:
    for shape in bucket_boundaries:
        with_rank(shape, 1)
    return [with_rank(shape, 1) for shape in float_values]


@bucketize.kernel("CPU")
def _(ctx: Any, float_values: list[Array], bucket_boundaries: list[Array]) -> list[Array]:
    """Of each number the first boundary that is not below it, and the last one for numbers above all."""
    return [
        np.minimum(np.searchsorted(boundaries, values), max(len(boundaries) - 1, 0)).astype(np.int32)
        for values, boundaries in zip(float_values, bucket_boundaries, strict=True)
    ]
