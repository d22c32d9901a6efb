"""`tf.contrib.training`: HParams, batches of sequences."""

from tfexp.contributed.hparam import HParams as HParams
from tfexp.contributed.learning import clip_gradient_norms as clip_gradient_norms
from tfexp.contributed.learning import create_train_op as create_train_op
from tfexp.contributed.learning import multiply_gradients as multiply_gradients
from tfexp.contributed.monitored_training import train as train
from tfexp.core.gone import missing_from
from tfexp.train.checkpoint_watching import checkpoints_iterator as checkpoints_iterator
from tfexp.train.checkpoint_watching import wait_for_new_checkpoint as wait_for_new_checkpoint
from tfexp.train.evaluation import StopAfterNEvalsHook as StopAfterNEvalsHook
from tfexp.train.evaluation import SummaryAtEndHook as SummaryAtEndHook
from tfexp.train.evaluation import evaluate_once as evaluate_once
from tfexp.train.evaluation import evaluate_repeatedly as evaluate_repeatedly
from tfexp.train.evaluation import get_or_create_eval_step as get_or_create_eval_step

__getattr__ = missing_from("tf.contrib.training")
