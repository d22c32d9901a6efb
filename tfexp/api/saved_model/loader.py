"""`tf.saved_model.loader`: reading models."""

from tfexp.core.gone import missing_from
from tfexp.train.saved_model_loader import load as load
from tfexp.train.saved_model_loader import maybe_saved_model_directory as maybe_saved_model_directory

__getattr__ = missing_from("tf.saved_model.loader")
