"""`GradientTape`: reverse mode over the ops that ran while it was recording. Source: `tf.GradientTape`, TF 1.15.

In eager execution, each op that takes something watched is noted with its inputs and outputs; `gradient` goes over the notes
backwards, with the same rules as `tf.gradients`. While a graph is built the graph is the record: noted is only which numbers
its ops had while the tape was recording, and what others have made is constant.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from tfexp.core import dtypes, log, nest
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.gradient_sums import Gradient, add_n, add_slices
from tfexp.graph.gradients import (
    UnconnectedGradients,
    gradient_function,
    gradients,
    is_trainable,
)
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor


class _Recording(threading.local):
    """The tapes that record in this thread, outermost first."""

    def __init__(self) -> None:
        self.tapes: list[GradientTape] = []


recording = _Recording()


def record(op: Operation) -> None:
    """Note an op that has just run, on every tape that watches one of its inputs."""
    for tape in recording.tapes:
        tape._note(op)


def variable_accessed(variable: Any) -> None:
    """Have the tapes watch a trainable variable that is about to be read."""
    for tape in recording.tapes:
        if tape._watches_variables and variable.trainable:
            tape._watch_variable(variable)


def keep_alive(thing: Any) -> None:
    """Have the tapes that are recording hold on to what gradients of eager ops need and know by name only."""
    for tape in recording.tapes:
        tape._kept.append(thing)


class _Span:
    """The ops that a graph was given from a time on, until it is closed."""

    def __init__(self, graph: Graph, before: int):
        self.graph = graph
        self._before = before
        self._last: float = math.inf

    def close(self) -> None:
        self._last = self.graph._last_id

    def __contains__(self, op: Operation) -> bool:
        return self._before < op._id <= self._last


class GradientTape:
    """`with tf.GradientTape() as tape: …` records; `tape.gradient(target, sources)` differentiates.

    Trainable variables are watched when they are read (unless `watch_accessed_variables` is False), tensors after
    `watch(tensor)`. A tape that is not `persistent` gives one set of gradients.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._is_recording = False
        self._used = False
        self._forget()

    def reset(self) -> None:
        """Forget everything that was recorded and watched. ValueError when the tape does not record."""
        self._stop()
        self._forget()
        self._start()

    def _forget(self) -> None:
        self._watched: set[Tensor] = set()
        self._variables: dict[Any, None] = {}
        self._ops: list[Operation] = []
        self._spans: list[_Span] = []
        self._kept: list[Any] = []

    def __enter__(self) -> GradientTape:
        if self._is_recording:
            raise ValueError("Tape is already recording.")
        self._start()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._is_recording:
            self._stop()

    def _start(self) -> None:
        recording.tapes.append(self)
        self._is_recording = True
        self._used = False
        graph = get_default_graph()
        if not graph.is_eager:
            self._spans.append(_Span(graph, graph._last_id))

    def _stop(self) -> None:
        if not self._is_recording:
            raise ValueError("Tape is not recording.")
        recording.tapes.remove(self)
        self._is_recording = False
        if self._spans:
            self._spans[-1].close()

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block whose ops are not recorded. ValueError when the tape does not record."""
        self._stop()
        try:
            yield
        finally:
            self._start()

    # --- what is recorded ----------------------------------------------------------------------------------------

    def watch(self, tensor: Any) -> None:
        """Record what is computed from `tensor` (a Tensor, a variable, or a nest of them) from here on."""
        for item in nest.flatten(tensor):
            if not (isinstance(item, Tensor) or hasattr(item, "_ref")):
                raise ValueError(f"Passed in object of type {type(item)}, not tf.Tensor")
            if not item.dtype.base_dtype.is_floating and not item.dtype.base_dtype.is_complex:
                log.warn("The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", item.dtype.base_dtype)
            if isinstance(item, Tensor):
                self._watched.add(item)
            else:
                self._watch_variable(item)

    def _watch_variable(self, variable: Any) -> None:
        self._watched.add(variable._ref())
        self._variables[variable] = None

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were read or watched, in the order of their making."""
        return tuple(sorted(self._variables, key=lambda one: (getattr(one, "_number", 0), one._ref()._op._id)))

    def _note(self, op: Operation) -> None:
        watched = self._watched
        for tensor in op._inputs:
            if tensor in watched:
                self._ops.append(op)
                watched.update(t for t in op._outputs if is_trainable(t))
                return

    # --- differentiating -----------------------------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """d sum(target) / d source, in the structure of `sources`: Tensors, IndexedSlices, or None where unconnected.

        `output_gradients` weigh the targets. RuntimeError on the second call for a tape that is not persistent, ValueError
        for another value of `unconnected_gradients` than it has.
        """
        self._use()
        targets, flat_sources = nest.flatten(target), nest.flatten(sources)
        weights = [None] * len(targets) if output_gradients is None else nest.flatten(output_gradients)
        grads = self._gradients(targets, flat_sources, weights)
        if UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO:
            grads = [_zeros(s) if g is None else g for g, s in zip(grads, flat_sources, strict=True)]
        if not self._persistent:
            self._forget()
        return nest.pack_sequence_as(sources, grads) if nest.is_nested(sources) else grads[0]

    def _use(self) -> None:
        if self._used:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        self._used = not self._persistent
        if self._is_recording:
            if not self._persistent:
                self._stop()
            else:
                log.warn(
                    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient "
                    "than calling it outside the context (it causes the gradient ops to be recorded on the tape)."
                )

    def _gradients(self, targets: Sequence[Any], sources: Sequence[Any], weights: Sequence[Any]) -> list[Gradient | None]:
        if get_default_graph().is_eager:
            return self._backward(targets, sources, weights)
        return self._of_graph(targets, sources, weights)

    def _of_graph(self, targets: Sequence[Any], sources: Sequence[Any], weights: Sequence[Any]) -> list[Gradient | None]:
        """Only what is watched has a gradient, and only through what was recorded."""
        given = [None if weight is None else convert_to_tensor(weight) for weight in weights]
        grad_ys = None if all(weight is None for weight in given) else given
        seen = []
        for index, source in enumerate(sources):
            is_variable = hasattr(source, "_ref")
            watched = source._ref() if is_variable else source
            if watched in self._watched or (is_variable and self._watches_variables and source.trainable):
                seen.append((index, watched))
        grads: list[Gradient | None] = [None] * len(sources)
        # All in one: what several of them need is then made once, a loop's gradient above all.
        watched = [tensor for _, tensor in seen]
        found = gradients(list(targets), watched, grad_ys, stop_gradients=self._constants(targets)) if seen else []
        for (index, _), grad in zip(seen, found, strict=True):
            grads[index] = grad
        return grads

    def _constants(self, targets: Sequence[Any]) -> list[Tensor]:
        """What the recorded ops that lead to the targets take from others."""
        constants, met = [], set()
        coming = [target._ref() if hasattr(target, "_ref") else convert_to_tensor(target) for target in targets]
        while coming:
            tensor = coming.pop()
            op = tensor.op
            if op in met:
                continue
            met.add(op)
            # A reference variable is read once for all, when it is made.
            if self._has_recorded(op) or any(t.dtype._is_ref_dtype for t in op._inputs):
                coming.extend(op._inputs)
            else:
                constants.append(tensor)
        return constants

    def _has_recorded(self, op: Operation) -> bool:
        """Whether an op was made while recording; of the ops of other graphs (functions') than it began in, all were."""
        spans = [span for span in self._spans if span.graph is op.graph]
        return not spans or any(op in span for span in spans)

    def _backward(self, targets: Sequence[Any], sources: Sequence[Any], weights: Sequence[Any]) -> list[Gradient | None]:
        grads: dict[Tensor, list[Gradient]] = defaultdict(list)
        for target, weight in zip(targets, weights, strict=True):
            tensor = target._ref() if hasattr(target, "_ref") else convert_to_tensor(target)
            if not is_trainable(tensor):
                log.warn(
                    "The dtype of the target tensor must be floating (e.g. tf.float32) when calling GradientTape.gradient"
                )
            elif weight is None:
                ones = tensor if not tensor.dtype._is_ref_dtype else target.read_value()
                grads[tensor].append(get_op("OnesLike")(ones))
            else:
                grads[tensor].append(convert_to_tensor(weight))
        for op in reversed(list(self._ops)):
            if any(t in grads for t in op._outputs):
                _differentiate(op, grads)
        return [_sum(grads.get(s._ref() if hasattr(s, "_ref") else s, [])) for s in sources]


def _zeros(source: Any) -> Tensor:
    zeros: Tensor = get_op("ZerosLike")(source)
    return zeros


def _sum(grads: Sequence[Gradient]) -> Gradient | None:
    if len(grads) < 2:
        return grads[0] if grads else None
    if all(isinstance(g, Tensor) for g in grads):
        return add_n(list(grads))  # type: ignore[arg-type]
    return add_slices(list(grads))


def _differentiate(op: Operation, grads: dict[Tensor, list[Gradient]]) -> None:
    """Add what `op` passes on to the gradients of its inputs."""
    rule = gradient_function(op)
    if rule is None:
        return
    out_grads: list[Any] = []
    for tensor in op._outputs:
        total = _sum(grads.get(tensor, []))
        if total is not None:
            grads[tensor] = [total]
        elif is_trainable(tensor) and tensor.dtype not in (dtypes.resource, dtypes.variant):
            total = _zeros(tensor)
        out_grads.append(total)
    in_grads = rule(op, *out_grads)
    in_grads = list(in_grads) if isinstance(in_grads, (list, tuple)) else [in_grads]
    for tensor, grad in zip(op._inputs, in_grads, strict=True):
        if grad is not None:
            grads[tensor].append(grad)
