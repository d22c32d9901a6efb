"""`tf.contrib.slim.evaluation`: metrics of checkpoints."""

from tfexp.contributed.slim_evaluation import evaluate_once as evaluate_once
from tfexp.contributed.slim_evaluation import evaluation_loop as evaluation_loop
from tfexp.core.gone import missing_from
from tfexp.train.checkpoint_watching import checkpoints_iterator as checkpoints_iterator
from tfexp.train.checkpoint_watching import wait_for_new_checkpoint as wait_for_new_checkpoint

__getattr__ = missing_from("tf.contrib.slim.evaluation")
