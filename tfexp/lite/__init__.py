"""`tf.lite`: models for small devices. A converter makes TensorFlow Lite's files of graphs, an interpreter runs them.

sources     a session, a frozen graph, a SavedModel, a Keras file -> a frozen graph between tensors
lowering    TensorFlow's nodes -> steps of TensorFlow Lite's; `lowering_nn` and `lowering_arrays` have a rule for each op
fusing      factors, terms and activations go into the products before them
quantizing  weights, and with examples activations, become small integers
converter   all of that in order; `formats.lite_model` writes the file
interpreter a file's steps -> a graph, which a session runs; `meanings` has a rule for each op, `quantized` what integers are

The interpreter has no kernels of its own: a model runs as a graph does.

It is loaded when first asked for.
"""

from tfexp.core.gone import missing_from
from tfexp.lite import constants as constants
from tfexp.lite import experimental as experimental
from tfexp.lite.converter import TFLiteConverter as TFLiteConverter
from tfexp.lite.converter import TocoConverter as TocoConverter
from tfexp.lite.converter import toco_convert as toco_convert
from tfexp.lite.interpreter import Interpreter as Interpreter
from tfexp.lite.settings import OpsSet as OpsSet
from tfexp.lite.settings import Optimize as Optimize
from tfexp.lite.settings import RepresentativeDataset as RepresentativeDataset
from tfexp.lite.settings import TargetSpec as TargetSpec

__getattr__ = missing_from("tf.lite")
