"""The table of stand-ins: for each private module of TensorFlow's, the places that answer for it.

A place is

    tf, tf.nn …         a public namespace
    tfexp.graph.convert one of our modules, for what TensorFlow keeps but does not publish
    ops                 the op registry, by the names of TensorFlow's generated functions (`gen_math_ops.mat_mul`)
    module:NAME=name    one attribute, under TensorFlow's name

and "is tf.logging" says that it is that very module: what programs put into it counts for both.
"""

from __future__ import annotations

from tfexp.stand_ins.places_of_autograph import AUTOGRAPH
from tfexp.stand_ins.places_of_contrib import CONTRIB, OTHERS
from tfexp.stand_ins.places_of_data import DATA
from tfexp.stand_ins.places_of_debug import DEBUG
from tfexp.stand_ins.places_of_estimator import ESTIMATOR
from tfexp.stand_ins.places_of_framework import FRAMEWORK
from tfexp.stand_ins.places_of_keras import KERAS
from tfexp.stand_ins.places_of_layers import LAYERS
from tfexp.stand_ins.places_of_messages import MESSAGES
from tfexp.stand_ins.places_of_op_packages import PACKAGES_OF_OPS
from tfexp.stand_ins.places_of_ops import OPS
from tfexp.stand_ins.places_of_tools import TOOLS
from tfexp.stand_ins.places_of_training import TRAINING

__all__ = ["CONTRIB", "MESSAGES", "OTHERS", "PYTHON", "SHOWN"]

# tensorflow.python.<key>, with the places that answer, in order.
PYTHON = {
    **AUTOGRAPH,
    **DATA,
    **DEBUG,
    **{f"estimator.{key}": places for key, places in ESTIMATOR.items()},
    **FRAMEWORK,
    **KERAS,
    **LAYERS,
    **OPS,
    **PACKAGES_OF_OPS,
    **TOOLS,
    **TRAINING,
}

# What `from tensorflow.python import …` has under the name of a package: a module.
SHOWN = {
    "compat": "util.compat",
    "feature_column": "feature_column.feature_column_lib",
    "layers": "layers.layers",
    "module": "module.module",
    "ops": "framework.ops",
    "profiler": "profiler.profiler",
    "saved_model": "saved_model.saved_model",
    "summary": "summary.summary",
    "user_ops": "user_ops.user_ops",
}
