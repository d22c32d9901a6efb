"""`tf.saved_model.experimental`."""

from tfexp.core.gone import missing_from
from tfexp.train.object_models.saving import save as save

__getattr__ = missing_from("tf.saved_model.experimental")
