"""`tf.saved_model.loader`: reading models."""

from tfexp.train.saved_model_loader import load as load
from tfexp.train.saved_model_loader import maybe_saved_model_directory as maybe_saved_model_directory
