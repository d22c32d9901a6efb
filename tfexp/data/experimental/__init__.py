"""`tf.data.experimental`: further data sets, iterators that are saved, options."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.data.csv": "CsvDataset make_csv_dataset",
        "tfexp.data.files": "TFRecordWriter make_batched_features_dataset parse_example_dataset",
        "tfexp.data.interleaving": "map_and_batch map_and_batch_with_legacy_function=map_and_batch parallel_interleave",
        "tfexp.data.mixing": "Counter RandomDataset choose_from_datasets rejection_resample sample_from_datasets unique",
        "tfexp.data.options": (
            "DistributeOptions MapVectorizationOptions OptimizationOptions StatsOptions ThreadingOptions"
        ),
        "tfexp.data.statistics": "StatsAggregator",
        "tfexp.data.transformations": (
            "bytes_produced_stats cardinality dense_to_sparse_batch enumerate_dataset from_variant "
            "get_single_element get_structure ignore_errors latency_stats make_saveable_from_iterator scan "
            "shuffle_and_repeat take_while to_variant unbatch"
        ),
        "tfexp.ops.dataset": "INFINITE_CARDINALITY=INFINITE UNKNOWN_CARDINALITY=UNKNOWN",
    },
)
