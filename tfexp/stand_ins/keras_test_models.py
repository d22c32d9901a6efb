"""Models of each kind for tests of Keras: `testing_utils` of `tensorflow.python.keras`. Source: TF 1.15.

A test below `model_type_scope` asks for a model without saying how it is written: as a `Sequential`, with the functional
API, or as a subclass, whose layers stand in its `__init__` ("subclass") or are made in `build` ("subclass_custom_build").
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfexp.keras.engine.input_layer import Input, InputLayer
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.sequential import Sequential
from tfexp.keras.layers.dense import Dense
from tfexp.keras.training.feeding import as_inputs_of

MODEL_TYPES = ("functional", "subclass", "sequential")


class _Here(threading.local):
    """What the innermost blocks say in each thread; programs read it as `testing_utils._thread_local_data`."""

    model_type: str | None = None
    run_eagerly: bool | None = None
    run_tf_function: bool | None = None


_here = _Here()


@contextlib.contextmanager
def with_setting(name: str, value: Any) -> Iterator[Any]:
    """What `setting` says of that name in the block, in this thread."""
    before = setting(name)
    setattr(_here, name, value)
    try:
        yield value
    finally:
        setattr(_here, name, before)


def setting(name: str) -> Any:
    """What the innermost block says; None outside of one."""
    return getattr(_here, name)


def model_type_scope(value: str | None) -> contextlib.AbstractContextManager[str | None]:
    """What `get_model_type` says in the block."""
    return with_setting("model_type", value)


def get_model_type() -> str:
    """The kind of model that the test is to have. ValueError where nothing says."""
    found = setting("model_type")
    if found is None:
        raise ValueError("get_model_type() is for tests below run_with_all_model_types or in a model_type_scope")
    return str(found)


# --- one branch ---------------------------------------------------------------------------------------------------------


def _in_turn(layers: Iterable[Any], inputs: Any) -> Any:
    for layer in layers:
        inputs = layer(inputs)
    return inputs


class _Chain(Model):
    """A subclass that calls its layers in turn."""

    def __init__(self, layers: Sequence[Any], name: str | None = None):
        super().__init__(name=name)
        for number, layer in enumerate(layers):
            setattr(self, f"layer{number}", layer)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        return _in_turn(self.layers, inputs)


class _BuiltChain(Model):
    """The same with layers that `build` makes."""

    def __init__(self, make: Callable[[], Sequence[Any]], name: str | None = None):
        super().__init__(name=name)
        self._make = make

    def build(self, input_shape: Any) -> None:
        self.in_order = list(self._make())

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        return _in_turn(self.in_order, inputs)


def get_model_from_layers(
    layers: Sequence[Any],
    input_shape: Any = None,
    input_dtype: Any = None,
    name: str | None = None,
    input_ragged: bool | None = None,
    input_sparse: bool | None = None,
) -> Any:
    """A model of the kind that `get_model_type` says, of layers one behind the other.

    input_shape: without the batch. ValueError for a functional model without it.
    """
    kind = get_model_type()
    about_input: dict[str, Any] = {"dtype": input_dtype, "ragged": bool(input_ragged), "sparse": bool(input_sparse)}
    if kind == "subclass":
        chain = _Chain(layers, name)
        if input_ragged or input_sparse:
            as_inputs_of(chain, [Input(input_shape, **about_input)])
        return chain
    if kind == "subclass_custom_build":
        return _BuiltChain(lambda: layers, name)
    if kind == "sequential":
        first = [InputLayer(input_shape, **about_input)] if input_shape else []
        return Sequential([*first, *layers], name=name)
    if kind != "functional":
        raise ValueError(f"Unknown model type {kind}")
    if not input_shape:
        raise ValueError("Cannot create a functional model from layers with no input shape.")
    inputs = Input(input_shape, **about_input)
    return Model(inputs, _in_turn(layers, inputs), name=name)


# --- a perceptron -------------------------------------------------------------------------------------------------------


def _two_layers(num_hidden: int, num_classes: int, **of_first: Any) -> list[Any]:
    last = "sigmoid" if num_classes == 1 else "softmax"
    return [Dense(num_hidden, activation="relu", **of_first), Dense(num_classes, activation=last)]


def get_small_sequential_mlp(num_hidden: int, num_classes: int, input_dim: int | None = None) -> Any:
    """A hidden layer and one of classes; without input_dim it is built by its first data."""
    return Sequential(_two_layers(num_hidden, num_classes, **({"input_dim": input_dim} if input_dim else {})))


def get_small_functional_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """The same with the functional API."""
    inputs = Input((input_dim,))
    return Model(inputs, _in_turn(_two_layers(num_hidden, num_classes), inputs))


def get_small_subclass_mlp(num_hidden: int, num_classes: int) -> Any:
    """The same as a subclass."""
    return _Chain(_two_layers(num_hidden, num_classes))


def get_small_subclass_mlp_with_custom_build(num_hidden: int, num_classes: int) -> Any:
    """The same as a subclass with a `build`."""
    return _BuiltChain(lambda: _two_layers(num_hidden, num_classes))


def get_small_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """The same, of the kind that `get_model_type` says."""
    kind = get_model_type()
    if kind == "sequential":
        return get_small_sequential_mlp(num_hidden, num_classes, input_dim)
    if kind == "functional":
        return get_small_functional_mlp(num_hidden, num_classes, input_dim)
    if kind == "subclass":
        return get_small_subclass_mlp(num_hidden, num_classes)
    if kind == "subclass_custom_build":
        return get_small_subclass_mlp_with_custom_build(num_hidden, num_classes)
    raise ValueError(f"Unknown model type {kind}")


# --- two branches -------------------------------------------------------------------------------------------------------


class _Branches(Model):
    """Two branches, from one input or two, to two outputs or one: the layers before, of each, and behind."""

    def __init__(self, *parts: Sequence[Any]):
        super().__init__()
        self.parts = [list(layers) for layers in parts]

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        return _through_branches(inputs, *self.parts)


class _BuiltBranches(Model):
    """The same with layers that `build` makes."""

    def __init__(self, make: Callable[[], Sequence[Sequence[Any]]]):
        super().__init__()
        self._make = make

    def build(self, input_shape: Any) -> None:
        self.parts = [list(layers) for layers in self._make()]

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        return _through_branches(inputs, *self.parts)


def _through_branches(
    inputs: Any, before: Sequence[Any], branch_a: Sequence[Any], branch_b: Sequence[Any], behind: Sequence[Any]
) -> Any:
    a, b = [_in_turn(before, inputs)] * 2 if before else inputs
    return _in_turn(behind, [_in_turn(branch_a, a), _in_turn(branch_b, b)])


def get_multi_io_model(
    branch_a: Sequence[Any],
    branch_b: Sequence[Any],
    shared_input_branch: Sequence[Any] | None = None,
    shared_output_branch: Sequence[Any] | None = None,
) -> Any:
    """A model of two branches, of the kind that `get_model_type` says; ValueError for "sequential".

    What stands first, in the shared input branch if there is one and else in both branches, is an `Input`. A shared output
    branch begins with a layer that takes two tensors.
    """
    if shared_input_branch:
        inputs, before = shared_input_branch[0], shared_input_branch[1:]
    else:
        inputs, before = [branch_a[0], branch_b[0]], []
        branch_a, branch_b = branch_a[1:], branch_b[1:]
    parts = (before, branch_a, branch_b, shared_output_branch or [])
    kind = get_model_type()
    if kind == "functional":
        return Model(inputs, _through_branches(inputs, *parts))
    if kind == "subclass":
        return _Branches(*parts)
    if kind == "subclass_custom_build":
        return _BuiltBranches(lambda: parts)
    if kind == "sequential":
        raise ValueError("Cannot use `get_multi_io_model` to construct sequential models")
    raise ValueError(f"Unknown model type {kind}")
