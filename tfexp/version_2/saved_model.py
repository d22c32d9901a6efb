"""What `tf.compat.v2.saved_model` has of its own: objects are saved and loaded."""

from tfexp.train.object_models.assets import Asset as Asset
from tfexp.train.object_models.loading import load_v2 as load
