"""Scripts written for TensorFlow, and what there is of its public names."""

import functools
import os
import pathlib
import re
import subprocess
import sys

import pytest

import tfexp as tf
from tfexp import script, symbols
from tfexp.core.gone import public_symbols

API = pathlib.Path(tf.__file__).parent / "api"
FILES = sorted(path.relative_to(API).with_suffix("").as_posix() for path in API.rglob("*.py") if path.stem != "__init__")
# `tf.contrib.rnn` is in contrib/rnn.py; one namespace has another's name before it.
PLACES = {
    "rnn_cell": "nn.rnn_cell",
    "io_gfile": "io.gfile",
    "lookup_experimental": "lookup.experimental",
    "random_experimental": "random.experimental",
    "train_experimental": "train.experimental",
    "contrib/compiler_jit": "contrib.compiler.jit",
}
NAMESPACES = [PLACES.get(name, name.replace("/", ".")) for name in FILES]


def run_module(*arguments, cwd=None):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1])}
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=cwd)


SCRIPT = """
import collections
import fractions
import inspect
import sys
import threading
import time
import unittest

import beside
import numpy as np
import six
import tensorflow as tf
import tensorflow.compat.v1 as compat
import tensorflow.contrib.rnn
from tensorflow.contrib import legacy_seq2seq
from tensorflow.nn import relu
from tensorflow.python.tools.inspect_checkpoint import print_tensors_in_checkpoint_file

tf.disable_v2_behavior()
assert np.float is float and six.PY3 and np.product([2, 3]) == 6
assert isinstance({}, collections.Mapping) and fractions.gcd(12, 18) == 6 and time.clock() >= 0.0
assert not threading.Thread().isAlive() and hasattr(unittest.TestCase, "assertRaisesRegexp")
names, more, words, defaults = inspect.getargspec(lambda a, b=2, *c, **d: None)
assert (names, more, words, defaults) == (["a", "b"], "c", "d", (2,))
assert tf is compat and tf.__name__ == "tfexp" and relu is tf.nn.relu and callable(print_tensors_in_checkpoint_file)
with tf.Session() as session:
    print(sys.argv[1:], __name__, beside.VALUE, session.run(relu(tf.constant([-3.0, 2.0]))))
sys.exit(3)
"""


def test_a_tensorflow_script_runs_unchanged(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("VALUE = 'a module beside the script'\n")
    done = run_module("tfexp.script", tmp_path / "script.py", "--steps=5", "rest")
    assert done.stdout == "['--steps=5', 'rest'] __main__ a module beside the script [0. 2.]\n", done.stderr
    assert done.returncode == 3


SUITE = """
import subprocess, sys
from tensorflow.python.platform import test


class SumTest(test.TestCase):
    def testSum(self):
        import tensorflow as tf

        with self.cached_session():
            self.assertAllEqual(tf.add([1, 2], 3), [4, 5])

    def testChild(self):
        line = "import tensorflow.compat.v1 as tf; from tensorflow.python.ops import math_ops; print(tf.__name__)"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", line], cwd="/", text=True), "tfexp\\n")


if __name__ == "__main__":
    test.main()
"""


def test_a_suite_written_for_tensorflow_runs_under_pytest(tmp_path):
    (tmp_path / "sum_test.py").write_text(SUITE)
    done = run_module("tfexp.script", "-m", "pytest", "-q", "-p", "no:cacheprovider", "sum_test.py", cwd=tmp_path)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_module_that_is_not_named():
    done = run_module("tfexp.script", "-m")
    assert done.returncode == 2 and "-m needs the name of a module" in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "tf.lite.OpHint",
            "tfexp does not have TensorFlow's tf.lite.OpHint; `python -m tfexp.symbols tf.lite` lists what there is",
        ),
        (
            "tf.tpu.experimental",
            "tfexp does not have TensorFlow's tf.tpu.experimental; `python -m tfexp.symbols tf.tpu`",
        ),
        (
            "from tensorflow.lite import OpHint",
            "tfexp does not have TensorFlow's tf.lite.OpHint; `python -m tfexp.symbols tf.lite`",
        ),
        ("import tensorflow.compiler", "No module named 'tensorflow.compiler': tfexp, which stands in for TensorFlow here"),
        ("tf.enable_v2_behavior()", "tf.enable_v2_behavior: tfexp has TensorFlow 1's behaviour only"),
    ],
)
def test_what_is_missing_is_named(tmp_path, line, message):
    (tmp_path / "script.py").write_text(f"import tensorflow as tf\n{line}\n")
    done = run_module("tfexp.script", tmp_path / "script.py")
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]


def test_a_script_that_is_not_there(tmp_path):
    done = run_module("tfexp.script", tmp_path / "nowhere.py")
    assert done.returncode == 2
    assert "there is no file" in done.stderr and "usage: python -m tfexp.script" in done.stderr


@pytest.mark.parametrize("name", ["nowhere_at_all", "nowhere_at_all.part", ".part"])
def test_a_module_that_is_not_there(name, capsys):
    assert script.main(["-m", name]) == 2
    assert f"there is no module '{name}'\nusage: python -m tfexp.script" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMESPACES)
def test_every_namespace_says_what_it_lacks(name):
    namespace = functools.reduce(getattr, name.split("."), tf)
    with pytest.raises(AttributeError, match=rf"module 'tfexp.{re.escape(name)}' has no attribute 'nonsense'"):
        _ = namespace.nonsense


def test_symbols_are_found_by_looking(capsys, monkeypatch):
    assert "tf.nn.relu" in public_symbols() and list(public_symbols()) == sorted(set(public_symbols()))
    assert symbols.has("tf.nn.relu") and not symbols.has("tf.nn.nonsense")
    monkeypatch.delattr(tf.manip, "roll")
    assert symbols.main(["tf.manip"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "- tf.manip.roll" in lines and "+ tf.manip.tile" in lines
    assert symbols.main([]) == 0
    overview = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert " roll" in overview["tf.manip"] and " tile" not in overview["tf.manip"]


def test_an_unknown_namespace_is_refused(capsys):
    assert symbols.main(["tf.nowhere"]) == 2
    assert "of TensorFlow 1.15, there is no namespace 'tf.nowhere'. The choices are: tf, tf.app" in capsys.readouterr().err


def test_raw_ops_take_keywords_and_know_their_names():
    with tf.Graph().as_default(), tf.Session() as session:
        total = tf.raw_ops.AddV2(x=tf.constant(2), y=tf.constant(3), name="total")
        assert total.name == "total:0" and session.run(total) == 5
    with pytest.raises(TypeError):
        tf.raw_ops.AddV2(tf.constant(2), tf.constant(3))
    with pytest.raises(AttributeError, match="has no op of that name"):
        _ = tf.raw_ops.Nonsense
    assert "AddV2" in dir(tf.raw_ops)


def test_switches_that_are_off_already_change_nothing():
    for name in ("v2_behavior", "eager_execution", "resource_variables", "control_flow_v2", "tensor_equality"):
        assert getattr(tf, f"disable_{name}")() is None
    for name in ("v2_behavior", "tensor_equality"):
        with pytest.raises(NotImplementedError, match=f"tf.enable_{name}"):
            getattr(tf, f"enable_{name}")()
    assert not tf.executing_eagerly() and not tf.control_flow_v2_enabled() and not tf.resource_variables_enabled()
