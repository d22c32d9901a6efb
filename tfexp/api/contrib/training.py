"""`tf.contrib.training`: HParams, buckets, where variables go, loops of training and evaluation."""

from tfexp.contributed.bucketing import bucket as bucket
from tfexp.contributed.bucketing import bucket_by_sequence_length as bucket_by_sequence_length
from tfexp.contributed.hparam import HParams as HParams
from tfexp.contributed.hparam import parse_values as parse_values
from tfexp.contributed.learning import add_gradients_summaries as add_gradients_summaries
from tfexp.contributed.learning import clip_gradient_norms as clip_gradient_norms
from tfexp.contributed.learning import clip_gradient_norms_fn as clip_gradient_norms_fn
from tfexp.contributed.learning import create_train_op as create_train_op
from tfexp.contributed.learning import multiply_gradients as multiply_gradients
from tfexp.contributed.monitored_training import train as train
from tfexp.contributed.sampling import rejection_sample as rejection_sample
from tfexp.contributed.sampling import resample_at_rate as resample_at_rate
from tfexp.contributed.sampling import stratified_sample as stratified_sample
from tfexp.contributed.sampling import weighted_resample as weighted_resample
from tfexp.contributed.sequence_batches import NextQueuedSequenceBatch as NextQueuedSequenceBatch
from tfexp.contributed.sequence_batches import SequenceQueueingStateSaver as SequenceQueueingStateSaver
from tfexp.contributed.sequence_batching import batch_sequences_with_states as batch_sequences_with_states
from tfexp.core.gone import missing_from
from tfexp.estimator.feeding import FeedingQueueRunner as FeedingQueueRunner
from tfexp.train.checkpoint_watching import checkpoints_iterator as checkpoints_iterator
from tfexp.train.checkpoint_watching import wait_for_new_checkpoint as wait_for_new_checkpoint
from tfexp.train.device_setter import GreedyLoadBalancingStrategy as GreedyLoadBalancingStrategy
from tfexp.train.device_setter import RandomStrategy as RandomStrategy
from tfexp.train.device_setter import byte_size_load_fn as byte_size_load_fn
from tfexp.train.evaluation import StopAfterNEvalsHook as StopAfterNEvalsHook
from tfexp.train.evaluation import SummaryAtEndHook as SummaryAtEndHook
from tfexp.train.evaluation import evaluate_once as evaluate_once
from tfexp.train.evaluation import evaluate_repeatedly as evaluate_repeatedly
from tfexp.train.evaluation import get_or_create_eval_step as get_or_create_eval_step

__getattr__ = missing_from("tf.contrib.training")
