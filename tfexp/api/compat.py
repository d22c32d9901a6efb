"""`tf.compat`. `tf.compat.v1` is this library itself, `tf.compat.v2` the names of TensorFlow 2.0 on it."""

import tfexp as v1
from tfexp.core.forward_compatibility import forward_compatibility_horizon as forward_compatibility_horizon
from tfexp.core.forward_compatibility import forward_compatible as forward_compatible
from tfexp.core.gone import missing_from
from tfexp.core.shape import dimension_at_index as dimension_at_index
from tfexp.core.shape import dimension_value as dimension_value
from tfexp.core.text import as_bytes as as_bytes
from tfexp.core.text import as_str_any as as_str_any
from tfexp.core.text import as_text as as_str
from tfexp.core.text import as_text as as_text
from tfexp.core.text import bytes_or_text_types as bytes_or_text_types
from tfexp.core.text import complex_types as complex_types
from tfexp.core.text import integral_types as integral_types
from tfexp.core.text import path_to_str as path_to_str
from tfexp.core.text import real_types as real_types
from tfexp.version_2 import v2 as v2

__getattr__ = missing_from("tf.compat")
