"""`tf.data`: where examples come from. Data sets are dataset nodes of the graph, iterators resources of the session."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.data.dataset": "Dataset",
        "tfexp.data.iterator": (
            "Iterator get_output_classes get_output_shapes get_output_types make_initializable_iterator "
            "make_one_shot_iterator"
        ),
        "tfexp.data.options": "Options",
        "tfexp.data.readers": "FixedLengthRecordDataset TextLineDataset TFRecordDataset",
    },
    modules={
        "tfexp.data": "experimental",
    },
)
