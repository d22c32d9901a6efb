"""`tf.contrib.estimator`: what `tf.estimator` has by now, under its older names, and features beside predictions."""

from tfexp.contributed.exported_models import (
    build_supervised_input_receiver_fn_from_input_fn as build_supervised_input_receiver_fn_from_input_fn,
)
from tfexp.contributed.exported_models import export_all_saved_models as export_all_saved_models
from tfexp.contributed.exported_models import export_saved_model_for_mode as export_saved_model_for_mode
from tfexp.contributed.forward_features import forward_features as forward_features
from tfexp.contributed.older_heads import OlderBinaryClassHead as binary_classification_head
from tfexp.contributed.older_heads import OlderLogisticRegressionHead as logistic_regression_head
from tfexp.contributed.older_heads import OlderMultiClassHead as multi_class_head
from tfexp.contributed.older_heads import OlderMultiLabelHead as multi_label_head
from tfexp.contributed.older_heads import poisson_regression_head as poisson_regression_head
from tfexp.contributed.older_heads import regression_head as regression_head
from tfexp.contributed.opt.clipping import clip_gradients_by_norm as clip_gradients_by_norm
from tfexp.contributed.rnn_estimators import RNNClassifier as RNNClassifier
from tfexp.contributed.rnn_estimators import RNNEstimator as RNNEstimator
from tfexp.contributed.saved_model_estimator import SavedModelEstimator as SavedModelEstimator
from tfexp.contributed.towers import TowerOptimizer as TowerOptimizer
from tfexp.contributed.towers import replicate_model_fn as replicate_model_fn
from tfexp.contributed.trees_in_memory import (
    boosted_trees_classifier_train_in_memory as boosted_trees_classifier_train_in_memory,
)
from tfexp.contributed.trees_in_memory import (
    boosted_trees_regressor_train_in_memory as boosted_trees_regressor_train_in_memory,
)
from tfexp.core.gone import missing_from
from tfexp.estimator.added_metrics import add_metrics as add_metrics
from tfexp.estimator.canned.baseline import BaselineEstimator as BaselineEstimator
from tfexp.estimator.canned.combined import DNNLinearCombinedEstimator as DNNLinearCombinedEstimator
from tfexp.estimator.canned.dnn import DNNEstimator as DNNEstimator
from tfexp.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from tfexp.estimator.canned.linear import LinearEstimator as LinearEstimator
from tfexp.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from tfexp.estimator.canned.logit_functions import call_logit_fn as call_logit_fn
from tfexp.estimator.early_stopping import make_early_stopping_hook as make_early_stopping_hook
from tfexp.estimator.early_stopping import make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook
from tfexp.estimator.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from tfexp.estimator.early_stopping import stop_if_lower_hook as stop_if_lower_hook
from tfexp.estimator.early_stopping import stop_if_no_decrease_hook as stop_if_no_decrease_hook
from tfexp.estimator.early_stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
from tfexp.estimator.eval_metrics import metrics_of_folder as read_eval_metrics
from tfexp.estimator.heads.multi_head import MultiHead as multi_head
from tfexp.estimator.in_memory_evaluator import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from tfexp.estimator.receivers import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)

__getattr__ = missing_from("tf.contrib.estimator")
