"""`tf.keras.models`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.engine.model import Model as Model
from tfexp.keras.engine.sequential import Sequential as Sequential

__getattr__ = missing_from("tf.keras.models")
