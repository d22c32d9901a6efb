"""`Layer`: variables that are made on first use, and a computation. Source: `tf.keras.layers.Layer`, TF 1.15.

A call opens the name scope of the layer's name, builds the layer if that was not done, and joins its outputs to its inputs
by a `Node` where those are tensors of other layers. What a layer has is in the files of its base classes: variables in
`weights`, losses and updates in `gathered`, calls in `connected`.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfexp.autograph.conversion import convert
from tfexp.core import dtypes, nest
from tfexp.core.errors import OperatorNotAllowedInGraphError
from tfexp.core.shape import TensorShape
from tfexp.core.text import snake_case
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import executing_eagerly, get_default_graph, init_scope, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras import backend, regularizers
from tfexp.keras.engine.call_context import calling, current_call
from tfexp.keras.engine.dependencies import is_symbolic
from tfexp.keras.engine.input_spec import InputSpec, check_inputs
from tfexp.keras.engine.layer_views import LayerViews
from tfexp.keras.engine.node import Node, history_of, masks_of, may_have_history
from tfexp.keras.engine.shapes import as_tensor_shapes, as_tuples, shapes_of
from tfexp.keras.mixed_precision.autocast import reading_as
from tfexp.keras.mixed_precision.policy import follows_floatx, policy_of
from tfexp.ops.array import shape
from tfexp.ops.array_identity import identity, placeholder
from tfexp.ops.cast import cast
from tfexp.ops.trackable import variables_made

_KEYWORDS = ("input_shape", "batch_input_shape", "batch_size", "input_dim", "weights", "activity_regularizer", "autocast")


class Layer(LayerViews):
    """Subclasses make variables in `build(input_shape)` and compute in `call(inputs, …)`.

    `call` may take `training` and `mask`, which are filled in: `training` as an outer layer's caller said, masks as the
    inputs carry them. dtype: of its variables; by default the first input's. dynamic: it runs in eager execution only.
    kwargs: `input_shape` (without the batch), `batch_input_shape`, `batch_size`, `input_dim`, `weights` (values to begin
    with), `activity_regularizer`.
    """

    _object_identifier = "_tf_keras_layer"
    _batch_input_shape: tuple[int | None, ...] | None

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: Any = None, dynamic: bool = False, **kwargs: Any
    ):
        for key in kwargs:
            if key not in _KEYWORDS:
                raise TypeError("Keyword argument not understood:", key)
        if "_trainable_weights" not in vars(self):
            self._trainable_weights, self._non_trainable_weights = [], []
        self._own_trainable = trainable
        self.stateful = False
        self.built = False
        self.supports_masking = False
        self._input_spec: Any = None
        self._name = name if name is not None else unique_layer_name(snake_case(type(self).__name__))
        if not isinstance(self._name, str):
            raise TypeError(f"Layer's name must be a string, got: {name!r}")
        self._policy = policy_of(dtype)
        self._dtype = self._policy.variable_dtype
        self._casts_inputs = kwargs.get("autocast", self._policy.should_cast_variables or follows_floatx())
        self._dynamic = dynamic
        self._activity_regularizer = regularizers.get(kwargs.get("activity_regularizer"))
        self._losses, self._updates = [], []
        self._metrics, self._metrics_tensors = [], {}
        self._inbound_nodes: list[Node] = []
        self._outbound_nodes: list[Node] = []
        batch_shape = _batch_shape(kwargs)
        if batch_shape is not None:
            self._batch_input_shape = batch_shape
        self._initial_weights = kwargs.get("weights")

    # --- what it is -----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        """The name of the variables' type; None before the first call, unless it was given."""
        return self._dtype

    @property
    def dynamic(self) -> bool:
        """Whether it, or a layer inside, must run in eager execution."""
        return self._dynamic or any(layer.dynamic for layer in self._inner_layers)

    @property
    def activity_regularizer(self) -> Any:
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    @property
    def input_spec(self) -> Any:
        """What the inputs must be: an InputSpec, a structure of these, or None. Setting it to more is a TypeError."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for one in nest.flatten(value):
            if one is not None and not isinstance(one, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {one}")
        self._input_spec = value

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self._name!r}>"

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes such a layer of. A subclass whose `__init__` takes more says so in its own."""
        parameters = list(inspect.signature(type(self).__init__).parameters.values())[1:]
        taken = [one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        mixed = self._policy.should_cast_variables
        config["dtype"] = {"class_name": "Policy", "config": self._policy.get_config()} if mixed else self.dtype
        if self._dynamic:
            config["dynamic"] = True
        if type(self).get_config is Layer.get_config and any(key not in (*config, "dynamic") for key in taken):
            raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A layer as `get_config` describes it, without the values of its variables."""
        return cls(**config)

    # --- what subclasses define -----------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of this shape (a TensorShape, or a structure of these)."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The computation."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of what `call` gives for inputs of this shape. Eagerly it is found by drawing the call.

        NotImplementedError in a graph, for a layer that does not say.
        """
        if not executing_eagerly():
            raise NotImplementedError(f"Layer {self.name} does not say what shape its output has")
        with init_scope():
            self._build_for_shape(input_shape)
        with backend.get_graph().as_default():
            inputs = _map_shapes_to_placeholders(as_tensor_shapes(input_shape), self._dtype or backend.floatx())
            with drawn_aside(self):
                outputs = self(inputs)
        return nest.map_structure(lambda tensor: tensor.get_shape(), outputs)

    def compute_output_signature(self, input_signature: Any) -> Any:
        """A TensorSpec, or a structure of these, of what `call` gives for inputs of such TensorSpecs.

        TypeError for another thing than a TensorSpec; NotImplementedError as in `compute_output_shape`.
        """

        def shape_of(spec: Any) -> TensorShape:
            if not isinstance(spec, TensorSpec):
                raise TypeError(f"Only TensorSpec signature types are supported, but saw signature signature entry: {spec}.")
            return spec.shape

        shapes = self.compute_output_shape(nest.map_structure(shape_of, input_signature))
        dtype = self._policy.compute_dtype or nest.flatten(input_signature)[0].dtype
        return nest.map_structure(lambda shape: TensorSpec(shape, dtype), shapes)

    def _build_for_shape(self, input_shape: Any) -> None:
        if not self.built:
            with name_scope(self._scope_name()):
                self.build(as_tensor_shapes(input_shape))
            self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the output. TypeError for a mask that comes to a layer that does not know masks."""
        if not self.supports_masking:
            if any(one is not None for one in nest.flatten(mask)):
                raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
            return None
        return mask

    def reset_states(self) -> None:
        """Layers with states between batches begin anew; others have nothing to do."""

    # --- calling --------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Build on the first call, then compute."""
        eagerly = executing_eagerly()
        if isinstance(inputs, Tensor):
            symbolic = is_symbolic(inputs)
        else:
            inputs = nest.map_structure(_as_tensor, inputs)
            symbolic = any(is_symbolic(one) for one in nest.flatten(inputs, expand_composites=True)) if eagerly else True
        if eagerly and not symbolic:
            return self._call_at_once(inputs, args, kwargs)
        with contextlib.ExitStack() as stack:
            if get_default_graph().is_eager:
                stack.enter_context(backend.get_graph().as_default())
            return self._call_in_graph(inputs, args, kwargs)

    def _call_at_once(self, inputs: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs, training, _ = self._filled(inputs, args, kwargs)
        if current_call() is None:
            self._forget_eager_losses()
        with calling(self, inputs, training), name_scope(self._scope_name()):
            if not self.built:
                check_inputs(self.input_spec, inputs, self.name)
                self._maybe_build(inputs)
            check_inputs(self.input_spec, inputs, self.name)
            with self._reading():
                outputs = self.call(self._cast(inputs), *args, **kwargs)
            self._after(inputs, outputs, kwargs.get("mask"))
        return outputs

    def _call_in_graph(self, inputs: Any, args: Any, kwargs: Any) -> Any:
        if current_call() is None and may_have_history(get_default_graph()):
            from tfexp.keras.engine.operation_layer import give_history

            give_history((inputs, args, kwargs))
        args, kwargs, training, filled_in = self._filled(inputs, args, kwargs)
        with calling(self, inputs, training):
            check_inputs(self.input_spec, inputs, self.name)
            with name_scope(self._scope_name()):
                self._maybe_build(inputs)
                check_inputs(self.input_spec, inputs, self.name)
                if self.dynamic:
                    outputs = self._promised(inputs)
                else:
                    with self._reading(), _saying_how_to_be_dynamic():
                        outputs = convert(self.call)(self._cast(inputs), *args, **kwargs)
                if outputs is None:
                    raise ValueError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not None "
                        f"(layer: {self.name})."
                    )
                if self._joins(inputs):
                    with name_scope(self.name):
                        outputs = _copies_of_passed(inputs, outputs, keep_masks=get_default_graph().outermost.is_eager)
                self._after(inputs, outputs, kwargs.get("mask"))
        if self._joins(inputs):
            names = self._call_parameters()[0][1:]
            arguments = {**dict(zip(names, args, strict=False)), **kwargs}
            Node(self, inputs, outputs, {key: value for key, value in arguments.items() if key not in filled_in})
        return outputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    def _scope_name(self) -> str:
        return self.name

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        """What its variables read as while it computes."""
        return reading_as(self._policy.compute_dtype) if self._policy.should_cast_variables else contextlib.nullcontext()

    def _cast(self, inputs: Any) -> Any:
        """The inputs, floats in the type of its computation if the layer casts them: with a mixed policy, and as in 2.x."""
        if self._policy.compute_dtype is None or not self._casts_inputs:
            return inputs
        wanted = dtypes.as_dtype(self._policy.compute_dtype)

        def one(leaf: Any) -> Any:
            dtype = getattr(leaf, "dtype", None)
            if dtype is None or not dtype.is_floating or dtype.base_dtype is wanted:
                return leaf
            made = cast(leaf, wanted)
            if hasattr(leaf, "_keras_mask"):
                made._keras_mask = leaf._keras_mask
            return made

        return nest.map_structure(one, inputs)

    def _joins(self, inputs: Any) -> bool:
        """Whether a call on these is a node between layers."""
        leaves = nest.flatten(inputs)
        return bool(leaves) and all(history_of(leaf) is not None for leaf in leaves)

    def _after(self, inputs: Any, outputs: Any, mask: Any) -> None:
        """Losses of the output, and its mask."""
        if self._activity_regularizer is not None:
            with name_scope("ActivityRegularizer"):
                for output in nest.flatten(outputs):
                    loss = self._activity_regularizer(output)
                    # Per example: a batch of twice the size is not to weigh twice as much.
                    self.add_loss(loss / cast(shape(output)[0], loss.dtype), inputs=inputs)
        self._set_masks(inputs, outputs, mask)

    def _set_masks(self, inputs: Any, outputs: Any, mask: Any) -> None:
        flat = [output for output in nest.flatten(outputs) if isinstance(output, Tensor)]
        if getattr(self, "_compute_output_and_mask_jointly", False) or all(hasattr(one, "_keras_mask") for one in flat):
            return  # they have theirs, of a layer inside or as inputs that were handed through
        masks = self._masks_of(inputs) if mask is None else mask
        if type(self).compute_mask is Layer.compute_mask and (masks is None or not self.supports_masking):
            return  # masks end where they are not known
        found = nest.flatten(self.compute_mask(inputs, masks))
        for output, one in zip(flat, found, strict=False):
            if one is not None:
                output._keras_mask = one  # type: ignore[attr-defined]

    def _maybe_build(self, inputs: Any) -> None:
        if self.built:
            return
        leaves = [leaf for leaf in nest.flatten(inputs) if hasattr(leaf, "dtype")]  # of a sparse one that of its values
        if self._policy.compute_dtype is None and leaves:
            self._policy = self._policy.with_input_dtype(leaves[0].dtype)
            self._dtype = self._dtype or self._policy.variable_dtype
        with init_scope() if get_default_graph().outermost.is_eager else contextlib.nullcontext():
            self.build(shapes_of(inputs))
        self.built = True
        variables_made(self)
        if self._initial_weights is not None:
            with init_scope() if get_default_graph().outermost.is_eager else contextlib.nullcontext():
                self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _promised(self, inputs: Any) -> Any:
        """Placeholders of the shapes that a dynamic layer says its outputs have: it computes in eager execution only."""
        shapes = self.compute_output_shape(nest.map_structure(lambda leaf: leaf.get_shape(), inputs))
        return _map_shapes_to_placeholders(as_tensor_shapes(shapes), self._dtype or backend.floatx())

    # --- arguments of `call` --------------------------------------------------------------------------------------------

    def _call_parameters(self) -> tuple[list[str], bool]:
        """The names of `call`'s parameters, and whether it takes any others."""
        found = vars(self).get("_known_call_parameters")
        if found is None:
            parameters = inspect.signature(self.call).parameters.values()
            plain = [one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
            found = plain, any(one.kind is one.VAR_KEYWORD for one in parameters)
            vars(self)["_known_call_parameters"] = found
        return found

    def _takes(self, name: str) -> bool:
        names, others = self._call_parameters()
        return others or name in names

    def _was_passed(self, name: str, args: Any, kwargs: Any) -> bool:
        return name in kwargs or name in self._call_parameters()[0][1 : len(args) + 1]

    def _masks_of(self, inputs: Any) -> Any:
        if isinstance(inputs, Tensor):
            return getattr(inputs, "_keras_mask", None)
        masks = masks_of(inputs)
        return masks if any(mask is not None for mask in nest.flatten(masks)) else None

    def _filled(self, inputs: Any, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any], Any, set[str]]:
        """The arguments with `mask` and `training` filled in, what inner layers are told of training, what was filled in."""
        kwargs, filled_in = dict(kwargs), set[str]()
        if self._takes("mask") and not self._was_passed("mask", args, kwargs):
            masks = self._masks_of(inputs)
            if masks is not None:
                kwargs["mask"] = masks
                filled_in.add("mask")
        outer = current_call()
        training = outer.training if outer is not None else None
        passed = self._was_passed("training", args, kwargs)
        if training is None and not passed:
            training = backend.phase_of_calls()
        if passed:
            position = self._call_parameters()[0].index("training") - 1 if "training" not in kwargs else None
            given = kwargs["training"] if position is None else args[position]
            if given is not None:
                if not self._takes("training"):
                    del kwargs["training"]
                return args, kwargs, given, filled_in
            if position is not None:
                return args, kwargs, training, filled_in
        if self._takes("training") and training is not None:
            kwargs["training"] = training
            filled_in.add("training")
        return args, kwargs, training, filled_in


@contextlib.contextmanager
def _saying_how_to_be_dynamic() -> Iterator[None]:
    """In the block, Python that takes a tensor without a value for a number is an error that says what helps."""
    try:
        yield
    except OperatorNotAllowedInGraphError as error:
        raise TypeError(
            "You are attempting to use Python control flow in a layer that was not declared to be dynamic. Pass "
            f"`dynamic=True` to the class constructor.\nEncountered error: {error}"
        ) from error


def unique_layer_name(base: str, zero_based: bool = True) -> str:
    """`dense`, `dense_1`, …: a name that no layer of the graph has been given by default yet."""
    return str(backend.unique_object_name(base, zero_based=zero_based))


def _batch_shape(kwargs: dict[str, Any]) -> tuple[int | None, ...] | None:
    """The shape of batches that a first layer's keywords tell."""
    if kwargs.get("batch_input_shape") is not None:
        return tuple(kwargs["batch_input_shape"])
    found = kwargs.get("input_shape")
    if found is None and kwargs.get("input_dim") is not None:
        found = (kwargs["input_dim"],)
    return None if found is None else (kwargs.get("batch_size"), *found)


def _as_tensor(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (np.ndarray, np.generic, float, int)) else value


def _copies_of_passed(inputs: Any, outputs: Any, keep_masks: bool) -> Any:
    """The outputs; those which are inputs handed through as tensors of their own, because each tensor has one maker."""
    passed = {id(tensor) for tensor in nest.flatten(inputs)}

    def own(tensor: Any) -> Any:
        if id(tensor) not in passed:
            return tensor
        copy = identity(tensor)
        if keep_masks and getattr(tensor, "_keras_mask", None) is not None:
            copy._keras_mask = identity(tensor._keras_mask)  # type: ignore[attr-defined]
        return copy

    return nest.map_structure(own, outputs)


def _map_shapes_to_placeholders(shapes: Any, dtype: Any) -> Any:
    if isinstance(shapes, TensorShape):
        return placeholder(dtype, shape=shapes)
    return type(shapes)(_map_shapes_to_placeholders(one, dtype) for one in shapes)


@contextlib.contextmanager
def drawn_aside(layer: Layer) -> Iterator[None]:
    """Calls that are not the program's: no node, loss, update or value of a metric is left behind, here or inside."""
    books = ("_inbound_nodes", "_outbound_nodes", "_losses", "_updates")
    before = {book: list(getattr(layer, book)) for book in books}
    of_metrics = dict(layer._metrics_tensors)
    try:
        with contextlib.ExitStack() as stack:
            for inner in layer._inner_layers:
                stack.enter_context(drawn_aside(inner))
            yield
    finally:
        for book, kept in before.items():
            getattr(layer, book)[:] = kept
        layer._metrics_tensors.clear()
        layer._metrics_tensors.update(of_metrics)


__all__ = ["InputSpec", "Layer", "as_tuples", "unique_layer_name"]
