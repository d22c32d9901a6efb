"""The optimizers of `tensorflow.python.keras.optimizers`, beside TF 1.15's numbers."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.optimizers import older
from tfexp.runtime.eager import eager_mode

keras, backend = tf.keras, tf.keras.backend
X = np.arange(12.0).reshape(4, 3) / 10
TARGETS = np.ones((4, 2))

# Keywords, the loss of three epochs, one row of the kernel after them, and the shapes of the weights.
_OF_ONE = [(3, 2), (2,)]
CASES = {
    "SGD": ({}, [1.438748, 1.365463, 1.297882], 0.96338, [(), *_OF_ONE]),
    "SGD, Nesterov": (
        {"momentum": 0.9, "nesterov": True, "decay": 0.1}, [1.441477, 1.278372, 1.088906], 0.90885, [(), *_OF_ONE]
    ),
    "RMSprop": ({"decay": 0.1}, [1.436366, 1.421747, 1.412975], 0.991462, _OF_ONE),
    "Adagrad": ({"clipnorm": 1.0}, [1.439757, 1.388073, 1.353952], 0.965948, _OF_ONE),
    "Adadelta": ({"clipvalue": 0.1}, [1.435742, 1.427332, 1.418966], 0.991281, 2 * _OF_ONE),
    "Adam": ({}, [1.435476, 1.428255, 1.421097], 0.995465, [(), *2 * _OF_ONE, (1,), (1,)]),
    "Adam, AMSGrad": ({"amsgrad": True, "decay": 0.1}, [1.435433, 1.429583, 1.424628], 0.996541, [(), *3 * _OF_ONE]),
    "Adamax": ({}, [1.43595, 1.4263, 1.416626], 0.99325, [(), *2 * _OF_ONE]),
    "Nadam": ({}, [1.436004, 1.423737, 1.412883], 0.991569, [(), (), *2 * _OF_ONE]),
}  # fmt: skip


def _trained(optimizer):
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
    model.compile(optimizer, "mse")
    history = model.fit(X, TARGETS, epochs=3, batch_size=2, shuffle=False, verbose=0)
    return model, history.history["loss"]


@pytest.mark.parametrize("case", CASES)
def test_training(case):
    keywords, losses, element, shapes = CASES[case]
    optimizer = getattr(older, case.split(",")[0])(**keywords)
    model, found = _trained(optimizer)
    np.testing.assert_allclose(found, losses, atol=2e-6)
    np.testing.assert_allclose(model.get_weights()[0][0], [element, element], atol=2e-6)
    weights = optimizer.get_weights()
    assert [np.shape(w) for w in weights] == shapes
    optimizer.set_weights([w + 1 for w in weights])
    np.testing.assert_array_equal(optimizer.get_weights()[-1], weights[-1] + 1)
    again = type(optimizer).from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()
    with pytest.raises(ValueError, match="does not match the number of weights of the optimizer"):
        optimizer.set_weights(weights[1:])
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        optimizer.set_weights([*weights[:-1], np.zeros((2, 2))])


def test_eager_execution_and_graphs_train_alike():
    in_a_graph = _trained(older.Nadam(0.1))[1]
    with eager_mode():
        np.testing.assert_allclose(_trained(older.Nadam(0.1))[1], in_a_graph, rtol=1e-6)


class _Plain(older.Optimizer):
    """A program's own."""

    def __init__(self, lr, **kwargs):
        super().__init__(**kwargs)
        self.lr = backend.variable(lr)

    def get_updates(self, loss, params):
        self.updates = [backend.update(p, p - self.lr * g) for p, g in zip(params, self.get_gradients(loss, params))]
        return self.updates


def test_a_programs_own():
    model, losses = _trained(_Plain(0.1, clipnorm=0.5))
    np.testing.assert_allclose(losses, [1.472741, 1.380589, 1.298041], atol=2e-6)
    assert model.optimizer.get_config() == {"clipnorm": 0.5}
    with pytest.raises(ValueError, match="has `None` for gradient"):
        model.optimizer.get_gradients(tf.constant(1.0), model.trainable_weights)
    assert isinstance(keras.optimizers.get(tf.train.AdamOptimizer()), older.Optimizer)


def test_what_cannot_be():
    with pytest.raises(TypeError, match="Unexpected keyword argument passed to optimizer: norm"):
        older.SGD(norm=1)
    with pytest.raises(ValueError, match="Expected clipnorm >= 0, received: -1"):
        older.SGD(clipnorm=-1)
