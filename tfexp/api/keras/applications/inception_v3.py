"""`tf.keras.applications.inception_v3`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tfexp.keras.applications.inception_v3 import InceptionV3 as InceptionV3
from tfexp.keras.applications.inception_v3 import preprocess_input as preprocess_input

__getattr__ = missing_from("tf.keras.applications.inception_v3")
