"""Ops are found by name, and imported when they are first asked for."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import tfexp as tf
from tests.ops.write_index import current
from tfexp.ops.index import FILE


def run(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1])}
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment).stdout


def test_the_index_is_up_to_date():
    assert pathlib.Path(FILE).read_text(encoding="utf-8") == current(), "python -m tests.ops.write_index writes it anew"


def test_each_line_is_enough_for_its_ops():
    """In a fresh process, line after line: what it names is there after importing what it names."""
    run(
        "import importlib\n"
        "from tfexp.core import op\n"
        "from tfexp.ops.index import FILE, PACKAGE\n"
        "for line in open(FILE):\n"
        "    modules, _, names = line.partition(': ')\n"
        "    for name in names.split():\n"
        "        assert op.find_op(name) is not None, name\n"
        "assert not op._ON_FIRST_USE\n"
    )


def test_rarely_used_families_are_not_imported_with_tfexp():
    code = (
        "import sys, tfexp as tf\n"
        "loaded = {name.removeprefix('tfexp.ops.') for name in sys.modules if name.startswith('tfexp.ops.')}\n"
        "print(sorted(loaded & {'conv', 'pool', 'strings', 'queue', 'dataset', 'linalg', 'sparse_math'}))\n"
        "print('tfexp.train' in sys.modules, 'tfexp.distributed' in sys.modules)\n"
        "tf.nn.conv2d, tf.train.Saver\n"
        "print('tfexp.ops.conv' in sys.modules)\n"
    )
    assert run(code) == "[]\nFalse False\nTrue\n"


def test_a_graph_of_ops_that_nobody_has_asked_for_yet():
    code = (
        "import tfexp as tf\n"
        "from tensorboard.compat.proto.graph_pb2 import GraphDef\n"
        "from google.protobuf import text_format\n"
        "graph = text_format.Parse('''\n"
        "node { name: 'x' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor {\n"
        "  dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [3, 4] } } } }\n"
        "node { name: 'y' op: 'L2Loss' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }\n"
        "''', GraphDef())\n"
        "(y,) = tf.import_graph_def(graph, return_elements=['y:0'])\n"
        "print(tf.Session().run([y, tf.gradients(y, y.op.inputs[0])[0]]))\n"
    )
    assert run(code).startswith("[np.float32(12.5), array([3., 4.]")


def test_sessions_at_servers_are_found_by_their_scheme():
    code = (
        "import tfexp as tf\n"
        "try:\n"
        "    tf.Session('nowhere://x')\n"
        "except tf.errors.NotFoundError as error:\n"
        "    print('grpc' in str(error))\n"
        "import sys; print('tfexp.distributed.server' in sys.modules)\n"
        "tf.Session('grpc://localhost:1'); print('tfexp.distributed.server' in sys.modules)\n"
    )
    assert run(code) == "True\nFalse\nTrue\n"
