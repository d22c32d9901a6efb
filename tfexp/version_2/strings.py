"""What `tf.compat.v2.strings` has of its own."""

from typing import Any

from tfexp.api import strings
from tfexp.ragged_tensors.tensor import RaggedTensor
from tfexp.version_2.arguments import with_arguments


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of each string between separators as ragged rows; of a scalar, a vector. `tf.strings.split`, TF 2.0."""
    return strings.split(input, sep, maxsplit, result_type="RaggedTensor", name=name)


length = with_arguments(strings.length, "input, unit='BYTE', name=None")
reduce_join = with_arguments(strings.reduce_join, "inputs, axis=None, keepdims=False, separator='', name=None")
substr = with_arguments(strings.substr, "input, pos, len, unit='BYTE', name=None")
to_hash_bucket = with_arguments(strings.to_hash_bucket, "input, num_buckets, name=None")
to_number = with_arguments(strings.to_number, "input, out_type=float32, name=None")
