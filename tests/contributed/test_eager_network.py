"""tf.contrib.eager.Network and Sequential: names, layers and checkpoints; variables restored when they are made."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

tfe, layers = tf.contrib.eager, tf.layers
X = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], np.float32)


class Net(tfe.Network):
    """Two layers, and others of itself."""

    def __init__(self, name: str | None = None, depth: int = 0):
        super().__init__(name=name)
        self.first = self.track_layer(layers.Dense(5, use_bias=False))
        self.last = self.track_layer(layers.Dense(2, name="last"))
        self.inner = [self.track_layer(Net(name)) for name in (None, "own", None) if depth]

    def call(self, x: Any) -> Any:
        return sum((one(x) for one in self.inner), self.last(self.first(x)))


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def names(network: Any) -> list[str]:
    return [variable.name for variable in network.variables]


def own_names(*prefixes: str) -> list[str]:
    return [f"{prefix}/{name}:0" for prefix in prefixes for name in ("dense/kernel", "last/kernel", "last/bias")]


def test_variables_are_named_after_the_networks_that_they_are_in(session: tf.Session) -> None:
    layers.Dense(1)(X)  # networks number their layers by themselves
    alone, around = Net(), Net(depth=1)
    with pytest.raises(ValueError, match="does not yet have a final name"):
        _ = alone.name
    around(X)
    alone(X)
    with tf.variable_scope("scope"):
        inside = Net()
    inside(X)
    assert (around.name, alone.name, inside.name) == ("net", "net_1", "scope/net")
    assert names(around) == own_names("net", "net/net", "net/own", "net/net_1")
    assert names(alone) + names(inside) == own_names("net_1", "scope/net")
    assert all(type(one).__name__ == "ResourceVariable" for one in around.variables)
    assert around.trainable_weights == around.variables and not around.non_trainable_weights


def test_a_name_is_given_once(session: tf.Session) -> None:
    Net("mine")(X)
    with pytest.raises(ValueError, match="A Network named 'mine' already exists"):
        Net("mine")(X)
    network = Net(depth=1)
    with pytest.raises(ValueError, match="two Layers with the name 'own'"):
        network.track_layer(layers.Dense(1, name="own"))
    with pytest.raises(ValueError, match="Forward slashes"):
        Net("a/b")


def test_layers_are_found_and_may_be_those_of_several_networks(session: tf.Session) -> None:
    first = Net()
    first(X)
    assert first.layers == [first.first, first.last]
    assert first.get_layer("last") is first.get_layer(index=1) is first.last
    shared = tfe.Sequential([first.first, layers.Dense(1)])
    shared(X)
    assert names(shared) == ["net/dense/kernel:0", "sequential/dense/kernel:0", "sequential/dense/bias:0"]
    assert first.trainable is True
    for wrong, error in (
        (lambda: first.get_layer(), ValueError),
        (lambda: first.get_layer("last", 1), ValueError),
        (lambda: first.get_layer("other"), ValueError),
        (lambda: first.get_layer(index=2), ValueError),
        (lambda: first.track_layer(3), TypeError),
        (lambda: first.add_variable("v", [1]), RuntimeError),
        (lambda: first.add_loss(1.0), RuntimeError),
        (lambda: setattr(first, "trainable", False), AttributeError),
    ):
        with pytest.raises(error):
            wrong()


def test_a_sequence_tells_those_that_ask_whether_it_trains(session: tf.Session) -> None:
    normalization = layers.BatchNormalization()
    steps = [
        layers.Dense(4, kernel_regularizer=tf.nn.l2_loss),
        tf.nn.relu,
        normalization,
        lambda x, training=False: (x, training),
    ]
    sequence = tfe.Sequential(steps)
    assert sequence(X)[1] is False and not sequence.updates
    assert sequence(X, training=True)[1] is True
    assert len(sequence.updates) == 2 and len(sequence.losses) == 1
    assert len(sequence.variables) == 6 and len(sequence.trainable_variables) == 4
    with pytest.raises(TypeError, match="objects or callables"):
        sequence.add(3)


def run(values: list[Any]) -> list[Any]:
    return [value.numpy() for value in values] if tf.executing_eagerly() else tf.get_default_session().run(values)


@pytest.mark.parametrize("mode", [tf.Session, eager_mode])
def test_checkpoints(mode: Any, tmp_path: Path) -> None:
    with tf.Graph().as_default(), mode():
        network, other, later = Net("one", depth=1), Net("two", depth=1), Net("three", depth=1)
        network(X), other(X)
        if mode is tf.Session:
            tf.global_variables_initializer().run()
        path = tfe.save_network_checkpoint(network, str(tmp_path))
        assert path == str(tmp_path / "one")
        stored = [name for name, _ in tf.train.list_variables(path)]
        assert stored == sorted(name.removeprefix("one/").removesuffix(":0") for name in names(network))
        tfe.restore_network_checkpoint(other, path)
        tfe.restore_network_checkpoint(later, path)  # before it has variables
        first, second, third = run([network(X), other(X), later(X)])
        np.testing.assert_array_equal([second, third], [first, first])
        full = tfe.save_network_checkpoint(other, str(tmp_path / "full"), global_step=7, map_func=lambda name: name)
        assert full == str(tmp_path / "full-7")
        assert [f"{name}:0" for name, _ in tf.train.list_variables(full)] == sorted(names(other))


def test_checkpoints_that_cannot_be(session: tf.Session, tmp_path: Path) -> None:
    network = Net()
    with pytest.raises(ValueError, match="before, there are no variables"):
        tfe.save_network_checkpoint(network, str(tmp_path))
    network(X)
    session.run(tf.global_variables_initializer())
    with pytest.raises(ValueError, match="two variables would have the name 'same'"):
        tfe.save_network_checkpoint(network, str(tmp_path), map_func=lambda name: "same")
    path = tfe.save_network_checkpoint(network, str(tmp_path))
    twice = tfe.Sequential([layers.Dense(2, use_bias=False), layers.Dense(2)])
    tfe.restore_network_checkpoint(twice, path, map_func=lambda name: "last/bias" if "bias" in name else "dense/kernel")
    with pytest.raises(ValueError, match="two variables would have the name 'dense/kernel'"):
        twice(X[:, :2] @ np.ones([2, 3], np.float32))


def test_variables_have_their_values_of_a_checkpoint_when_they_are_made(tmp_path: Path) -> None:
    with eager_mode():
        check_values_when_made(str(tmp_path / "model"))


def check_values_when_made(prefix: str) -> None:
    path = tfe.Saver([tfe.Variable([1.0, 2.0], name="v"), tfe.Variable(3.0, name="w")]).save(prefix)
    with tfe.restore_variables_on_create(path):
        made = [tfe.Variable([0.0, 0.0], name="v"), tf.get_variable("w", shape=[]), tfe.Variable([5.0, 5.0], name="v")]
        with pytest.raises(tf.errors.NotFoundError, match="other not found in checkpoint"):
            tf.Variable(1.0, name="other")
    with tfe.restore_variables_on_create(path, map_func=lambda name: "v"), tfe.restore_variables_on_create(None):
        made.append(tf.Variable([0.0, 0.0], name="other"))
    made.append(tf.Variable([0.0, 0.0], name="v"))
    assert [one.numpy().tolist() for one in made] == [[1, 2], 3, [5, 5], [1, 2], [0, 0]]
    with pytest.raises(ValueError, match="map_func must be callable"), tfe.restore_variables_on_create(path, 3):
        pass


def test_what_is_for_eager_execution_only(session: tf.Session) -> None:
    with pytest.raises(RuntimeError, match="can only be used when eager execution is enabled"):
        tfe.Saver([])
    with pytest.raises(ValueError, match="eager execution enabled"), tfe.restore_variables_on_create("model"):
        pass


def test_ops_have_run_whatever_the_mode_of_execution() -> None:
    with eager_mode(), tfe.execution_mode(tfe.ASYNC):
        tfe.async_wait()
        assert (tf.constant(1.0) + 1.0).numpy() == 2
    with pytest.raises(ValueError, match="Execution mode should be None/SYNC/ASYNC"):
        tfe.set_execution_mode(7)
