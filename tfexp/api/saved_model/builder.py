"""`tf.saved_model.builder`: writing models."""

from tfexp.core.gone import missing_from
from tfexp.train.saved_model_builder import SavedModelBuilder as SavedModelBuilder

__getattr__ = missing_from("tf.saved_model.builder")
