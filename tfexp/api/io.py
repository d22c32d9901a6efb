"""`tf.io`: files, records, Examples and their parsing."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.formats.tfrecord": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
        "tfexp.ops.decode_csv": "decode_csv",
        "tfexp.ops.decode_raw": "decode_raw",
        "tfexp.ops.files": "matching_files read_file write_file",
        "tfexp.ops.image_codec": "decode_bmp decode_gif decode_image decode_jpeg decode_png encode_jpeg",
        "tfexp.ops.parsing": (
            "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature parse_example parse_single_example"
        ),
        "tfexp.ops.queue": "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
        "tfexp.train.graph_io": "write_graph",
        "tfexp.train.input": "match_filenames_once",
    },
)
