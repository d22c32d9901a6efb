"""`tf.lookup.experimental`: a table that programs write to."""

from tfexp.core.gone import missing_from
from tfexp.ops.lookup import DenseHashTable as DenseHashTable

__getattr__ = missing_from("tf.lookup.experimental")
