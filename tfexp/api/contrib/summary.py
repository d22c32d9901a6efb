"""`tf.contrib.summary`: re-exports."""

from tfexp.contributed.summary_writing import SummaryWriter as SummaryWriter
from tfexp.contributed.summary_writing import all_summary_ops as all_summary_ops
from tfexp.contributed.summary_writing import always_record_summaries as always_record_summaries
from tfexp.contributed.summary_writing import audio as audio
from tfexp.contributed.summary_writing import create_file_writer as create_file_writer
from tfexp.contributed.summary_writing import create_summary_file_writer as create_summary_file_writer
from tfexp.contributed.summary_writing import eval_dir as eval_dir
from tfexp.contributed.summary_writing import flush as flush
from tfexp.contributed.summary_writing import generic as generic
from tfexp.contributed.summary_writing import graph as graph
from tfexp.contributed.summary_writing import histogram as histogram
from tfexp.contributed.summary_writing import image as image
from tfexp.contributed.summary_writing import import_event as import_event
from tfexp.contributed.summary_writing import initialize as initialize
from tfexp.contributed.summary_writing import never_record_summaries as never_record_summaries
from tfexp.contributed.summary_writing import record_if as record_if
from tfexp.contributed.summary_writing import record_summaries_every_n_global_steps as record_summaries_every_n_global_steps
from tfexp.contributed.summary_writing import scalar as scalar
from tfexp.contributed.summary_writing import should_record_summaries as should_record_summaries
from tfexp.contributed.summary_writing import summary_writer_initializer_op as summary_writer_initializer_op
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.summary")
