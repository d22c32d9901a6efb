"""`tf.keras.applications.vgg16`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from tfexp.keras.applications.vgg import VGG16 as VGG16
from tfexp.keras.applications.vgg import preprocess_input as preprocess_input

__getattr__ = missing_from("tf.keras.applications.vgg16")
