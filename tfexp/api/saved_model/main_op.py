"""`tf.saved_model.main_op`: what runs when a model is loaded."""

from tfexp.core.gone import missing_from
from tfexp.train.saved_model_builder import main_op as main_op
from tfexp.train.saved_model_builder import main_op_with_restore as main_op_with_restore

__getattr__ = missing_from("tf.saved_model.main_op")
