"""`tf.manip`: reshape, gather, tile and others, under a second name."""

from tfexp.core.gone import missing_from
from tfexp.ops.array import reshape as reshape
from tfexp.ops.array_gather import gather_nd as gather_nd
from tfexp.ops.array_gather import scatter_nd as scatter_nd
from tfexp.ops.array_order import reverse as reverse
from tfexp.ops.array_order import roll as roll
from tfexp.ops.array_tile import tile as tile
from tfexp.ops.space_batch import batch_to_space_nd as batch_to_space_nd
from tfexp.ops.space_batch import space_to_batch_nd as space_to_batch_nd

__getattr__ = missing_from("tf.manip")
