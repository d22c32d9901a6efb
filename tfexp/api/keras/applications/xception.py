"""`tf.keras.applications.xception`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tfexp.keras.applications.xception import Xception as Xception
from tfexp.keras.applications.xception import preprocess_input as preprocess_input

__getattr__ = missing_from("tf.keras.applications.xception")
