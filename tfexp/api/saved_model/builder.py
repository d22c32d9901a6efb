"""`tf.saved_model.builder`: writing models."""

from tfexp.train.saved_model_builder import SavedModelBuilder as SavedModelBuilder
