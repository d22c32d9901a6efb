"""`tf.contrib.tensor_forest.client.eval_metrics`: metrics of forests by their names."""

from tfexp.contributed.tensor_forest.eval_metrics import FEATURE_IMPORTANCE_NAME as FEATURE_IMPORTANCE_NAME
from tfexp.contributed.tensor_forest.eval_metrics import INFERENCE_PRED_NAME as INFERENCE_PRED_NAME
from tfexp.contributed.tensor_forest.eval_metrics import INFERENCE_PROB_NAME as INFERENCE_PROB_NAME
from tfexp.contributed.tensor_forest.eval_metrics import get_metric as get_metric
from tfexp.contributed.tensor_forest.eval_metrics import get_prediction_key as get_prediction_key
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensor_forest.client.eval_metrics")
