"""`tf.strings`: tensors of texts."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.ops.string_format import string_format as format
    from tfexp.ops.string_hash import string_to_hash_bucket as to_hash_bucket
    from tfexp.ops.string_hash import string_to_hash_bucket_fast as to_hash_bucket_fast
    from tfexp.ops.string_hash import string_to_hash_bucket_strong as to_hash_bucket_strong
    from tfexp.ops.string_join import reduce_join as reduce_join
    from tfexp.ops.string_join import unsorted_segment_join as unsorted_segment_join
    from tfexp.ops.string_regex import regex_full_match as regex_full_match
    from tfexp.ops.string_regex import regex_replace as regex_replace
    from tfexp.ops.string_text import string_length as length
    from tfexp.ops.string_text import string_lower as lower
    from tfexp.ops.string_text import string_strip as strip
    from tfexp.ops.string_text import string_upper as upper
    from tfexp.ops.string_text import substr as substr
    from tfexp.ops.strings import as_string as as_string
    from tfexp.ops.strings import string_join as join
    from tfexp.ops.strings import string_to_number as to_number
    from tfexp.ops.unicode import unicode_transcode as unicode_transcode
    from tfexp.ops.unicode_script import unicode_script as unicode_script
    from tfexp.ragged_tensors.strings import bytes_split as bytes_split
    from tfexp.ragged_tensors.strings import ngrams as ngrams
    from tfexp.ragged_tensors.strings import split as split
    from tfexp.ragged_tensors.strings import unicode_decode as unicode_decode
    from tfexp.ragged_tensors.strings import unicode_decode_with_offsets as unicode_decode_with_offsets
    from tfexp.ragged_tensors.strings import unicode_encode as unicode_encode
    from tfexp.ragged_tensors.strings import unicode_split as unicode_split
    from tfexp.ragged_tensors.strings import unicode_split_with_offsets as unicode_split_with_offsets

__getattr__, __dir__ = namespace("tf.strings", __name__)
