"""`tf.experimental`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.ops.calls import function_executor_type as function_executor_type

__getattr__ = missing_from("tf.experimental")
