"""`tf.keras.mixed_precision`."""

from tfexp.api.keras.mixed_precision import experimental as experimental
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.keras.mixed_precision")
