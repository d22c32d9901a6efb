"""`tf.sets`: sets in the last dimension."""

from tfexp.core.gone import missing_from
from tfexp.ops.sets import set_difference as difference
from tfexp.ops.sets import set_difference as set_difference
from tfexp.ops.sets import set_intersection as intersection
from tfexp.ops.sets import set_intersection as set_intersection
from tfexp.ops.sets import set_size as set_size
from tfexp.ops.sets import set_size as size
from tfexp.ops.sets import set_union as set_union
from tfexp.ops.sets import set_union as union

__all__ = [
    "difference",
    "intersection",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "size",
    "union",
]

__getattr__ = missing_from("tf.sets")
