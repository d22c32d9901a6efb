"""Nodes of data sets in graphs of TensorFlow 1.13 to 1.15: under the names that they had, and those that say how to run.

An op `Experimental…` is the op of that name before some of its attributes came. The others say with how many threads, and
rewritten how, a pipeline is to run; that is tfexp's own business, and its elements are the same.
"""

from __future__ import annotations

import re
from typing import Any

from tfexp.core.op import Op, define_op
from tfexp.core.shape import TensorShape
from tfexp.ops import (
    dataset_alternatives,
    dataset_batch,
    dataset_csv,
    dataset_divide,
    dataset_files,
    dataset_groups,
    dataset_map,
    dataset_map_and_batch,
    dataset_mix,
    dataset_parse,
    dataset_sleep,
    dataset_sparse,
    dataset_sql,
    dataset_stats,
    dataset_windows,
    dataset_wrap,
    dataset_write,
)
from tfexp.ops.dataset import Dataset, define_dataset

_LATER = (
    *("cardinality_options", "metadata", "stop_on_empty_dataset", "use_default_device", "drop_remainder"),
    *("auto_shard_policy", "num_replicas"),
    *("ragged_keys", "ragged_split_types", "ragged_value_types"),
)


def _define_older(newer: Op) -> None:
    signature = f"Experimental{newer.signature}"
    for attr in _LATER:
        signature = re.sub(rf"(?<=\{{){attr}: [^;}}]*;? ?|; {attr}: [^;}}]*", "", signature)
    older = define_op(re.sub(r" \{\}", "", signature))
    defaults = {name: attr.default for name, attr in newer.attrs.items() if name not in older.attrs}
    shape, kernel = newer.shape_rule, newer.kernels["CPU"]
    assert shape is not None
    older.shape(lambda *inputs, **attrs: shape(*inputs, **attrs, **defaults))
    older.kernel("CPU", handle=kernel.handle)(
        lambda ctx, *inputs, **attrs: kernel.compute(ctx, *inputs, **attrs, **defaults)
    )


for _newer in (
    dataset_alternatives.choose_fastest_dataset,
    dataset_divide.auto_shard_dataset,
    dataset_divide.rebatch_dataset,
    dataset_csv.csv_dataset,
    dataset_wrap.dataset_cardinality,
    dataset_write.dataset_to_tf_record,
    dataset_sparse.dense_to_sparse_batch_dataset,
    dataset_mix.directed_interleave_dataset,
    dataset_groups.group_by_window_dataset,
    dataset_files.ignore_errors_dataset,
    dataset_map_and_batch.map_and_batch_dataset,
    dataset_map.map_dataset,
    dataset_parse.parse_example_dataset,
    dataset_mix.random_dataset,
    dataset_map.scan_dataset,
    dataset_sleep.sleep_dataset,
    dataset_windows.sliding_window_dataset,
    dataset_stats.bytes_produced_stats_dataset,
    dataset_stats.latency_stats_dataset,
    dataset_stats.set_stats_aggregator_dataset,
    dataset_stats.stats_aggregator_handle,
    dataset_stats.stats_aggregator_summary,
    dataset_files.matching_files_dataset,
    dataset_sql.sql_dataset,
    dataset_map.take_while_dataset,
    dataset_batch.unbatch_dataset,
    dataset_groups.unique_dataset,
):
    _define_older(_newer)


# --- how to run -------------------------------------------------------------------------------------------------------

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"

_SETTINGS = (
    f"ModelDataset(input_dataset: variant) -> (handle: variant) {{algorithm: int = 0; cpu_budget: int = 0; "
    f"ram_budget: int = 0; {_TYPES}}}",
    "OptimizeDataset(input_dataset: variant, optimizations: string) -> (handle: variant) "
    f"{{{_TYPES}; optimization_configs: list(string) = []}}",
    *(
        f"{prefix}{name}Dataset(input_dataset: variant{setting}) -> (handle: variant) {{{_TYPES}}}"
        for prefix in ("", "Experimental")
        for name, setting in (
            ("AssertNext", ", transformations: string"),
            ("MaxIntraOpParallelism", ", max_intra_op_parallelism: int64"),
            ("NonSerializable", ""),
            ("PrivateThreadPool", ", num_threads: int64"),
        )
    ),
)


def _as_it_is(ctx: Any, dataset: Dataset, *settings: Any) -> Dataset:
    return dataset


for _signature in _SETTINGS:
    define_dataset(_signature).kernel("CPU")(_as_it_is)


# --- pools of threads ---------------------------------------------------------------------------------------------------


class _Threads:
    """What stands for a pool of threads: data sets have their own."""


for _prefix in ("", "Experimental"):
    define_dataset(
        f"{_prefix}ThreadPoolDataset(input_dataset: variant, thread_pool: resource) -> (handle: variant) {{{_TYPES}}} "
        "#stateful"
    ).kernel("CPU")(_as_it_is)
    _pool = define_op(
        f"{_prefix}ThreadPoolHandle() -> (handle: resource) {{num_threads: int; max_intra_op_parallelism: int = 1; "
        "display_name: string; container: string = ''; shared_name: string = ''} #stateful"
    ).not_differentiable()

    @_pool.shape
    def _() -> TensorShape:
        return TensorShape([])

    @_pool.kernel("CPU", handle=True)
    def _(ctx: Any, *, container: str, shared_name: str) -> _Threads:
        threads: _Threads = ctx.resource(container, shared_name or ctx.node_name, _Threads, "thread_pool")
        return threads
