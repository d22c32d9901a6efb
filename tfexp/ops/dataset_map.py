"""Data sets that call functions: map, filter, scan.

On a source of blocks, a function whose every node can do many elements at once (`dataset_lift`) maps a block at a time.
"""

from __future__ import annotations

import abc
import functools
import itertools
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from tfexp.core.errors import CancelledError, InvalidArgumentError, OpError
from tfexp.ops.dataset import (
    COMMON,
    Chain,
    Dataset,
    DatasetIterator,
    Element,
    FromRecipe,
    Settings,
    State,
    as_count,
    define_dataset,
    kept,
)
from tfexp.ops.dataset_batch import BATCHES_AHEAD, bytes_of, stack, together
from tfexp.ops.dataset_functions import ElementFunction, Function, Several, in_turn, rows, with_arguments
from tfexp.ops.dataset_lift import OfBlocks

ARGUMENTS = "Targuments: list(type) >= 0"
MAP = "f: func; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "

# --- map ---------------------------------------------------------------------------------------------------------------

map_dataset = define_dataset(
    "MapDataset(input_dataset: variant, other_arguments: Targuments) -> (handle: variant) {"
    + MAP
    + "use_inter_op_parallelism"
    ": bool = true; preserve_cardinality: bool = false; force_synchronous: bool = false; metadata: string = ''}"
)
parallel_map_dataset = define_dataset(
    "ParallelMapDataset(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32) -> (handle: "
    "variant) {" + MAP + "use_inter_op_parallelism: bool = true; sloppy: bool = false; preserve_cardinality: bool = false; "
    "metadata: string = ''}"
)
parallel_map_dataset_v2 = define_dataset(
    "ParallelMapDatasetV2(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64) -> (handle: "
    f"variant) {{{MAP}use_inter_op_parallelism: bool = true; deterministic: string = 'default'; preserve_cardinality: bool "
    "= false; use_unbounded_threadpool: bool = false; metadata: string = ''}",
    any_shape=["num_parallel_calls"],
)


# Elements that are taken from a source of blocks at once where they are asked for one by one.
_AHEAD = 64


class _Mapping(Chain):
    """An iterator that calls a function for elements of its source: of blocks where both can do that.

    `_singly` holds elements that have been taken but not mapped: the rest of a block whose elements are mapped one by one.
    """

    def __init__(self, source: DatasetIterator, function: Function, of_blocks: OfBlocks | None):
        super().__init__(source)
        self._function, self._of_blocks = function, of_blocks
        self.blocks = source.blocks and of_blocks is not None
        self.ahead = source.ahead and not (of_blocks is not None and of_blocks.draws)
        self._singly: deque[Element] = deque()

    def _element(self) -> Element | None:
        """The next element of the source."""
        if self._singly:
            return self._singly.popleft()
        if not (self.source.blocks and self.source.ahead):
            return self.source.next()
        block = self.source.block(_AHEAD)
        if block is None:
            return None
        self._singly.extend(rows(block))
        return self._singly.popleft()

    def save(self) -> State:
        return {"source": self.source.save(), "singly": [list(element) for element in self._singly]}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._singly = deque(state["singly"])


def _maps_stacks(source: DatasetIterator, call: ElementFunction) -> bool:
    """Whether the function may be given elements of stacks together: not where the order of its draws would change."""
    return source.stacks and call.of_blocks is not None and not call.of_blocks.draws


