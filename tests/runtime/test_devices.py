"""Devices of a session and the simple placer: chapter 12's rules, its log and its errors; TensorFlow's wording."""

import pytest

import tfexp as tf

LOCAL = "/job:localhost/replica:0/task:0/device:"


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with tf.Graph().as_default() as graph:
        yield graph


def config(cpus=1, gpus=0, **options):
    return tf.ConfigProto(device_count={"CPU": cpus, "GPU": gpus}, **options)


def placed(fetches, configuration, capfd):
    """Where the nodes are: {name: short device}, as the session logs it; and the fetched values."""
    configuration.log_device_placement = True
    capfd.readouterr()
    with tf.Session(config=configuration) as session:
        session.run(tf.global_variables_initializer())
        values = session.run(fetches)
    lines = [line.split(": ") for line in capfd.readouterr().err.splitlines() if line.count(": ") == 2]
    assert all(kind.startswith("(") and kind.endswith(")") and device.startswith(LOCAL) for _, kind, device in lines)
    return {name: device.removeprefix(LOCAL) for name, _, device in lines}, values


# --- which devices there are ----------------------------------------------------------------------------------------------


def test_devices_are_counted_and_virtual_ones_say_so(capfd):
    with tf.Session(config=config(2, 1, log_device_placement=True)) as session:
        devices = session.list_devices()
    assert [d.name for d in devices] == [f"{LOCAL}CPU:0", f"{LOCAL}CPU:1", f"{LOCAL}GPU:0"]
    assert [d.device_type for d in devices] == ["CPU", "CPU", "GPU"]
    assert [d.is_virtual for d in devices] == [False, True, True]
    assert repr(devices[2]).endswith("virtual)")
    assert f"{LOCAL}GPU:0 -> virtual, computes on the CPU" in capfd.readouterr().err
    tf.Session(config=config(log_device_placement=True)).close()
    assert capfd.readouterr().err == "Device mapping: no known devices.\n"


@pytest.mark.parametrize(("visible", "expected"), [(None, 3), ("", 0), ("-1", 0), ("0,1", 2), ("0,1,2,3,4", 3)])
def test_the_environment_hides_gpus(monkeypatch, visible, expected):
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with tf.Session(config=config(gpus=3)) as session:
        assert sum(d.device_type == "GPU" for d in session.list_devices()) == expected


def test_visible_device_list():
    options = tf.GPUOptions(visible_device_list="1,0")
    with tf.Session(config=config(gpus=3, gpu_options=options)) as session:
        assert sum(d.device_type == "GPU" for d in session.list_devices()) == 2
    options = tf.GPUOptions(visible_device_list="7")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"names GPU '7', but there are 3"):
        tf.Session(config=config(gpus=3, gpu_options=options))


# --- the three rules ----------------------------------------------------------------------------------------------------


def test_what_is_pinned_nowhere_is_on_the_default_device(capfd):
    with tf.device("/cpu:0"):
        a = tf.Variable(3.0, name="a")
        b = tf.constant(4.0, name="b")
    c = tf.multiply(a, b, name="mul")
    where, value = placed(c, config(gpus=1), capfd)
    assert value == 12
    assert {name: where[name] for name in ("a", "a/read", "a/Assign", "a/initial_value", "b", "mul")} == {
        "a": "CPU:0",
        "a/read": "CPU:0",
        "a/Assign": "CPU:0",
        "a/initial_value": "CPU:0",
        "b": "CPU:0",
        "mul": "GPU:0",
    }


def test_a_node_is_placed_once(capfd):
    x = tf.constant(1.0, name="x") + 1.0
    with tf.Session(config=config(gpus=1, log_device_placement=True)) as session:
        session.run(x)
        assert "x: (Const)" in capfd.readouterr().err
        y = x * 2.0
        session.run(y)
        logged = capfd.readouterr().err
    assert "mul: (Mul)" in logged
    assert "x: (Const)" not in logged


def test_device_functions_and_nesting(capfd):
    def variables_on_cpu(op):
        return "/cpu:0" if op.type == "VariableV2" else "/gpu:0"

    with tf.device(variables_on_cpu):
        a = tf.Variable(3.0, name="a")
        c = tf.multiply(a, 4.0, name="c")
        with tf.device(None), tf.device("/job:localhost"), tf.device("/gpu:1"):
            d = tf.add(c, 1.0, name="d")
    where, value = placed(d, config(gpus=2), capfd)
    assert value == 13
    assert (where["a"], where["c"], where["d"]) == ("CPU:0", "GPU:0", "GPU:1")


def test_several_cpus(capfd):
    with tf.device("/cpu:1"):
        v = tf.Variable(3.0, name="v")
    with tf.device("/cpu:2"):
        b = tf.constant(2.0, name="b")
        updated = tf.assign_add(v, 1.0, name="update")
    where, _ = placed([tf.multiply(v, b, name="m"), updated], config(3), capfd)
    # An update is where its variable is, wherever it was pinned.
    assert (where["v/read"], where["b"], where["m"], where["update"]) == ("CPU:1", "CPU:2", "CPU:0", "CPU:1")


