"""`tf.strings`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ops.strings import as_string as as_string
from tfexp.ops.strings import regex_full_match as regex_full_match
from tfexp.ops.strings import string_join as join
from tfexp.ops.strings import string_to_number as to_number

__getattr__ = missing_from("tf.strings")
