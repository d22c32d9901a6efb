"""`tf.contrib.learn`: estimators that take arrays, experiments, monitors, data sets, vocabularies of texts."""

from tfexp.api.contrib.learn import datasets as datasets
from tfexp.api.contrib.learn import io as io
from tfexp.api.contrib.learn import learn_runner as learn_runner
from tfexp.api.contrib.learn import monitors as monitors
from tfexp.api.contrib.learn import preprocessing as preprocessing
from tfexp.api.contrib.learn import utils as utils
from tfexp.contributed.learn.canned import DNNClassifier as DNNClassifier
from tfexp.contributed.learn.canned import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
from tfexp.contributed.learn.canned import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
from tfexp.contributed.learn.canned import DNNRegressor as DNNRegressor
from tfexp.contributed.learn.canned import LinearClassifier as LinearClassifier
from tfexp.contributed.learn.canned import LinearRegressor as LinearRegressor
from tfexp.contributed.learn.constants import PredictionKey as PredictionKey
from tfexp.contributed.learn.constants import ProblemType as ProblemType
from tfexp.contributed.learn.constants import TaskType as TaskType
from tfexp.contributed.learn.dynamic_rnn import DynamicRnnEstimator as DynamicRnnEstimator
from tfexp.contributed.learn.estimators import Estimator as Estimator
from tfexp.contributed.learn.estimators import NotFittedError as NotFittedError
from tfexp.contributed.learn.estimators import SKCompat as SKCompat
from tfexp.contributed.learn.estimators import Trainable as Trainable
from tfexp.contributed.learn.estimators import (
    infer_real_valued_columns_from_input as infer_real_valued_columns_from_input,
)
from tfexp.contributed.learn.estimators import (
    infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn,
)
from tfexp.contributed.learn.experiment import Experiment as Experiment
from tfexp.contributed.learn.experiment import ExportStrategy as ExportStrategy
from tfexp.contributed.learn.exporting import InputFnOps as InputFnOps
from tfexp.contributed.learn.exporting import build_parsing_serving_input_fn as build_parsing_serving_input_fn
from tfexp.contributed.learn.exporting import make_export_strategy as make_export_strategy
from tfexp.contributed.learn.graph_runs import infer as infer
from tfexp.contributed.learn.graph_runs import run_feeds as run_feeds
from tfexp.contributed.learn.graph_runs import run_n as run_n
from tfexp.contributed.learn.heads.head import Head as Head
from tfexp.contributed.learn.heads.head import no_op_train_fn as no_op_train_fn
from tfexp.contributed.learn.heads.multi import multi_head as multi_head
from tfexp.contributed.learn.heads.single import binary_svm_head as binary_svm_head
from tfexp.contributed.learn.heads.single import multi_class_head as multi_class_head
from tfexp.contributed.learn.heads.single import multi_label_head as multi_label_head
from tfexp.contributed.learn.heads.single import poisson_regression_head as poisson_regression_head
from tfexp.contributed.learn.heads.single import regression_head as regression_head
from tfexp.contributed.learn.kmeans import KMeansClustering as KMeansClustering
from tfexp.contributed.learn.logistic import LogisticRegressor as LogisticRegressor
from tfexp.contributed.learn.metric_spec import MetricSpec as MetricSpec
from tfexp.contributed.learn.model_fn_ops import ModeKeys as ModeKeys
from tfexp.contributed.learn.model_fn_ops import ModelFnOps as ModelFnOps
from tfexp.contributed.learn.monitors import NanLossDuringTrainingError as NanLossDuringTrainingError
from tfexp.contributed.learn.pandas_arrays import extract_pandas_data as extract_pandas_data
from tfexp.contributed.learn.pandas_arrays import extract_pandas_labels as extract_pandas_labels
from tfexp.contributed.learn.pandas_arrays import extract_pandas_matrix as extract_pandas_matrix
from tfexp.contributed.learn.reading import read_batch_examples as read_batch_examples
from tfexp.contributed.learn.reading import read_batch_features as read_batch_features
from tfexp.contributed.learn.reading import read_batch_record_features as read_batch_record_features
from tfexp.contributed.learn.reading import read_keyed_batch_examples as read_keyed_batch_examples
from tfexp.contributed.learn.reading import read_keyed_batch_features as read_keyed_batch_features
from tfexp.contributed.learn.run_config import RunConfig as RunConfig
from tfexp.contributed.learn.svm import SVM as SVM
from tfexp.contributed.learn.with_heads import DNNEstimator as DNNEstimator
from tfexp.contributed.learn.with_heads import DNNLinearCombinedEstimator as DNNLinearCombinedEstimator
from tfexp.contributed.learn.with_heads import LinearEstimator as LinearEstimator
from tfexp.core.gone import missing_from

__all__ = ["datasets", "io", "learn_runner", "monitors", "preprocessing", "utils"]

__getattr__ = missing_from("tf.contrib.learn")
