"""Options that have no effect say so, once; those that have one are silent."""

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

import tfexp as tf
from tfexp.core import workers
from tfexp.runtime import cpu, options
from tfexp.runtime.placement import with_step_stats


@pytest.fixture(autouse=True)
def _nobody_was_told(monkeypatch):
    monkeypatch.setattr(options, "_told", set())


def told(caplog):
    return [record.getMessage() for record in caplog.records if "has no effect" in record.getMessage()]


def open_session(config):
    with tf.Graph().as_default(), tf.Session(config=config):
        pass


def test_what_collective_ops_go_by_has_an_effect(caplog):
    config = tf.ConfigProto()
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    open_session(config)
    assert told(caplog) == []
    config.experimental.collective_nccl = True
    open_session(config)
    assert len(told(caplog)) == 1


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (tf.ConfigProto(use_per_session_threads=True), "ConfigProto.use_per_session_threads"),
        (tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)), "ConfigProto.gpu_options.allow_growth"),
        (
            tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))),
            "ConfigProto.graph_options.optimizer_options.opt_level",
        ),
    ],
)
def test_an_option_without_effect_is_told_once(caplog, config, name):
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        open_session(config)
        open_session(config)
    (message,) = told(caplog)
    assert message.startswith(f"{name} has no effect: ")


def test_options_that_are_read_are_silent(caplog):
    config = tf.ConfigProto(
        device_count={"CPU": 2},
        intra_op_parallelism_threads=1,
        inter_op_parallelism_threads=2,
        allow_soft_placement=True,
        operation_timeout_in_ms=10000,
        placement_period=2,
        gpu_options=tf.GPUOptions(visible_device_list="", per_process_gpu_memory_fraction=0.4),
    )
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        open_session(config)
        open_session(None)
    assert told(caplog) == []


def test_options_of_a_run(caplog):
    run_options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=10000, inter_op_thread_pool=1)
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, logger="tensorflow"):
        session.run(tf.constant(1) + 1, options=run_options)
    (message,) = told(caplog)
    assert message.startswith("RunOptions.inter_op_thread_pool has no effect: ")


def test_every_option_of_the_table_exists():
    for message, table in ((tf.ConfigProto, options._CONFIG), (tf.RunOptions, options._RUN)):
        for path in table:
            descriptor = message.DESCRIPTOR
            for field in path.split("."):
                assert field in descriptor.fields_by_name, f"{message.DESCRIPTOR.name}.{path}"
                descriptor = descriptor.fields_by_name[field].message_type


# Options that have an effect, and the file whose tests show it.
READ = {
    "ConfigProto": {
        "device_count": "runtime/test_devices.py",
        "intra_op_parallelism_threads": "runtime/test_options.py",
        "inter_op_parallelism_threads": "runtime/test_options.py",
        "placement_period": "distributed/test_dynamic_placement.py",
        "device_filters": "distributed/test_cluster_steps.py",
        "gpu_options.visible_device_list": "runtime/test_devices.py",
        "gpu_options.per_process_gpu_memory_fraction": "runtime/test_device_memory.py",
        "graph_options.optimizer_options.global_jit_level": "runtime/test_compiled_steps.py",
        "allow_soft_placement": "runtime/test_devices.py",
        "log_device_placement": "runtime/test_devices.py",
        "operation_timeout_in_ms": "runtime/test_flow.py",
        "isolate_session_state": "distributed/test_server.py",
        "graph_options.enable_bfloat16_sendrecv": "distributed/test_wire_dtype.py",
    },
    "RunOptions": {
        "trace_level": "runtime/test_timeline.py",
        "timeout_in_ms": "runtime/test_flow.py",
        "output_partition_graphs": "runtime/test_tiers.py",
    },
}


def options_of(message, prefix=""):
    """The options of a message, and instead of a group that is neither read nor told of as a whole those in it."""
    for field in message.DESCRIPTOR.fields:
        path = f"{prefix}{field.name}"
        if path in ("gpu_options", "graph_options", "graph_options.optimizer_options"):
            yield from options_of(getattr(message, field.name), f"{path}.")
        else:
            yield path


@pytest.mark.parametrize(
    ("message", "table"), [(tf.ConfigProto(), options._CONFIG), (tf.RunOptions(), options._RUN)], ids=["session", "run"]
)
def test_every_option_is_read_and_tested_or_told_of(message, table):
    read = READ[message.DESCRIPTOR.name]
    every = set(options_of(message))
    assert every == read.keys() | table.keys()
    assert not read.keys() & table.keys()
    tests = Path(__file__).parents[1]
    for path, file in read.items():
        assert path.rpartition(".")[2] in (tests / file).read_text(), f"{file} has no test of {path}"


@pytest.mark.parametrize("path", sorted({*options._CONFIG, *(f"run:{name}" for name in options._RUN)}))
def test_each_option_without_effect_is_told_once(caplog, path):
    """Whatever its type: set to something, it is told of; twice, only once."""
    message = tf.RunOptions() if path.startswith("run:") else tf.ConfigProto()
    holder = message
    *groups, name = path.removeprefix("run:").split(".")
    for group in groups:
        holder = getattr(holder, group)
    field = holder.DESCRIPTOR.fields_by_name[name]
    if isinstance(getattr(holder, name), Sequence) and not isinstance(getattr(holder, name), str):
        getattr(holder, name).add()
    elif field.message_type is not None:
        getattr(holder, name).SetInParent()
    else:
        setattr(holder, name, "x" if field.cpp_type == field.CPPTYPE_STRING else 1)
    tell = options.tell_unsupported_of_run if path.startswith("run:") else options.tell_unsupported
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        tell(message)
        tell(message)
    (told_of,) = told(caplog)
    assert f".{path.removeprefix('run:')} has no effect: " in told_of


def test_costs_for_the_placer_are_no_option_without_effect(caplog):
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        open_session(with_step_stats(tf.ConfigProto(placement_period=1), tf.RunMetadata().step_stats))
    assert told(caplog) == []


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16])
def test_fewer_bits_on_the_wire_are_no_option_without_effect(caplog, dtype):
    config = tf.ConfigProto()
    config.graph_options.enable_bfloat16_sendrecv = True
    rewriter = config.graph_options.rewrite_options.custom_optimizers.add(name="wire_dtype")
    rewriter.parameter_map["dtype"].type = dtype.as_datatype_enum
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        open_session(config)
    assert told(caplog) == []


def test_inter_op_threads_bound_those_of_a_step():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1)) as session:
        assert session._backend.threads == 1


def test_intra_op_threads_are_those_of_kernels_and_blas(monkeypatch):
    for name in cpu._THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    try:
        open_session(tf.ConfigProto(intra_op_parallelism_threads=1))
        assert workers.threads() == 1
        assert {pool["num_threads"] for pool in cpu.report()["blas"]} == {1}
    finally:
        monkeypatch.undo()
        open_session(None)
