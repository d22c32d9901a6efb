"""`tf.contrib.legacy_seq2seq`: losses of sequences that are given as lists of steps (O4)."""

from tfexp.layers.sequence_loss import sequence_loss as sequence_loss
from tfexp.layers.sequence_loss import sequence_loss_by_example as sequence_loss_by_example
