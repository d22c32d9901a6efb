"""`tf.config`: what sessions without a ConfigProto and eager execution are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfexp as tf
from tfexp.core import workers
from tfexp.runtime import cpu, process_config

experimental = tf.config.experimental


@pytest.fixture(autouse=True)
def _as_a_new_process() -> Iterator[None]:
    process_config.reset()
    yield
    process_config.reset()
    cpu.configure(0)


def devices_of_a_session(config: Any = None) -> list[str]:
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        return [device.name.rpartition("/")[2] for device in session.list_devices()]


def test_a_new_process_has_its_defaults() -> None:
    (processor,) = experimental.list_physical_devices("CPU")
    assert (processor.name, processor.device_type) == ("/physical_device:CPU:0", "CPU")
    assert experimental.get_visible_devices("CPU") == [processor]
    assert experimental.get_virtual_device_configuration(processor) is None
    threads = tf.config.threading
    assert (threads.get_intra_op_parallelism_threads(), threads.get_inter_op_parallelism_threads()) == (0, 0)
    assert not tf.config.get_soft_device_placement() and not tf.config.optimizer.get_jit()
    assert tf.config.optimizer.get_experimental_options() == {
        "disable_model_pruning": False,
        "disable_meta_optimizer": False,
    }
    assert experimental.get_synchronous_execution() and experimental.get_device_policy() == "silent"
    assert devices_of_a_session() == ["device:CPU:0"]


def test_virtual_devices_are_those_of_sessions() -> None:
    (processor,) = experimental.list_physical_devices("CPU")
    two = [experimental.VirtualDeviceConfiguration()] * 2
    experimental.set_virtual_device_configuration(processor, two)
    assert experimental.get_virtual_device_configuration(processor) == two
    assert devices_of_a_session() == ["device:CPU:0", "device:CPU:1"]
    assert devices_of_a_session(tf.ConfigProto()) == ["device:CPU:0"]  # a ConfigProto of its own says all
    assert [(d.name, d.device_type) for d in experimental.list_logical_devices()] == [
        ("/device:CPU:0", "CPU"),
        ("/device:CPU:1", "CPU"),
    ]
    experimental.set_virtual_device_configuration(processor, two)  # nothing new
    with pytest.raises(RuntimeError, match="Virtual devices cannot be modified after initialization"):
        experimental.set_virtual_device_configuration(processor, two[:1])
    with pytest.raises(RuntimeError, match="Intra op parallelism cannot be modified"):
        tf.config.threading.set_intra_op_parallelism_threads(3)
    assert tf.config.experimental_list_devices()[1] == "/job:localhost/replica:0/task:0/device:CPU:1"


def test_threads_are_those_of_sessions(monkeypatch: Any) -> None:
    for variable in cpu._THREAD_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    tf.config.threading.set_intra_op_parallelism_threads(3)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    devices_of_a_session()
    assert workers.threads() == 3
    assert process_config.for_session() == tf.ConfigProto(intra_op_parallelism_threads=3, inter_op_parallelism_threads=2)


def test_placement_may_be_soft_and_is_logged(capsys: Any) -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:7"):
            value = tf.add(tf.placeholder_with_default(1, []), 1, name="elsewhere")
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="CPU:7"):
            session.run(value)
        tf.config.set_soft_device_placement(True)
        tf.debugging.set_log_device_placement(True)
        assert tf.config.get_soft_device_placement() and tf.debugging.get_log_device_placement()
        with tf.Session() as session:
            assert session.run(value) == 2
    assert "elsewhere: (Add" in capsys.readouterr().err


def test_the_optimizers_options_are_kept() -> None:
    tf.config.optimizer.set_experimental_options({"constant_folding": True, "layout_optimizer": False})
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    assert tf.config.optimizer.get_experimental_options() == {
        "constant_folding": True,
        "layout_optimizer": False,
        "disable_model_pruning": False,
        "disable_meta_optimizer": True,
    }
    with pytest.raises(ValueError, match="no option nonsense; there are layout_optimizer, constant_folding"):
        tf.config.optimizer.set_experimental_options({"nonsense": True})
    tf.config.optimizer.set_jit(True)
    config = process_config.for_session()
    assert tf.config.optimizer.get_jit() and config is not None
    assert config.graph_options.optimizer_options.global_jit_level == tf.OptimizerOptions.ON_1


def test_what_cannot_be_is_refused() -> None:
    (processor,) = experimental.list_physical_devices("CPU")
    with pytest.raises(ValueError, match="Unrecognized device: 'x'; there are"):
        experimental.set_visible_devices(["x"])
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU devices: /physical_device:CPU:0"):
        experimental.set_memory_growth(processor, True)
    with pytest.raises(ValueError, match="Setting memory limit on CPU virtual devices"):
        experimental.set_virtual_device_configuration(processor, [experimental.VirtualDeviceConfiguration(10)])
    with pytest.raises(ValueError, match="Not a valid device policy: 'x'; one of silent"):
        experimental.set_device_policy("x")
    with pytest.raises(ValueError, match="Must provide at least one remote_host"):
        tf.config.experimental_connect_to_host(None)
    with pytest.raises(NotImplementedError, match=r"tf\.Session\('grpc://there:2222'\)"):
        tf.config.experimental_connect_to_host("there:2222")
    with pytest.raises(NotImplementedError, match=r"tf\.train\.Server"):
        tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ["there:2222"]}))


def test_hidden_gpus_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_config, "real_gpus", lambda config: 2)
    gpus = experimental.list_physical_devices("GPU")
    experimental.set_visible_devices([], "GPU")
    assert process_config.for_session().device_count["GPU"] == 0 and experimental.get_visible_devices("GPU") == []
    experimental.set_visible_devices(gpus, "GPU")
    assert "GPU" not in process_config.for_session().device_count and experimental.get_visible_devices("GPU") == gpus
