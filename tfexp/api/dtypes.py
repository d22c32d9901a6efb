"""`tf.dtypes`: types of elements, and casts."""

from tfexp.core.dtypes import *  # noqa: F403
from tfexp.ops.cast import cast as cast
from tfexp.ops.cast import saturate_cast as saturate_cast
from tfexp.ops.complex_numbers import complex as complex
from tfexp.ops.strings import as_string as as_string
