"""`tf.contrib.receptive_field`: re-exports."""

from tfexp.contributed.receptive_field import (
    compute_receptive_field_from_graph_def as compute_receptive_field_from_graph_def,
)
from tfexp.contributed.receptive_field import get_compute_order as get_compute_order
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.receptive_field")
