"""`tf.contrib.predictor`: functions made of saved models and estimators."""

from tfexp.contributed.predictor import Predictor as Predictor
from tfexp.contributed.predictor import from_estimator as from_estimator
from tfexp.contributed.predictor import from_saved_model as from_saved_model
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.predictor")
