"""The names of dumps, as `tensorflow.python.debug.lib` has them. Recorded from TensorFlow 1.15."""

from __future__ import annotations

import json

import pytest

import tfexp as tf
from tfexp.debug import graphs
from tfexp.stand_ins import debug_names


def test_names_of_outputs_and_of_nodes_that_watch_them():
    assert debug_names.parse_node_or_tensor_name("ns/a:1") == ("ns/a", 1)
    assert debug_names.parse_node_or_tensor_name("ns/a") == ("ns/a", None)
    assert debug_names.get_node_name("a:2") == "a"
    assert [debug_names.get_output_slot(name) for name in ("a:2", "a")] == [2, 0]
    assert debug_names.parse_debug_node_name("__dbg_ns/a_b:1_0_DebugIdentity") == ("ns/a_b", 1, 0, "DebugIdentity")
    assert graphs.is_debug_node("__dbg_a:0_0_D") and not graphs.is_debug_node("__copy_ns/a_0")
    assert debug_names.is_copy_node("__copy_ns/a_0") and not debug_names.is_copy_node("_copy_ns/a_0")
    for name, message in (
        ("a:0", "Invalid prefix"),
        ("__dbg_a:0", "Invalid debug node name"),
        ("__dbg_a:0_x_D", "int"),
        ("__dbg_a_0_D", "tensor name"),
    ):
        with pytest.raises(ValueError, match=message):
            debug_names.parse_debug_node_name(name)


@pytest.mark.parametrize("device", ["/job:my_worker/replica:0/task:1/device:CPU:0", "/job:ps/cpu:0"])
def test_devices_have_folders(device):
    folder = debug_names.device_name_to_device_path(device)
    assert folder.startswith("_tfdbg_device_,job_") and "/" not in folder
    assert debug_names.device_path_to_device_name(folder) == device


def test_runs_have_keys():
    with tf.Graph().as_default():
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        assert debug_names.get_flattened_names({"x": [a, (b.op,)], "y": "c:0"}) == ["a:0", "b", "c:0"]
        assert json.loads(debug_names.get_run_key(None, [b, a])) == [["None"], ["b:0", "a:0"]]
