"""`tf.contrib.legacy_seq2seq`: sequences to sequences, as lists of steps, and their losses."""

from tfexp.contributed.legacy_seq2seq.decoders import attention_decoder as attention_decoder
from tfexp.contributed.legacy_seq2seq.decoders import embedding_attention_decoder as embedding_attention_decoder
from tfexp.contributed.legacy_seq2seq.decoders import embedding_rnn_decoder as embedding_rnn_decoder
from tfexp.contributed.legacy_seq2seq.decoders import rnn_decoder as rnn_decoder
from tfexp.contributed.legacy_seq2seq.models import basic_rnn_seq2seq as basic_rnn_seq2seq
from tfexp.contributed.legacy_seq2seq.models import embedding_attention_seq2seq as embedding_attention_seq2seq
from tfexp.contributed.legacy_seq2seq.models import embedding_rnn_seq2seq as embedding_rnn_seq2seq
from tfexp.contributed.legacy_seq2seq.models import embedding_tied_rnn_seq2seq as embedding_tied_rnn_seq2seq
from tfexp.contributed.legacy_seq2seq.models import model_with_buckets as model_with_buckets
from tfexp.contributed.legacy_seq2seq.models import one2many_rnn_seq2seq as one2many_rnn_seq2seq
from tfexp.contributed.legacy_seq2seq.models import tied_rnn_seq2seq as tied_rnn_seq2seq
from tfexp.core.gone import missing_from
from tfexp.layers.sequence_loss import sequence_loss as sequence_loss
from tfexp.layers.sequence_loss import sequence_loss_by_example as sequence_loss_by_example

__getattr__ = missing_from("tf.contrib.legacy_seq2seq")
