"""`tf.python_io`: TFRecord files from Python."""

from tfexp.formats.tfrecord import TFRecordCompressionType as TFRecordCompressionType
from tfexp.formats.tfrecord import TFRecordOptions as TFRecordOptions
from tfexp.formats.tfrecord import TFRecordWriter as TFRecordWriter
from tfexp.formats.tfrecord import tf_record_iterator as tf_record_iterator