class _Together(_Mapping, abc.ABC):
    """Elements are mapped several at a time where they come in blocks or stacks and the function can do that.

    `_ready` holds results beyond the one that was asked for; `_together`: how many elements are taken then.
    """

    def __init__(self, source: DatasetIterator, call: ElementFunction):
        super().__init__(source, call.of_element, call.of_blocks if source.blocks or source.stacks else None)
        self.stacks = _maps_stacks(source, call)
        self._ready: deque[Element] = deque()
        self._together = 1

    @abc.abstractmethod
    def _results(self, function: OfBlocks, taken: list[np.ndarray]) -> list[np.ndarray]:
        """What comes of elements."""

    @abc.abstractmethod
    def _alone(self) -> Element | None:
        """The next result, of an element that is looked at alone; None at the end."""

    def next(self) -> Element | None:
        if self._ready:
            return self._ready.popleft()
        if not self._singly and self.ahead and (self.blocks or self.stacks):
            results = self.block(self._together) if self.blocks else self.stacked(self._together)
            if results is None:
                return None
            self._ready.extend(rows(results))
            return self._ready.popleft()
        return self._alone()

    def waiting(self) -> int:
        return len(self._ready)

    def block(self, count: int) -> list[np.ndarray] | None:
        return self._several(self.source.block, count, _AHEAD)

    def stacked(self, count: int) -> list[np.ndarray] | None:
        return self._several(self.source.stacked, count, BATCHES_AHEAD)

    def _several(self, take: Callable[[int], list[np.ndarray] | None], count: int, most: int) -> list[np.ndarray] | None:
        assert self._of_blocks is not None
        while not self._singly and not self._ready:
            taken = take(count)
            if taken is None:
                return None
            try:
                results = self._results(self._of_blocks, taken)
            except OpError:
                self._singly.extend(rows(taken))  # the error is that of one element; those before it come out first
                break
            self._together = together(max(bytes_of(taken), bytes_of(results)) // len(taken[0]), most)
            if len(results[0]):
                return results
        element = self._ready.popleft() if self._ready else self._alone()
        return None if element is None else [stack([value]) for value in element]

    def save(self) -> State:
        return {**super().save(), "ready": [list(element) for element in self._ready]}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._ready = deque(state["ready"])


class _Map(_Together):
    def __init__(self, source: DatasetIterator, call: ElementFunction):
        super().__init__(source, call)
        self._call = call

    def elements(self, count: int) -> list[Element]:
        """Elements of a block have the same shapes, so that they are mapped together."""
        if self.blocks or not self.source.blocks:
            return super().elements(count)
        found: list[Element] = []
        while len(found) < count:
            if not self._singly:
                block = self.source.block(count - len(found))
                if block is None:
                    break
                self._singly.extend(rows(block))
            waiting = list(itertools.islice(self._singly, count - len(found)))
            results, failure = self._call.each(waiting)
            found += results
            for _ in range(len(results) + (failure is not None)):
                self._singly.popleft()
            if failure is not None:
                raise failure
        return found

    def _results(self, function: OfBlocks, taken: list[np.ndarray]) -> list[np.ndarray]:
        return function(taken)

    def _alone(self) -> Element | None:
        element = self._element()
        return None if element is None else self._function(element)


class _Mapped(FromRecipe):
    mapped = True


@map_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], *, f: Any) -> Dataset:
    function = with_arguments(ctx, f, arguments)
    return _Mapped(lambda source, call: _Map(source.iterator(), call), dataset, function)


class _UnderWay(_Mapping):
    """Calls that are under way while earlier results are taken; the results come in the order of the elements.

    `calls`: how many there may be; -1 (AUTOTUNE) leaves that to this class. A task maps several elements, as
    many as take it about `_TASK` seconds: to hand over one costs more than most calls. Calls that may wait for
    each other have a task each, so that as many as there may be run at the same time.
    """

    def __init__(self, source: DatasetIterator, call: ElementFunction, calls: int, settings: Settings):
        super().__init__(source, call.of_element, None)
        self._several: Several = functools.partial(in_turn, call.of_element)
        if source.blocks:
            self._several = call.each
        elif _maps_stacks(source, call):
            self._several = call.stacked
        self._calls = calls if calls > 0 else AUTOTUNED_CALLS
        self._threads = settings.threads if settings.threads > 0 else self._calls
        self._in_order = settings.in_order
        self._largest = 1 if call.may_wait else _LARGEST_TASK
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: deque[tuple[list[Element], Future[list[Any]]]] = deque()
        self._ready: deque[Any] = deque()  # results, and exceptions in the place of results
        self._ended = False
        self._size = 1

    def next(self) -> Element | None:
        while not self._ready:
            self._start()
            if not self._under_way:
                self.close()
                return None
            self._ready.extend(self._first_task().result())
        found = self._ready.popleft()
        if isinstance(found, Exception):
            raise found
        result: Element = found
        return result

    def _first_task(self) -> Future[list[Any]]:
        """The task whose results come next, which is no longer under way then."""
        place = 0
        if not self._in_order:
            wait([task for _, task in self._under_way], return_when=FIRST_COMPLETED)
            place = next(i for i, (_, task) in enumerate(self._under_way) if task.done())
        task = self._under_way[place][1]
        del self._under_way[place]
        return task

    def _start(self) -> None:
        """Have as many tasks under way as there may be."""
        while not self._ended and len(self._under_way) < self._calls:
            elements: list[Element] = []
            failure: Exception | None = None
            while len(elements) < self._size:
                try:
                    element = self._element()
                except Exception as error:
                    failure = error
                    break
                if element is None:
                    self._ended = True
                    break
                elements.append(element)
            if elements:
                self._submit(elements)
            if isinstance(failure, CancelledError):
                raise failure
            if failure is not None:  # it has its place among the results, and is there already
                failed: Future[list[Any]] = Future()
                failed.set_result([failure])
                self._under_way.append(([], failed))

    def _submit(self, elements: list[Element]) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(min(self._calls, self._threads), thread_name_prefix="tfexp-map")
        self._under_way.append((elements, self._pool.submit(self._run, elements)))

    def _run(self, elements: list[Element]) -> list[Any]:
        began = time.perf_counter()
        results: list[Any] = []
        while len(results) < len(elements):
            found, failure = self._several(elements[len(results) :])
            results += found
            if failure is not None:
                results.append(failure)
        each = (time.perf_counter() - began) / len(elements)
        self._size = max(1, min(self._largest, int(_TASK / max(each, 1e-9))))
        return results

    def save(self) -> State:
        waiting = [list(element) for elements, _ in self._under_way for element in elements]
        ready = [list(result) for result in self._ready if not isinstance(result, Exception)]
        return {**super().save(), "ready": ready, "waiting": waiting, "ended": self._ended}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._ready, self._ended = deque(state["ready"]), state["ended"]
        if state["waiting"]:
            self._submit(state["waiting"])

    def close(self) -> None:
        super().close()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def __del__(self) -> None:
        # The source has its own end, and to wait for its threads here might be to wait for a lock of this thread's.
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


