"""`tf.keras.estimator`: models as Estimators. Those stand above Keras, and are loaded when first asked for."""

from tfexp.core.gone import namespace

__getattr__, __dir__ = namespace(
    "tf.keras.estimator", __name__, {"model_to_estimator": "tfexp.estimator.keras_models:model_to_estimator"}
)
