"""`tf.estimator.experimental`: k-means, dual ascent, early stopping, evaluation within the training, parts of models."""

from tfexp.core.gone import missing_from
from tfexp.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from tfexp.estimator.canned.kmeans import KMeansClustering as KMeans
from tfexp.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from tfexp.estimator.canned.logit_functions import call_logit_fn as call_logit_fn
from tfexp.estimator.canned.sdca import LinearSDCA as LinearSDCA
from tfexp.estimator.early_stopping import make_early_stopping_hook as make_early_stopping_hook
from tfexp.estimator.early_stopping import make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook
from tfexp.estimator.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from tfexp.estimator.early_stopping import stop_if_lower_hook as stop_if_lower_hook
from tfexp.estimator.early_stopping import stop_if_no_decrease_hook as stop_if_no_decrease_hook
from tfexp.estimator.early_stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
from tfexp.estimator.in_memory_evaluator import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from tfexp.estimator.receivers import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)

__getattr__ = missing_from("tf.estimator.experimental")