def test_colocation(capfd):
    with tf.device("/gpu:1"):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        b = tf.constant(2.0, name="b")
    where, _ = placed(a + b, config(gpus=2), capfd)
    assert where["b"] == "GPU:1"


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_works_on_a_variable_goes_to_it(use_resource):
    """As in TensorFlow, whatever device it is pinned to."""
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=1.0, use_resource=use_resource)
    with tf.device("/cpu:2"):
        asked, changed = tf.is_variable_initialized(v), tf.assign(v, 2.0).op
    with tf.Session(config=config(3)) as session:
        assert not session.run(asked)
        session.run(changed)
        assert session.run([asked, v]) == [True, 2.0]


def test_a_pin_that_contradicts_a_colocation_names_both():
    with tf.device("/cpu:1"):
        a = tf.constant(1.0, name="a")
    with tf.get_default_graph()._attr_scope({"_class": ["loc:@a"]}), tf.device("/cpu:2"):
        b = tf.constant(2.0, name="b")
    with tf.Session(config=config(3)) as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(a + b)
    text = caught.value.message
    assert "{{colocation_node a}}" in text
    assert "{{colocation_node b}}" in text
    assert "Cannot merge devices with incompatible ids: '/device:CPU:" in text
    with tf.Session(config=config(3, allow_soft_placement=True)) as session:
        assert session.run(a + b) == 3


# --- kernels ------------------------------------------------------------------------------------------------------------


def test_integer_variables_have_no_place_on_a_gpu(capfd):
    with tf.device("/gpu:0"):
        i = tf.Variable(3)
    with tf.Session(config=config(gpus=1)) as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(i.initializer)
    assert caught.value.message.startswith(
        "Cannot assign a device for operation Variable: Could not satisfy explicit device specification '/device:GPU:0' "
        "because no supported kernel for GPU devices is available."
    )
    where, value = placed(i, config(gpus=1, allow_soft_placement=True), capfd)
    assert value == 3
    assert where["Variable"] == "CPU:0"


def test_what_a_gpu_cannot_run_is_on_the_cpu_by_default(capfd):
    text = tf.string_join(["a", "b"], name="text")
    queue = tf.FIFOQueue(3, [tf.float32], name="queue")
    size = queue.size(name="size")
    where, _ = placed([text, size, tf.add(1.0, 2.0, name="sum")], config(gpus=1), capfd)
    assert (where["text"], where["queue"], where["size"], where["sum"]) == ("CPU:0", "CPU:0", "CPU:0", "GPU:0")


def test_loops_and_functions_on_a_virtual_gpu():
    data = tf.data.Dataset.range(3).map(lambda x: x * 2)
    element = data.make_one_shot_iterator().get_next()
    looped = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0))[1]
    grad = tf.gradients(tf.reduce_sum(tf.tanh(tf.ones([2, 3]))), tf.ones([2, 3]))
    assert grad == [None]
    with tf.Session(config=config(gpus=2)) as session:
        assert session.run([element, looped]) == [0, 8]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/cpu:7", "/device:CPU:7"),
        ("cpu:7", "/device:CPU:7"),
        ("/device:cpu:7", "/device:CPU:7"),
        ("/gpu:1", "/device:GPU:1"),
        ("/device:GPU:1", "/device:GPU:1"),
        ("/device:TPU:0", "/device:TPU:0"),
        ("/device:TPU", "/device:TPU:*"),
        ("/job:ps", "/job:ps"),
        ("/job:ps/task:3/gpu:0", "/job:ps/task:3/device:GPU:0"),
        ("/task:4", "/task:4"),
        ("/replica:2", "/replica:2"),
        (f"{LOCAL}CPU:2", f"{LOCAL}CPU:2"),
    ],
)
def test_a_device_that_does_not_exist_lists_those_that_do(name, shown):
    with tf.device(name):
        a = tf.constant(1.0, name="a")
    with tf.Session(config=config(2, gpus=1)) as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(a)
    assert caught.value.message == (
        f"Cannot assign a device for operation a: {{{{node a}}}} was explicitly assigned to {shown} but available devices "
        f"are [ {LOCAL}CPU:0, {LOCAL}CPU:1, {LOCAL}GPU:0 ]. Make sure the device specification refers to a valid device."
    )


def test_where_there_is_no_gpu_at_all_the_error_says_so():
    with tf.device("/gpu:0"):
        a = tf.constant(1.0)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="a GPU, but there is none"):
        session.run(a)


def test_training_across_virtual_devices_gives_the_same_numbers():
    def train(devices, configuration):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            with tf.device(devices[0]):
                x = tf.random_normal([5, 3], seed=2)
                w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
            with tf.device(devices[1]):
                loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
                step = tf.train.AdamOptimizer(0.1).minimize(loss)
            with tf.Session(config=configuration) as session:
                session.run(tf.global_variables_initializer())
                for _ in range(3):
                    session.run(step)
                return session.run(w).tolist()

    assert train(["/cpu:0", "/gpu:1"], config(gpus=2)) == train(["", ""], config())
