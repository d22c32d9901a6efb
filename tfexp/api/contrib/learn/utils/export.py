"""`tf.contrib.learn.utils.export`: session bundles of estimators."""

from tfexp.contributed.learn.bundling import classification_signature_fn as classification_signature_fn
from tfexp.contributed.learn.bundling import classification_signature_fn_with_prob as classification_signature_fn_with_prob
from tfexp.contributed.learn.bundling import export_estimator as export_estimator
from tfexp.contributed.learn.bundling import generic_signature_fn as generic_signature_fn
from tfexp.contributed.learn.bundling import logistic_regression_signature_fn as logistic_regression_signature_fn
from tfexp.contributed.learn.bundling import regression_signature_fn as regression_signature_fn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.utils.export")
