"""The functions that serve a saved object: named tensors in, named tensors out. Source: `tf.saved_model.save`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.functions.concrete import ConcreteFunction
from tfexp.functions.function import function
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.train import saved_model_names as names

# The attribute that is an object's own idea of how it is served.
DEFAULT_SIGNATURE = "_default_save_signature"


def serving_functions(signatures: Any, functions: Mapping[str, Any]) -> dict[str, ConcreteFunction]:
    """The functions of the signatures that the caller gave, or of the only function that can be one.

    signatures: a function or {key: function}, each a ConcreteFunction or a `tf.function` with an input signature;
    ValueError for others. functions: those of the object, of which one may say that it is there to serve it.
    """
    if signatures is None:
        signatures = functions.get(DEFAULT_SIGNATURE)
    if signatures is None:
        signatures = _only_candidate(functions)
    if not isinstance(signatures, Mapping):
        signatures = {names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {key: _serving_function(_concrete(one), key) for key, one in signatures.items()}


def _only_candidate(functions: Mapping[str, Any]) -> Any:
    concrete = [_concrete(one) for one in functions.values() if getattr(one, "input_signature", None) is not None]
    concrete += [one for one in functions.values() if isinstance(one, ConcreteFunction)]
    candidates = [one for one in concrete if _can_serve(one)]
    return candidates[0] if len(candidates) == 1 else {}


def _can_serve(concrete: ConcreteFunction) -> bool:
    try:
        return bool(_outputs_by_name(concrete.structured_outputs, ""))
    except ValueError:
        return False


def _concrete(one: Any) -> ConcreteFunction:
    if isinstance(one, ConcreteFunction):
        return one
    if getattr(one, "input_signature", None) is None:
        raise ValueError(
            f"Expected a TensorFlow function to generate a signature for, but got {one!r}. Only `tf.functions` with an "
            "input signature or concrete functions can be used as a signature."
        )
    found: ConcreteFunction = one.get_concrete_function()
    return found


def _serving_function(concrete: ConcreteFunction, key: str) -> ConcreteFunction:
    """One with an argument for each tensor, by name, that returns a dict."""

    def signature_wrapper(**kwargs: Any) -> dict[str, Tensor]:
        return _outputs_by_name(concrete.call_with([kwargs[name] for name in concrete.argument_names]), key)

    specs = {
        name: TensorSpec(tensor.shape, tensor.dtype, name)
        for name, tensor in zip(concrete.argument_names, concrete.arguments, strict=True)
    }
    made: ConcreteFunction = function(signature_wrapper, autograph=False).get_concrete_function(**specs)
    return made


def _outputs_by_name(outputs: Any, key: str) -> dict[str, Any]:
    """ValueError unless they are tensors (or specs of these) in a dict or in a list, or one tensor."""
    if not isinstance(outputs, Mapping):
        listed = outputs if isinstance(outputs, (list, tuple)) else [] if outputs is None else [outputs]
        outputs = {f"output_{i}": value for i, value in enumerate(listed)}
    for name, value in outputs.items():
        if not isinstance(name, str):
            raise ValueError(
                f"The function of the signature {key!r} returns a dictionary with a key that is no string: {name!r}"
            )
        if not isinstance(value, (Tensor, TensorSpec)):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {name!r} in the output of the function used to generate a "
                f"SavedModel signature {key!r}. Outputs for functions used as signatures must be a single Tensor, a "
                "sequence of Tensors, or a dictionary from string to Tensor."
            )
    return dict(outputs)
