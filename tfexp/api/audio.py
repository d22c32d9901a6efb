"""`tf.audio`: WAV files as tensors."""

from tfexp.core.gone import missing_from
from tfexp.ops.audio_ops import decode_wav as decode_wav
from tfexp.ops.audio_ops import encode_wav as encode_wav

__getattr__ = missing_from("tf.audio")
