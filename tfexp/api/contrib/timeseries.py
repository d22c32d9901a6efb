"""`tf.contrib.timeseries`: re-exports."""

from tfexp.contributed.timeseries import saved_model_utils as saved_model_utils
from tfexp.contributed.timeseries.ar_model import ARModel as ARModel
from tfexp.contributed.timeseries.continuing import predict_continuation_input_fn as predict_continuation_input_fn
from tfexp.contributed.timeseries.estimators import ARRegressor as ARRegressor
from tfexp.contributed.timeseries.estimators import TimeSeriesRegressor as TimeSeriesRegressor
from tfexp.contributed.timeseries.feature_keys import FilteringResults as FilteringResults
from tfexp.contributed.timeseries.feature_keys import TrainEvalFeatures as TrainEvalFeatures
from tfexp.contributed.timeseries.head import OneShotPredictionHead as OneShotPredictionHead
from tfexp.contributed.timeseries.readers import CSVReader as CSVReader
from tfexp.contributed.timeseries.readers import NumpyReader as NumpyReader
from tfexp.contributed.timeseries.windows import RandomWindowInputFn as RandomWindowInputFn
from tfexp.contributed.timeseries.windows import WholeDatasetInputFn as WholeDatasetInputFn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.timeseries")
