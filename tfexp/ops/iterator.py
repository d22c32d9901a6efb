"""Iterators over data sets as resources: made, initialized, asked for elements, addressed by string handles."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import CancelledError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset import Dataset, DatasetIterator, State

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"


class _Running:
    """An iterator that has begun, and who has it or waits for it."""

    __slots__ = ("interrupted", "iterator", "replaced", "user", "users")

    def __init__(self, iterator: DatasetIterator):
        self.iterator = iterator
        self.user: _User | None = None  # whoever has it for himself now
        self.users = 0  # with those who wait
        self.interrupted = False
        self.replaced = False  # by another one: its last user closes it


class _User:
    __slots__ = ("cancelled",)

    def __init__(self) -> None:
        self.cancelled = False


class IteratorResource:
    """One iterator of a session or task: where several threads and sessions take turns to get elements.

    To begin anew waits for nobody: steps that wait for an element get it of the iterator that was there before.
    """

    def __init__(self, name: str, types: Sequence[Any], shapes: Sequence[TensorShape]):
        self.name = name
        self.types, self.shapes = list(types), list(shapes)
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._dataset: Dataset | None = None
        self._running: _Running | None = None

    def initialize(self, dataset: Dataset) -> None:
        """Start from the beginning of `dataset`."""
        self._dataset = dataset.fresh()
        self._replace(self._dataset.iterator())

    def _replace(self, fresh: DatasetIterator) -> None:
        with self._lock:
            old, self._running = self._running, _Running(fresh)
            if old is None:
                return
            old.replaced = True
            unused = not old.users
        if unused:
            old.iterator.close()

    def next(self, ctx: Any) -> list[Any]:
        """The next element; OutOfRangeError at the end, FailedPreconditionError before it was initialized."""
        running = self._joined()
        if running is None:
            raise FailedPreconditionError(
                None,
                None,
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer "
                "operation for this iterator before getting the next element.",
            )
        user = _User()

        def cancel() -> None:
            # A step that is cancelled after its end, or before its turn, disturbs no other.
            with self._lock:
                user.cancelled = True
                if running.user is user:
                    running.interrupted = True
                    running.iterator.interrupt()
                self._changed.notify_all()

        unregister = ctx.on_cancel(cancel)
        try:
            self._wait_for_turn(running, user)
            element = running.iterator.next()
        finally:
            unregister()
            self._leave(running, user)
        if element is None:
            raise OutOfRangeError(None, None, "End of sequence")
        # Views are of memory that the data set keeps.
        return [v.copy() if isinstance(v, np.ndarray) and v.base is not None else v for v in element]

    @property
    def iterator(self) -> DatasetIterator | None:
        return None if self._running is None else self._running.iterator

    def restore(self, state: State) -> None:
        """Go on with the data set from that position; FailedPreconditionError before it was initialized."""
        if self._dataset is None:
            raise FailedPreconditionError(
                None, None, f"The iterator {self.name!r} must be initialized before its position is restored"
            )
        fresh = self._dataset.iterator()
        try:
            fresh.restore(state)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            # What a data set of another form left cannot be told from what a newer version would.
            raise InvalidArgumentError(
                None,
                None,
                f"The iterator {self.name!r} cannot go on from there: the position was saved of a data set of another form",
            ) from error
        self._replace(fresh)

    @contextlib.contextmanager
    def held(self) -> Iterator[DatasetIterator | None]:
        """The running iterator, which nobody else asks for elements in the meantime; None before it was initialized."""
        running = self._joined()
        if running is None:
            yield None
            return
        user = _User()
        try:
            self._wait_for_turn(running, user)
            yield running.iterator
        finally:
            self._leave(running, user)

    def _joined(self) -> _Running | None:
        """What is running, which nobody closes until it was left."""
        with self._lock:
            if self._running is not None:
                self._running.users += 1
            return self._running

    def _wait_for_turn(self, running: _Running, user: _User) -> None:
        """CancelledError for who is cancelled before it is his turn."""
        with self._lock:
            while running.user is not None and not user.cancelled:
                self._changed.wait()
            if user.cancelled:
                raise CancelledError(None, None, "Waiting for the next element was cancelled")
            running.user = user

    def _leave(self, running: _Running, user: _User) -> None:
        with self._lock:
            if running.user is user:
                running.user = None
                if running.interrupted:
                    running.interrupted = False
                    running.iterator.interrupt(False)
            running.users -= 1
            if running.users:
                self._changed.notify_all()
            last = running.replaced and not running.users
        if last:
            running.iterator.close()

    def dispose(self) -> None:
        """Nobody uses it any more."""
        if self._running is not None:
            self._running.iterator.close()


_NEW = f"() -> (handle: resource) {{shared_name: string; container: string; {_TYPES}}} #stateful"
iterator_v2 = define_op(f"IteratorV2{_NEW}")
one_shot_iterator = define_op(
    f"OneShotIterator() -> (handle: resource) {{dataset_factory: func; {_TYPES}; container: string = ''; shared_name: "
    "string = ''} #stateful"
)
make_iterator = define_op("MakeIterator(dataset: variant, iterator: resource) -> () #stateful")
iterator_get_next = define_op(f"IteratorGetNext(iterator: resource) -> (components: output_types) {{{_TYPES}}} #stateful")
iterator_to_string_handle = define_op(
    "IteratorToStringHandle(resource_handle: resource) -> (string_handle: string) #stateful"
)
iterator_from_string_handle_v2 = define_op(
    "IteratorFromStringHandleV2(string_handle: string) -> (resource_handle: resource) {output_types: list(type) >= 0 = []; "
    "output_shapes: list(shape) >= 0 = []} #stateful"
)


for _op in (iterator_v2, one_shot_iterator):

    @_op.shape
    def _() -> TensorShape:
        return TensorShape([])


for _op in (iterator_to_string_handle, iterator_from_string_handle_v2):

    @_op.shape
    def _(handle: InputShape) -> TensorShape:
        return TensorShape([])


@iterator_get_next.shape
def _(iterator: InputShape, *, output_shapes: list[TensorShape]) -> list[TensorShape]:
    return list(output_shapes)


@make_iterator.shape
def _(dataset: InputShape, iterator: InputShape) -> list[TensorShape]:
    return []


def _resource(ctx: Any, container: str, name: str, types: Sequence[Any], shapes: Sequence[TensorShape]) -> IteratorResource:
    found: IteratorResource = ctx.resource(container, name, lambda: IteratorResource(name, types, shapes), "iterator")
    if found.types != list(types):
        raise InvalidArgumentError(
            None,
            None,
            f"The iterator {name!r} has elements of types {[t.name for t in found.types]}, not {[t.name for t in types]}",
        )
    return found


@iterator_v2.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str, output_types: list[Any], output_shapes: list[Any]) -> IteratorResource:
    return _resource(ctx, container, shared_name or ctx.node_name, output_types, output_shapes)


@one_shot_iterator.kernel("CPU")
def _(
    ctx: Any,
    *,
    dataset_factory: Any,
    container: str,
    shared_name: str,
    output_types: list[Any],
    output_shapes: list[Any],
) -> IteratorResource:
    resource = _resource(ctx, container, shared_name or ctx.node_name, output_types, output_shapes)
    with _begin:
        if resource.iterator is None:
            resource.initialize(ctx.function(dataset_factory)([])[0])
    return resource


# Two steps that are the first to use a one-shot iterator begin it once.
_begin = threading.Lock()


@make_iterator.kernel("CPU")
def _(ctx: Any, dataset: Dataset, iterator: IteratorResource) -> list[Any]:
    iterator.initialize(dataset)
    return []


@iterator_get_next.kernel("CPU")
def _(ctx: Any, iterator: IteratorResource) -> list[Any]:
    return iterator.next(ctx)


@iterator_to_string_handle.kernel("CPU")
def _(ctx: Any, resource_handle: IteratorResource) -> Any:
    # A session keeps what its iterators are called, so that a handle says which one is meant.
    name = f"iterator_handle/{resource_handle.name}"
    ctx.resource("", name, lambda: resource_handle)
    return np.array(name.encode(), object)


@iterator_from_string_handle_v2.kernel("CPU")
def _(ctx: Any, string_handle: Any, *, output_types: list[Any], output_shapes: list[Any]) -> IteratorResource:
    name = str(string_handle[()].decode("utf-8", "replace"))

    def unknown() -> IteratorResource:
        raise InvalidArgumentError(
            None, None, f"{name!r} is no handle of an iterator of this session: run `iterator.string_handle()` to get one"
        )

    found: IteratorResource = ctx.resource("", name, unknown)
    if output_types and found.types != list(output_types):
        raise InvalidArgumentError(
            None,
            None,
            f"The iterator {found.name!r} has elements of types {[t.name for t in found.types]}, not "
            f"{[t.name for t in output_types]}",
        )
    for place, (wanted, given) in enumerate(zip(output_shapes, found.shapes, strict=False)):
        if not wanted.is_compatible_with(given):
            raise InvalidArgumentError(
                None, None, f"Incompatible shapes at component {place}: expected {wanted} but got {given}."
            )
    return found
