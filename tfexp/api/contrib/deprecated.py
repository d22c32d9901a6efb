"""`tf.contrib.deprecated`: summaries as in TensorFlow 0.x."""

from tfexp.contributed.deprecated_summaries import audio_summary as audio_summary
from tfexp.contributed.deprecated_summaries import histogram_summary as histogram_summary
from tfexp.contributed.deprecated_summaries import image_summary as image_summary
from tfexp.contributed.deprecated_summaries import scalar_summary as scalar_summary
from tfexp.core.gone import missing_from
from tfexp.ops.summary import merge as merge_summary
from tfexp.ops.summary import merge_all as merge_all_summaries

__getattr__ = missing_from("tf.contrib.deprecated")
