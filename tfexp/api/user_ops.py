"""`tf.user_ops`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ops.fact import my_fact as my_fact

__getattr__ = missing_from("tf.user_ops")
