"""What a pipeline measures of itself: `tf.data.experimental.StatsAggregator`. Source: TF 1.15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_stats import set_stats_aggregator_dataset, stats_aggregator_handle, stats_aggregator_summary

if TYPE_CHECKING:
    from tfexp.data.dataset import Dataset


class StatsAggregator:
    """Collects what `latency_stats` and `bytes_produced_stats` find. `tf.data.experimental.StatsAggregator`.

    It is `experimental_stats.aggregator` of a data set's options; `experimental_stats.prefix` stands before the tags.
    """

    def __init__(self) -> None:
        self._resource = stats_aggregator_handle()

    def get_summary(self) -> Tensor:
        """A serialized `tf.Summary`, a scalar: a histogram of what was found so far for each tag."""
        summary: Tensor = stats_aggregator_summary(self._resource)
        return summary


def told(dataset: Dataset, aggregator: StatsAggregator, prefix: str = "", counter_prefix: str = "") -> Tensor:
    """The variant of `dataset`, which tells `aggregator` what it finds."""
    names = {"tag": prefix, "counter_prefix": counter_prefix}
    strings = [constant(text, dtype=dtypes.string, name=name) for name, text in names.items()]
    variant: Tensor = set_stats_aggregator_dataset(
        dataset._variant_tensor, aggregator._resource, *strings, **dataset._flat_structure
    )
    return variant


def variant_to_run(dataset: Any) -> Tensor:
    """The variant that an iterator over `dataset` goes through: as the options say, with an aggregator."""
    settings = dataset.options().experimental_stats
    if settings.aggregator is None:
        variant: Tensor = dataset._variant_tensor
        return variant
    return told(dataset, settings.aggregator, settings.prefix, settings.counter_prefix)
