"""`tf.keras.wrappers.scikit_learn`: models as scikit-learn's estimators."""

from tfexp.core.gone import missing_from
from tfexp.keras.wrappers.scikit_learn import KerasClassifier as KerasClassifier
from tfexp.keras.wrappers.scikit_learn import KerasRegressor as KerasRegressor

__getattr__ = missing_from("tf.keras.wrappers.scikit_learn")
