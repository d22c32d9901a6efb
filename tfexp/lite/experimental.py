"""`tf.lite.experimental`: what converts, and what would run, models in other ways; none of it is here yet."""

from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.lite.experimental")
