"""`tf.contrib.seq2seq`: decoders, attention, losses of sequences."""

from tfexp.contributed.attention import AttentionMechanism as AttentionMechanism
from tfexp.contributed.attention import BahdanauAttention as BahdanauAttention
from tfexp.contributed.attention import LuongAttention as LuongAttention
from tfexp.contributed.attention import hardmax as hardmax
from tfexp.contributed.attention_wrapper import AttentionWrapper as AttentionWrapper
from tfexp.contributed.attention_wrapper import AttentionWrapperState as AttentionWrapperState
from tfexp.contributed.batched_sequence_loss import sequence_loss as sequence_loss
from tfexp.contributed.beam_search import BeamSearchDecoder as BeamSearchDecoder
from tfexp.contributed.beam_search import BeamSearchDecoderOutput as BeamSearchDecoderOutput
from tfexp.contributed.beam_search import BeamSearchDecoderState as BeamSearchDecoderState
from tfexp.contributed.beam_search import FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput
from tfexp.contributed.beam_search import gather_tree_from_array as gather_tree_from_array
from tfexp.contributed.beam_search import tile_batch as tile_batch
from tfexp.contributed.decoding import BasicDecoder as BasicDecoder
from tfexp.contributed.decoding import BasicDecoderOutput as BasicDecoderOutput
from tfexp.contributed.decoding import Decoder as Decoder
from tfexp.contributed.decoding import GreedyEmbeddingHelper as GreedyEmbeddingHelper
from tfexp.contributed.decoding import Helper as Helper
from tfexp.contributed.decoding import SampleEmbeddingHelper as SampleEmbeddingHelper
from tfexp.contributed.decoding import TrainingHelper as TrainingHelper
from tfexp.contributed.decoding import dynamic_decode as dynamic_decode
from tfexp.contributed.decoding_helpers import CustomHelper as CustomHelper
from tfexp.contributed.decoding_helpers import InferenceHelper as InferenceHelper
from tfexp.contributed.decoding_helpers import ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper
from tfexp.contributed.decoding_helpers import ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper
from tfexp.contributed.monotonic_attention import BahdanauMonotonicAttention as BahdanauMonotonicAttention
from tfexp.contributed.monotonic_attention import LuongMonotonicAttention as LuongMonotonicAttention
from tfexp.contributed.monotonic_attention import monotonic_attention as monotonic_attention
from tfexp.contributed.monotonic_attention import safe_cumprod as safe_cumprod
from tfexp.core.gone import missing_from
from tfexp.ops.gather_tree import gather_tree as gather_tree

__getattr__ = missing_from("tf.contrib.seq2seq")
