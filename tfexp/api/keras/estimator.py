"""`tf.keras.estimator`: models as Estimators. Those stand above Keras, and are loaded when first asked for."""

from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.keras.estimator", {"model_to_estimator": "tfexp.estimator.keras_models:model_to_estimator"})
