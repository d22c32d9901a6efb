"""`tf.estimator`: models that are trained, evaluated and served by name. It is loaded when first asked for.

`model` calls a model function on its input; `training`, `evaluating`, `predicting` and `saved_models` do with it what
`Estimator` offers. `heads` and `canned` are models to choose from. Around them stand `train_and_evaluate` and what it uses.
"""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.estimator import experimental as experimental
    from tfexp.estimator import export as export
    from tfexp.estimator import inputs as inputs
    from tfexp.estimator import tpu as tpu
    from tfexp.estimator.added_metrics import add_metrics as add_metrics
    from tfexp.estimator.canned.baseline import BaselineClassifier as BaselineClassifier
    from tfexp.estimator.canned.baseline import BaselineEstimator as BaselineEstimator
    from tfexp.estimator.canned.baseline import BaselineRegressor as BaselineRegressor
    from tfexp.estimator.canned.boosted_trees import BoostedTreesClassifier as BoostedTreesClassifier
    from tfexp.estimator.canned.boosted_trees import BoostedTreesEstimator as BoostedTreesEstimator
    from tfexp.estimator.canned.boosted_trees import BoostedTreesRegressor as BoostedTreesRegressor
    from tfexp.estimator.canned.combined import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
    from tfexp.estimator.canned.combined import DNNLinearCombinedEstimator as DNNLinearCombinedEstimator
    from tfexp.estimator.canned.combined import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
    from tfexp.estimator.canned.dnn import DNNClassifier as DNNClassifier
    from tfexp.estimator.canned.dnn import DNNEstimator as DNNEstimator
    from tfexp.estimator.canned.dnn import DNNRegressor as DNNRegressor
    from tfexp.estimator.canned.example_specs import classifier_parse_example_spec as classifier_parse_example_spec
    from tfexp.estimator.canned.example_specs import regressor_parse_example_spec as regressor_parse_example_spec
    from tfexp.estimator.canned.linear import LinearClassifier as LinearClassifier
    from tfexp.estimator.canned.linear import LinearEstimator as LinearEstimator
    from tfexp.estimator.canned.linear import LinearRegressor as LinearRegressor
    from tfexp.estimator.estimator import Estimator as Estimator
    from tfexp.estimator.exporters import BestExporter as BestExporter
    from tfexp.estimator.exporters import Exporter as Exporter
    from tfexp.estimator.exporters import FinalExporter as FinalExporter
    from tfexp.estimator.exporters import LatestExporter as LatestExporter
    from tfexp.estimator.heads.classification import BinaryClassHead as BinaryClassHead
    from tfexp.estimator.heads.classification import MultiClassHead as MultiClassHead
    from tfexp.estimator.heads.head import Head as Head
    from tfexp.estimator.heads.multi_head import MultiHead as MultiHead
    from tfexp.estimator.heads.multi_label import MultiLabelHead as MultiLabelHead
    from tfexp.estimator.heads.regression import LogisticRegressionHead as LogisticRegressionHead
    from tfexp.estimator.heads.regression import PoissonRegressionHead as PoissonRegressionHead
    from tfexp.estimator.heads.regression import RegressionHead as RegressionHead
    from tfexp.estimator.modes import ModeKeys as ModeKeys
    from tfexp.estimator.run_config import RunConfig as RunConfig
    from tfexp.estimator.spec import EstimatorSpec as EstimatorSpec
    from tfexp.estimator.train_specs import EvalSpec as EvalSpec
    from tfexp.estimator.train_specs import TrainSpec as TrainSpec
    from tfexp.estimator.training_and_evaluating import train_and_evaluate as train_and_evaluate
    from tfexp.estimator.warm_starting import WarmStartSettings as WarmStartSettings
    from tfexp.train.saving_hooks import CheckpointSaverHook as CheckpointSaverHook
    from tfexp.train.saving_hooks import CheckpointSaverListener as CheckpointSaverListener
    from tfexp.train.session_hooks import SessionRunArgs as SessionRunArgs
    from tfexp.train.session_hooks import SessionRunContext as SessionRunContext
    from tfexp.train.session_hooks import SessionRunHook as SessionRunHook
    from tfexp.train.session_hooks import SessionRunValues as SessionRunValues
    from tfexp.train.step_timer import SecondOrStepTimer as SecondOrStepTimer
    from tfexp.train.stopping_hooks import FeedFnHook as FeedFnHook
    from tfexp.train.stopping_hooks import FinalOpsHook as FinalOpsHook
    from tfexp.train.stopping_hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
    from tfexp.train.stopping_hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
    from tfexp.train.stopping_hooks import NanTensorHook as NanTensorHook
    from tfexp.train.stopping_hooks import StopAtStepHook as StopAtStepHook
    from tfexp.train.warm_starts import VocabInfo as VocabInfo
    from tfexp.train.watching_hooks import LoggingTensorHook as LoggingTensorHook
    from tfexp.train.watching_hooks import ProfilerHook as ProfilerHook
    from tfexp.train.watching_hooks import StepCounterHook as StepCounterHook
    from tfexp.train.watching_hooks import SummarySaverHook as SummarySaverHook

__getattr__, __dir__ = namespace("tf.estimator", __name__)
