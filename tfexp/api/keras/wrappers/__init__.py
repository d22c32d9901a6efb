"""`tf.keras.wrappers`: models in the dress of other libraries."""

from tfexp.api.keras.wrappers import scikit_learn as scikit_learn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.keras.wrappers")
