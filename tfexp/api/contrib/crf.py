"""`tf.contrib.crf`: re-exports."""

from tfexp.contributed.crf import CrfDecodeBackwardRnnCell as CrfDecodeBackwardRnnCell
from tfexp.contributed.crf import CrfDecodeForwardRnnCell as CrfDecodeForwardRnnCell
from tfexp.contributed.crf import CrfForwardRnnCell as CrfForwardRnnCell
from tfexp.contributed.crf import crf_binary_score as crf_binary_score
from tfexp.contributed.crf import crf_decode as crf_decode
from tfexp.contributed.crf import crf_log_likelihood as crf_log_likelihood
from tfexp.contributed.crf import crf_log_norm as crf_log_norm
from tfexp.contributed.crf import crf_multitag_sequence_score as crf_multitag_sequence_score
from tfexp.contributed.crf import crf_sequence_score as crf_sequence_score
from tfexp.contributed.crf import crf_unary_score as crf_unary_score
from tfexp.contributed.crf import viterbi_decode as viterbi_decode
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.crf")
