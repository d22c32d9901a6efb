"""`tf.estimator.export`: what a served model receives and answers."""

from tfexp.core.gone import missing_from
from tfexp.estimator.export_outputs import ClassificationOutput as ClassificationOutput
from tfexp.estimator.export_outputs import EvalOutput as EvalOutput
from tfexp.estimator.export_outputs import ExportOutput as ExportOutput
from tfexp.estimator.export_outputs import PredictOutput as PredictOutput
from tfexp.estimator.export_outputs import RegressionOutput as RegressionOutput
from tfexp.estimator.receivers import ServingInputReceiver as ServingInputReceiver
from tfexp.estimator.receivers import TensorServingInputReceiver as TensorServingInputReceiver
from tfexp.estimator.receivers import (
    build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn,
)
from tfexp.estimator.receivers import build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn

__getattr__ = missing_from("tf.estimator.export")
