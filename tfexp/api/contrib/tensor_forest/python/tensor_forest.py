"""`tf.contrib.tensor_forest.python.tensor_forest`: a forest's settings and graphs."""

from tfexp.contributed.tensor_forest.graphs import ForestVariables as ForestVariables
from tfexp.contributed.tensor_forest.graphs import RandomForestGraphs as RandomForestGraphs
from tfexp.contributed.tensor_forest.graphs import RandomTreeGraphs as RandomTreeGraphs
from tfexp.contributed.tensor_forest.graphs import TreeVariables as TreeVariables
from tfexp.contributed.tensor_forest.hparams import ForestHParams as ForestHParams
from tfexp.contributed.tensor_forest.hparams import build_params_proto as build_params_proto
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.tensor_forest.python.tensor_forest")
