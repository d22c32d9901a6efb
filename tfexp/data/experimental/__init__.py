"""`tf.data.experimental`: CSV files, further transformations, iterators that are saved, options."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.data.csv": "CsvDataset make_csv_dataset",
        "tfexp.data.options": "ThreadingOptions",
        "tfexp.data.transformations": (
            "AUTOTUNE ignore_errors make_saveable_from_iterator map_and_batch parallel_interleave scan shuffle_and_repeat"
        ),
    },
)
