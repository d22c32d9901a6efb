"""`tf.io`: files, records, Examples and their parsing."""

from tfexp.core.gone import missing_from
from tfexp.formats.tfrecord import TFRecordCompressionType as TFRecordCompressionType
from tfexp.formats.tfrecord import TFRecordOptions as TFRecordOptions
from tfexp.formats.tfrecord import TFRecordWriter as TFRecordWriter
from tfexp.formats.tfrecord import tf_record_iterator as tf_record_iterator
from tfexp.ops.decode_csv import decode_csv as decode_csv
from tfexp.ops.decode_raw import decode_compressed as decode_compressed
from tfexp.ops.decode_raw import decode_json_example as decode_json_example
from tfexp.ops.decode_raw import decode_raw as decode_raw
from tfexp.ops.decode_raw import parse_tensor as parse_tensor
from tfexp.ops.decode_raw import serialize_tensor as serialize_tensor
from tfexp.ops.files import matching_files as matching_files
from tfexp.ops.files import read_file as read_file
from tfexp.ops.files import write_file as write_file
from tfexp.ops.parsing import FixedLenFeature as FixedLenFeature
from tfexp.ops.parsing import FixedLenSequenceFeature as FixedLenSequenceFeature
from tfexp.ops.parsing import SparseFeature as SparseFeature
from tfexp.ops.parsing import VarLenFeature as VarLenFeature
from tfexp.ops.parsing import parse_example as parse_example
from tfexp.ops.parsing import parse_single_example as parse_single_example
from tfexp.ops.parsing_sequence import parse_sequence_example as parse_sequence_example
from tfexp.ops.parsing_sequence import parse_single_sequence_example as parse_single_sequence_example
from tfexp.ops.queue import PaddingFIFOQueue as PaddingFIFOQueue
from tfexp.ops.queue import PriorityQueue as PriorityQueue
from tfexp.ops.queue import QueueBase as QueueBase
from tfexp.ops.queue import RandomShuffleQueue as RandomShuffleQueue
from tfexp.train.graph_io import write_graph as write_graph
from tfexp.train.input import match_filenames_once as match_filenames_once

_STORED = ("deserialize_many_sparse", "serialize_many_sparse", "serialize_sparse")
_PICTURES = (
    *("decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_png"),
    *("encode_jpeg", "extract_jpeg_shape", "is_jpeg"),
)

__getattr__ = missing_from(
    "tf.io",
    {
        "gfile": "tfexp.api.io_gfile",
        **{name: f"tfexp.ops.sparse_serial:{name}" for name in _STORED},
        **{name: f"tfexp.ops.image_codec:{name}" for name in _PICTURES},
        **{name: f"tfexp.ops.string_text:{name}" for name in ("decode_base64", "encode_base64")},
        **{name: f"tfexp.ops.proto:{name}" for name in ("decode_proto", "encode_proto")},
    },
)
