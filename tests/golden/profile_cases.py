"""Profiles of a small graph and of a step told by hand, and the float operations of many ops, recorded from TensorFlow.

The functions take the `tf` module to use, so that the recorder and the tests run the same programs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorboard.compat.proto import config_pb2

RECORDING = Path(__file__).parent / "profiles" / "profiles.json"
VIEWS = ("scope", "graph", "op")
_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
_GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
_ALL = [
    *("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros", "cpu_micros"),
    *("params", "float_ops", "occurrence", "device", "op_types", "input_shapes"),
]
_SOME = ["params", "float_ops", "micros", "bytes", "occurrence"]


def build(tf: Any) -> None:
    """A product, a square and another product, of variables of both kinds; nothing is known of the batch."""
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    with tf.variable_scope("m"):
        zeros = tf.zeros_initializer()
        w = tf.get_variable("w", [5, 3], use_resource=False, initializer=zeros)
        r = tf.get_variable("r", [3, 2], use_resource=True, initializer=zeros)
        y = tf.matmul(x, w, name="mm")
        with tf.name_scope("in"):
            q = tf.matmul(tf.square(y, name="sq"), r, name="mm2")
    tf.reduce_sum(q, name="l")


def step(scale: int = 1) -> config_pb2.RunMetadata:
    """A step in which `m/mm` ran twice, and a node that the graph does not have; two nodes also ran in a GPU's stream."""
    metadata = config_pb2.RunMetadata()
    cpu = metadata.step_stats.dev_stats.add(device=_CPU)
    _ran(cpu, "m/mm", 1000, 10 * scale, [7, 3], memory=[("cpu", 400, 350, 123)], kept=(11, 22))
    _ran(cpu, "m/mm", 1100, 7, [7, 3], memory=[("cpu", 400, 350, 123)])
    _ran(cpu, "m/in/sq", 1030 * scale, 30, [7, 3])
    _ran(cpu, "m/in/mm2", 1070, 40, [7, 2], memory=[("cpu", 50, 45, 43), ("gpu_bfc", 5, 4, 3)])
    _ran(cpu, "x", 999, 0, [7, 5])
    _ran(cpu, "elsewhere", 999, 1, [7, 5])
    stream = metadata.step_stats.dev_stats.add(device=f"{_GPU}/stream:all")
    _ran(stream, "m/in/sq", 1040, 5, [])
    _ran(stream, "m/in/mm2:MatMul", 1041, 0, [])
    return metadata


def _ran(
    device: Any, name: str, start: int, end: int, shape: list[int], memory: Any = (), kept: tuple[int, int] = (0, 0)
) -> None:
    node = device.node_stats.add(node_name=name, timeline_label=f"{name} = {name}()")
    node.all_start_micros, node.op_end_rel_micros, node.all_end_rel_micros = start, end, end + 10
    if shape:
        tensor = node.output.add(slot=0).tensor_description
        tensor.dtype = 1
        size = 4
        for dim in shape:
            tensor.shape.dim.add(size=dim)
            size *= dim
        tensor.allocation_description.requested_bytes = size
        tensor.allocation_description.allocated_bytes = size + 12
    for allocator, total, peak, live in memory:
        node.memory.add(allocator_name=allocator, total_bytes=total, peak_bytes=peak, live_bytes=live)
    node.memory_stats.temp_memory_size, node.memory_stats.persistent_memory_size = kept


Build = Callable[[Any], Any]

OPTIONS: dict[str, Build] = {
    "everything": lambda new: new().select(_ALL),
    "parameters": lambda new: new(new.trainable_variables_parameter()),
    "float operations": lambda new: new(new.float_operation()),
    "time and memory": lambda new: new(new.time_and_memory(min_bytes=0)),
    "some types": lambda new: new().select(_SOME).with_accounted_types(["ReadVariableOp", "Square"]),
    "some types, and totals of these": lambda new: (
        new().select(_SOME).with_accounted_types(["MatMul"]).account_displayed_op_only(True)
    ),
    "least parameters": lambda new: new().select(_SOME).with_min_parameters(1),
    "least time": lambda new: new().select(_SOME).with_min_execution_time(min_cpu_micros=20).account_displayed_op_only(True),
    "least memory": lambda new: new().select(_SOME).with_min_memory(100, min_output_bytes=10),
    "least runs": lambda new: new().select(_SOME).with_min_occurrence(2),
    "by accelerator": lambda new: new().select(_SOME).order_by("accelerator_micros").with_max_depth(3),
    "by bytes": lambda new: new().select(["bytes", "cpu_micros"]).order_by("bytes"),
    "from a name": lambda new: new().select(_SOME).with_node_names(start_name_regexes=["m/in.*", "Mat.*"]),
    "names": lambda new: (
        new()
        .select(_SOME)
        .account_displayed_op_only(True)
        .with_node_names(
            trim_name_regexes=["m/in", "Sq.*"], hide_name_regexes=["m/w", "Const"], show_name_regexes=["[^C].*"]
        )
    ),
}


def profiles(tf: Any) -> dict[str, dict[str, str]]:
    """The reports, by options and view, and the message of the first."""
    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default() as graph:
        build(tf)
        file = Path(folder) / "profile.txt"
        for title, make in OPTIONS.items():
            options = make(tf.profiler.ProfileOptionBuilder).with_file_output(str(file)).build()
            found[title] = {}
            for view in VIEWS:
                message = tf.profiler.profile(graph, step(), cmd=view, options=options)
                found[title][view] = file.read_text().partition("\nProfile:\n")[2]
                if title == "everything":
                    found[title][f"{view}, as a message"] = str(message)
    return found


