"""`tf.io`: files, records, Examples and their parsing."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.formats.tfrecord": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
        "tfexp.ops.decode_csv": "decode_csv",
        "tfexp.ops.decode_raw": "decode_compressed decode_json_example decode_raw parse_tensor serialize_tensor",
        "tfexp.ops.files": "matching_files read_file write_file",
        "tfexp.ops.image_codec": (
            "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png encode_jpeg "
            "extract_jpeg_shape is_jpeg"
        ),
        "tfexp.ops.parsing": (
            "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature parse_example "
            "parse_single_example"
        ),
        "tfexp.ops.queue": "PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
        "tfexp.ops.sparse_serial": "deserialize_many_sparse serialize_many_sparse serialize_sparse",
        "tfexp.ops.string_text": "decode_base64 encode_base64",
        "tfexp.train.graph_io": "write_graph",
        "tfexp.train.input": "match_filenames_once",
    },
)
