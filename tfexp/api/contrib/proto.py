"""`tf.contrib.proto`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ops.proto import decode_proto as decode_proto
from tfexp.ops.proto import encode_proto as encode_proto

__getattr__ = missing_from("tf.contrib.proto")
