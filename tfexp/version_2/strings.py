"""What `tf.compat.v2.strings` has of its own."""

from tfexp.api import strings
from tfexp.version_2.arguments import with_arguments as with_arguments

length = with_arguments(strings.length, "input, unit='BYTE', name=None")
reduce_join = with_arguments(strings.reduce_join, "inputs, axis=None, keepdims=False, separator='', name=None")
substr = with_arguments(strings.substr, "input, pos, len, unit='BYTE', name=None")
to_hash_bucket = with_arguments(strings.to_hash_bucket, "input, num_buckets, name=None")
to_number = with_arguments(strings.to_number, "input, out_type=float32, name=None")
