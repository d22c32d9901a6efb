"""Steps that become one: factors and terms go into the products before them, activations into what they follow."""

from __future__ import annotations

import numpy as np

from tfexp.lite.draft import Draft, Step

# Products, with the axis of their weights along which outputs lie.
_PRODUCTS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}
_ACTIVATIONS = ("RELU", "RELU6", "RELU_N1_TO_1")
_TAKE_ACTIVATIONS = (*_PRODUCTS, "ADD", "AVERAGE_POOL_2D", "DIV", "MAX_POOL_2D", "MUL", "SUB")


def fuse(draft: Draft) -> None:
    """Fuse what can be, until nothing more can."""
    _drop_flattening(draft)
    makers = {output: step for step in draft.steps for output in step.outputs}
    for step in list(draft.steps):  # in order, so that what was fused is there for those that follow
        source, constant = _one_computed(draft, step)
        maker = makers.get(source)
        if maker is None or draft.only_consumer(source) is not step or maker.options.get("activation", "NONE") != "NONE":
            continue
        if step.op in _ACTIVATIONS and maker.op in _TAKE_ACTIVATIONS:
            maker.options["activation"] = step.op
        elif not _absorbed(draft, maker, step, constant):
            continue
        draft.steps.remove(step)
        maker.outputs = step.outputs
        makers[step.outputs[0]] = maker


def _drop_flattening(draft: Draft) -> None:
    """A product takes its input as rows of what it needs, however that is shaped, so that any batch can come in."""
    makers = {output: step for step in draft.steps for output in step.outputs}
    for step in draft.steps:
        before = makers.get(step.inputs[0]) if step.op == "FULLY_CONNECTED" else None
        if before is not None and before.op == "RESHAPE" and draft.only_consumer(step.inputs[0]) is step:
            weights, rows = draft.tensors[step.inputs[1]].shape, draft.tensors[before.outputs[0]].shape
            if len(rows) == 2 and rows[1] == weights[1]:
                step.inputs[0] = before.inputs[0]
    draft.prune()


def _one_computed(draft: Draft, step: Step) -> tuple[str, np.ndarray | None]:
    """The one input of a step that is computed, with the constant that is its other one, if there is any."""
    computed = [name for name in step.inputs if draft.value(name) is None]
    constants = [draft.value(name) for name in step.inputs if draft.value(name) is not None]
    if len(computed) != 1 or len(constants) > 1:
        return "", None
    return computed[0], constants[0] if constants else None


def _absorbed(draft: Draft, product: Step, step: Step, constant: np.ndarray | None) -> bool:
    """Whether the product could take the factor or term into its weights and bias, which it has then."""
    if product.op not in _PRODUCTS or constant is None or step.op not in ("ADD", "SUB", "MUL", "DIV"):
        return False
    is_first = draft.value(step.inputs[0]) is not None
    weights, bias = (draft.tensors[name] for name in product.inputs[1:3])
    if weights.data is None or bias.data is None or (is_first and step.op in ("SUB", "DIV")):
        return False
    axis, outputs = _PRODUCTS[product.op], bias.shape[0]
    along_last = constant.size == 1 or (constant.size == outputs == constant.shape[-1])
    if not along_last or draft.tensors[step.outputs[0]].shape != draft.tensors[product.outputs[0]].shape:
        return False
    values = np.broadcast_to(constant.reshape(-1), [outputs])
    if step.op in ("ADD", "SUB"):
        bias.data = bias.data + values if step.op == "ADD" else bias.data - values
    else:
        if any(len(draft.consumers(name)) > 1 for name in product.inputs[1:3]):  # others use these weights as they are
            return False
        factors = values if step.op == "MUL" else 1 / values
        shape = [-1 if place == axis else 1 for place in range(len(weights.shape))]
        weights.data = weights.data * factors.reshape(shape)
        bias.data = bias.data * factors
    return True