# Seconds that a task of a parallel map is to take, and elements that it may have.
_TASK = 1e-3
_LARGEST_TASK = 64


def parallel_map(ctx: Any, dataset: Dataset, arguments: Sequence[Any], calls: Any, f: Any) -> Dataset:
    """`f` of the elements of `dataset`, with so many calls at a time."""
    number = as_count(calls)
    if number == 0 or number < -1:
        raise InvalidArgumentError(None, None, "num_parallel_calls must be greater than zero.")
    function = with_arguments(ctx, f, arguments)

    def iterator(mapped: Dataset, call: ElementFunction, settings: Settings) -> DatasetIterator:
        source = mapped.iterator()
        # What NumPy does to a block at once is quicker than any number of threads that call Python.
        if source.blocks and call.of_blocks is not None:
            return _Map(source, call)
        return _UnderWay(source, call, number, settings)

    return _Mapped(iterator, dataset, function, Settings())


# What `tf.data.experimental.AUTOTUNE` stands for.
AUTOTUNED_CALLS = 4


@parallel_map_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], num_parallel_calls: Any, *, f: Any) -> Dataset:
    return parallel_map(ctx, dataset, arguments, num_parallel_calls, f)


@parallel_map_dataset_v2.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], num_parallel_calls: Any, *, f: Any) -> Dataset:
    return parallel_map(ctx, dataset, arguments, num_parallel_calls, f)


# --- filter, scan --------------------------------------------------------------------------------------------------------

filter_dataset = define_dataset(
    "FilterDataset(input_dataset: variant, other_arguments: Targuments) -> (handle: variant) {predicate: func; "
    f"{ARGUMENTS}; {COMMON}}}"
)
scan_dataset = define_dataset(
    "ScanDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> (handle: variant) {f: func; "
    "Tstate: list(type) >= 1; Targuments: list(type) >= 0; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
    "preserve_cardinality: bool = false; use_default_device: bool = true; metadata: string = ''}"
)


class _Filter(_Together):
    def _results(self, function: OfBlocks, taken: list[np.ndarray]) -> list[np.ndarray]:
        wanted = function(taken)[0]
        return [array[wanted] for array in taken]

    def _alone(self) -> Element | None:
        while (element := self._element()) is not None:
            if self._function(element)[0]:
                return element
        return None


@filter_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], *, predicate: Any) -> Dataset:
    function = with_arguments(ctx, predicate, arguments)
    return FromRecipe(lambda source, call: _Filter(source.iterator(), call), dataset, function)


class _Scan(Chain):
    def __init__(self, source: DatasetIterator, initial: Sequence[Any], function: Function):
        super().__init__(source)
        self.blocks = False
        self._state, self._function = list(initial), function

    def next(self) -> Element | None:
        element = self.source.next()
        if element is None:
            return None
        results = self._function([*self._state, *element])
        count = len(self._state)
        self._state = [kept(value) for value in results[:count]]
        return results[count:]

    def save(self) -> State:
        return {"source": self.source.save(), "state": self._state}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._state = list(state["state"])


@scan_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, initial: Sequence[Any], arguments: Sequence[Any], *, f: Any) -> Dataset:
    start, function = [kept(value) for value in initial], with_arguments(ctx, f, arguments)
    return FromRecipe(lambda source, call: _Scan(source.iterator(), start, call), dataset, function)
