"""`tf.compat`. `tf.compat.v1` is this library itself."""

import tfexp as v1
from tfexp.core.shape import dimension_at_index as dimension_at_index
from tfexp.core.shape import dimension_value as dimension_value
from tfexp.core.text import as_bytes as as_bytes
from tfexp.core.text import as_str_any as as_str_any
from tfexp.core.text import as_text as as_str
from tfexp.core.text import as_text as as_text
from tfexp.core.text import path_to_str as path_to_str

__all__ = ["as_str", "v1"]
