"""Checkpoints in TensorFlow's V2 format, a "tensor bundle": what SaveV2 writes, byte for byte.

`prefix.data-?????-of-?????` holds the tensors' little-endian bytes one after the other; `prefix.index` is a
table (`table`) from tensor name to dtype, shape, place and CRC-32C, with the header under the empty key. A
tensor of strings is stored as `bundle_strings` says. A partitioned tensor has one entry that lists its slices
and one for each slice, under a key that `tensor_slice` makes. How a checkpoint appears whole or not at all
stands in `bundle_files`.
"""

from tfexp.formats.bundle_reader import BundleReader
from tfexp.formats.bundle_writer import BundleWriter, merge_bundles

__all__ = ["BundleReader", "BundleWriter", "merge_bundles"]
