"""Options that have no effect say so, once; those that have one are silent."""

import logging

import pytest

import tfexp as tf
from tfexp.runtime import options


@pytest.fixture(autouse=True)
def _nobody_was_told(monkeypatch):
    monkeypatch.setattr(options, "_told", set())


def told(caplog):
    return [record.getMessage() for record in caplog.records if "has no effect" in record.getMessage()]


def open_session(config):
    with tf.Graph().as_default(), tf.Session(config=config):
        pass


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (tf.ConfigProto(use_per_session_threads=True), "ConfigProto.use_per_session_threads"),
        (tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)), "ConfigProto.gpu_options.allow_growth"),
        (
            tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.4)),
            "ConfigProto.gpu_options.per_process_gpu_memory_fraction",
        ),
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
        gpu_options=tf.GPUOptions(visible_device_list=""),
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
