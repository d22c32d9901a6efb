"""`tf.saved_model.main_op`: what runs when a model is loaded."""

from tfexp.train.saved_model_builder import main_op as main_op
from tfexp.train.saved_model_builder import main_op_with_restore as main_op_with_restore
