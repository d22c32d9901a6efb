"""`tf.xla`: re-exports."""

from tfexp.api.xla import experimental as experimental
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.xla")
