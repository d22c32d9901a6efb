"""`tf.contrib.learn`: estimators that take arrays, data sets, vocabularies of texts."""

from tfexp.api.contrib import learn_datasets as datasets
from tfexp.api.contrib import learn_preprocessing as preprocessing
from tfexp.contributed.learn.estimators import DNNClassifier as DNNClassifier
from tfexp.contributed.learn.estimators import DNNRegressor as DNNRegressor
from tfexp.contributed.learn.estimators import Estimator as Estimator
from tfexp.contributed.learn.estimators import LinearClassifier as LinearClassifier
from tfexp.contributed.learn.estimators import LinearRegressor as LinearRegressor
from tfexp.contributed.learn.estimators import ModeKeys as ModeKeys
from tfexp.contributed.learn.estimators import ModelFnOps as ModelFnOps
from tfexp.contributed.learn.estimators import SKCompat as SKCompat
from tfexp.contributed.learn.estimators import (
    infer_real_valued_columns_from_input as infer_real_valued_columns_from_input,
)
from tfexp.core.gone import missing_from
from tfexp.estimator.run_config import RunConfig as RunConfig

__all__ = ["datasets", "preprocessing"]

__getattr__ = missing_from("tf.contrib.learn")