def steps(tf: Any) -> dict[str, str]:
    """The reports of several steps: one of them, and their mean."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default() as graph:
        build(tf)
        profiler = tf.profiler.Profiler(graph)
        for number, scale in (1, 1), (7, 3), (8, 6):
            profiler.add_step(number, step(scale))
        file = Path(folder) / "profile.txt"
        for chosen in -1, 7:
            options = tf.profiler.ProfileOptionBuilder().select(["micros", "occurrence"]).with_step(chosen)
            profiler.profile_name_scope(options.with_file_output(str(file)).build())
            found[str(chosen)] = file.read_text().partition("\nProfile:\n")[2]
    return found


def float_operations(tf: Any) -> dict[str, int]:
    """Of a graph with a node of each op that is counted, by the node's name."""
    with tf.Graph().as_default() as graph:
        _counted_ops(tf)
        options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
        pending = [tf.profiler.profile(graph, cmd="scope", options=options.with_empty_output().build())]
    found = {}
    while pending:
        node = pending.pop()
        pending.extend(node.children)
        if node.float_ops:
            found[node.name] = node.float_ops
    return found


def _counted_ops(tf: Any) -> None:
    def given(name: str, *shape: int) -> Any:
        return tf.placeholder(tf.float32, shape, name=name)

    a, b, c, row = given("a", 7, 5), given("b", 7, 5), given("c", 5, 3), given("row", 5)
    first, second = given("first", 2, 7, 5), given("second", 2, 5, 3)
    image, kernel, deep = given("image", 2, 11, 13, 3), given("kernel", 3, 5, 3, 7), given("deep", 3, 5, 3, 2)
    made, volume, cube = given("made", 2, 6, 7, 7), given("volume", 2, 7, 8, 9, 3), given("cube", 2, 3, 4, 3, 5)
    variable = tf.get_variable("v", [7, 5], initializer=tf.zeros_initializer(), use_resource=False)
    for name in ("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "SquaredDifference"):
        getattr(tf.raw_ops, name)(x=a, y=row, name=name)
    for name in ("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"):
        getattr(tf.raw_ops, name)(x=a, y=row, name=name)
    for name in ("Log", "Neg", "Reciprocal", "Rsqrt", "Square", "Exp", "Tanh"):
        getattr(tf.raw_ops, name)(x=a, name=name)
    tf.raw_ops.RsqrtGrad(y=a, dy=a, name="RsqrtGrad")
    tf.assign_add(variable, a, name="AssignAdd")
    tf.assign_sub(variable, a, name="AssignSub")
    tf.add_n([a, b, a], "AddN")
    tf.argmax(a, 1, name="ArgMax")
    tf.argmin(a, 0, name="ArgMin")
    for name, axis, kept in ("Sum", None, False), ("SumRows", 0, True), ("SumColumns", 1, False):
        tf.reduce_sum(a, axis, kept, name=name)
    tf.reduce_mean(a, name="Mean")
    tf.reduce_mean(a, 1, name="MeanColumns")
    tf.nn.l2_loss(a, name="L2Loss")
    tf.nn.softmax(a, name="Softmax")
    tf.nn.bias_add(a, row, name="BiasAdd")
    tf.raw_ops.BiasAddGrad(out_backprop=a, name="BiasAddGrad")
    tf.matmul(a, c, name="MatMul")
    tf.matmul(a, b, transpose_a=True, name="MatMulA")
    tf.matmul(a, b, transpose_b=True, name="MatMulB")
    tf.matmul(first, second, name="BatchMatMul")
    tf.matmul(first, first, transpose_b=True, name="BatchMatMulB")
    strides = [1, 2, 2, 1]
    tf.nn.conv2d(image, kernel, strides, "SAME", name="Conv2D")
    tf.nn.conv2d(image, kernel, [1, 1, 1, 1], "VALID", dilations=strides, name="Dilated")
    tf.nn.conv2d_backprop_filter(image, [3, 5, 3, 7], made, strides, "SAME", name="ForFilter")
    tf.nn.conv2d_backprop_input([2, 11, 13, 3], kernel, made, strides, "SAME", name="ForInput")
    tf.nn.conv3d(volume, cube, [1, 1, 2, 1, 1], "SAME", name="Conv3D")
    tf.nn.depthwise_conv2d_native(image, deep, [1, 1, 1, 1], "SAME", name="Depthwise")
    tf.raw_ops.Dilation2D(
        input=image, filter=given("f", 3, 5, 3), strides=[1] * 4, rates=[1] * 4, padding="SAME", name="Dilation2D"
    )
    window = {"ksize": [1, 3, 2, 1], "strides": strides, "padding": "VALID"}
    pooled = tf.nn.avg_pool(image, name="AvgPool", **window)
    tf.nn.max_pool(image, name="MaxPool", **window)
    tf.raw_ops.AvgPoolGrad(orig_input_shape=tf.shape(image), grad=pooled, name="AvgPoolGrad", **window)
    tf.raw_ops.MaxPoolGrad(orig_input=image, orig_output=pooled, grad=pooled, name="MaxPoolGrad", **window)
