"""`tf.contrib.legacy_seq2seq`: losses of sequences, as lists of steps."""

from tfexp.core.gone import missing_from
from tfexp.layers.sequence_loss import sequence_loss as sequence_loss
from tfexp.layers.sequence_loss import sequence_loss_by_example as sequence_loss_by_example

__getattr__ = missing_from("tf.contrib.legacy_seq2seq")
