"""`tf.nest`: nested structures: flatten, pack, map."""

from tfexp.core.nest import assert_same_structure as assert_same_structure
from tfexp.core.nest import flatten as flatten
from tfexp.core.nest import is_nested as is_nested
from tfexp.core.nest import map_structure as map_structure
from tfexp.core.nest import pack_sequence_as as pack_sequence_as
