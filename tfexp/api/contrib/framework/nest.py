"""`tf.contrib.framework.nest`: nested structures, also by their paths and down to the leaves of a shallower one."""

from tfexp.core.gone import missing_from
from tfexp.core.nest import assert_same_structure as assert_same_structure
from tfexp.core.nest import flatten as flatten
from tfexp.core.nest import is_nested as is_nested
from tfexp.core.nest import map_structure as map_structure
from tfexp.core.nest import pack_sequence_as as pack_sequence_as
from tfexp.core.shallow_nest import assert_shallow_structure as assert_shallow_structure
from tfexp.core.shallow_nest import flatten_dict_items as flatten_dict_items
from tfexp.core.shallow_nest import flatten_up_to as flatten_up_to
from tfexp.core.shallow_nest import flatten_with_joined_string_paths as flatten_with_joined_string_paths
from tfexp.core.shallow_nest import flatten_with_tuple_paths as flatten_with_tuple_paths
from tfexp.core.shallow_nest import flatten_with_tuple_paths_up_to as flatten_with_tuple_paths_up_to
from tfexp.core.shallow_nest import get_traverse_shallow_structure as get_traverse_shallow_structure
from tfexp.core.shallow_nest import is_sequence as is_sequence
from tfexp.core.shallow_nest import is_sequence_or_composite as is_sequence_or_composite
from tfexp.core.shallow_nest import map_structure_up_to as map_structure_up_to
from tfexp.core.shallow_nest import map_structure_with_paths as map_structure_with_paths
from tfexp.core.shallow_nest import map_structure_with_tuple_paths as map_structure_with_tuple_paths
from tfexp.core.shallow_nest import map_structure_with_tuple_paths_up_to as map_structure_with_tuple_paths_up_to
from tfexp.core.shallow_nest import yield_flat_paths as yield_flat_paths

__getattr__ = missing_from("tf.contrib.framework.nest")
