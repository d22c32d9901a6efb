"""`tf.contrib.quantize`: re-exports."""

from tfexp.contributed.quantize.rewriting import create_eval_graph as create_eval_graph
from tfexp.contributed.quantize.rewriting import create_training_graph as create_training_graph
from tfexp.contributed.quantize.rewriting import experimental_create_eval_graph as experimental_create_eval_graph
from tfexp.contributed.quantize.rewriting import (
    experimental_create_training_graph as experimental_create_training_graph,
)
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.quantize")
