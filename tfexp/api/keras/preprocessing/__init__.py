"""`tf.keras.preprocessing`: data before a model sees it."""

from tfexp.api.keras.preprocessing import image as image
from tfexp.api.keras.preprocessing import sequence as sequence
from tfexp.api.keras.preprocessing import text as text
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.keras.preprocessing")
