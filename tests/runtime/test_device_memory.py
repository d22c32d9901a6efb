"""A step that needs more memory than a device has is told so before it runs, with what takes it."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.memory import require_memory
from tfexp.runtime.device_memory import CPU_LIMIT, machine_memory, memory_limits

CPU, GPU = "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:GPU:0"


def test_limits_come_from_the_machine_and_the_options(monkeypatch) -> None:
    monkeypatch.delenv(CPU_LIMIT, raising=False)
    assert memory_limits([CPU, GPU]) == {CPU: machine_memory(), GPU: machine_memory()}
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.25))
    monkeypatch.setenv(CPU_LIMIT, "16")
    assert memory_limits([CPU, GPU], config) == {CPU: 16 << 20, GPU: int(machine_memory() * 0.25)}
    with tf.Session() as session:
        assert session.list_devices()[0].memory_limit_bytes == 16 << 20


def test_bad_limits_are_told(monkeypatch) -> None:
    monkeypatch.setenv(CPU_LIMIT, "lots")
    with pytest.raises(tf.errors.InvalidArgumentError, match="'lots'"):
        memory_limits([CPU])
    monkeypatch.delenv(CPU_LIMIT)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"per_process_gpu_memory_fraction .* is 1\.5"):
        memory_limits([GPU], tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=1.5)))


def test_a_step_that_needs_more_than_the_device_has_names_its_largest_tensors(monkeypatch) -> None:
    monkeypatch.setenv(CPU_LIMIT, "13")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 1000], name="x")
        small = tf.reduce_sum(tf.exp(x, name="e"))
        large = tf.matmul(x, x, transpose_b=True, name="product")
        assert session.run(small, {x: np.zeros([1500, 1000], np.float32)}) == 1.5e6
        with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            session.run(tf.reduce_sum(tf.exp(large)), {x: np.zeros([1500, 1000], np.float32)})
    text = caught.value.message
    assert text.startswith(
        "OOM: the step needs 14.3 MiB on /job:localhost/replica:0/task:0/device:CPU:0, which has 13.0 MiB"
    )
    assert "8.6 MiB product:0: float32(1500, 1500)" in text
    assert "5.7 MiB x:0: float32(1500, 1000)" in text


def test_memory_that_is_used_again_counts_once(monkeypatch) -> None:
    monkeypatch.setenv(CPU_LIMIT, "8")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = x
        for _ in range(10):
            y = tf.reverse(tf.tanh(y), [0])  # tanh in a buffer, reverse a copy of its own or a view
        fed = np.zeros(1 << 18, np.float32)  # 1 MiB: the chain holds three or four of them at a time
        assert session.run(tf.reduce_sum(y), {x: fed}) == 0.0
        assert session.run(tf.reduce_sum(y), {x: fed}) == 0.0


def test_a_virtual_gpu_has_its_part_and_the_cpu_is_another_place() -> None:
    fraction = 2e6 / machine_memory()
    config = tf.ConfigProto(
        device_count={"GPU": 1}, gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=fraction), placement_period=1
    )
    for device, fits in (("/gpu:0", False), ("/cpu:0", True), ("", True)):
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            x = tf.placeholder(tf.float32, [None])
            with tf.device(device):
                y = tf.reduce_sum(tf.exp(x) + tf.sin(x))
            if fits:
                assert session.run(y, {x: np.zeros(1 << 20, np.float32)}) == 1 << 20
            else:
                with pytest.raises(tf.errors.ResourceExhaustedError, match=r"GPU:0, which has 1\.9 MiB"):
                    session.run(y, {x: np.zeros(1 << 20, np.float32)})


def test_what_numpy_cannot_allocate_names_node_and_shape(monkeypatch) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [2], name="n")
        much = tf.fill(n, 1.5, name="much")
        for _ in range(2):  # interpreted, then generated
            with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
                session.run(much, {n: [1 << 27, 1 << 27]})
            what = "OOM when allocating tensor with shape[134217728,134217728] and type float"
            assert caught.value.message.splitlines()[0] == what
            assert caught.value.message.endswith("[[{{node much}}]]")
            assert caught.value.op is much.op


@pytest.mark.parametrize(("dtype", "shown"), [(np.float32, "float"), (np.float64, "double"), (np.int32, "int32")])
def test_memory_asked_for_ahead_is_refused_with_tensorflows_name_of_the_type(dtype: type, shown: str) -> None:
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        require_memory([1 << 27, 1 << 27], dtype)
    assert caught.value.message == f"OOM when allocating tensor with shape[134217728,134217728] and type {shown}"


def test_the_interpreter_lets_go_of_what_nobody_reads_any_more() -> None:
    held: list[int] = []

    class Counted(np.ndarray):
        alive = 0

        def __del__(self) -> None:
            Counted.alive -= 1

    def make(x: np.ndarray) -> np.ndarray:
        Counted.alive += 1
        held.append(Counted.alive)
        return (x + 1).view(Counted)

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.zeros(3))
        for _ in range(6):
            x = tf.py_func(make, [x], tf.float64)
        session.run(x)
    assert max(held) < 6
