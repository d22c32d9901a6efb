"""What is in lists: that a change leaves what was there before as it was, and what it costs."""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tfexp.ops.tensor_list_elements import Elements

Change = Callable[[Elements, int], Elements]


def numbered(count: int) -> Elements:
    return Elements({position: position for position in range(count)})


@pytest.mark.parametrize("count", [5, 50])
def test_each_value_stays_what_it_was(count: int) -> None:
    draw = random.Random(count)
    values: list[tuple[Elements, dict[int, int]]] = [(numbered(count), {p: p for p in range(count)})]
    for step in range(400):
        elements, expected = values[draw.choice([-1, -1, -1, draw.randrange(len(values))])]
        changes = {draw.randrange(count + 3): draw.choice([None, step]) for _ in range(draw.choice([1, 1, 1, 9]))}
        kept = {position: item for position, item in {**expected, **changes}.items() if item is not None}
        values.append((elements.changed(changes), kept))
        elements, expected = values[draw.randrange(len(values))]
        assert elements.at(range(count + 3)) == [expected.get(position) for position in range(count + 3)]
    assert [elements.copy() for elements, _ in values] == [expected for _, expected in values]
    assert [len(elements) for elements, _ in values] == [len(expected) for _, expected in values]


def pushed(elements: Elements, step: int) -> Elements:
    return elements.changed({len(elements): step})


def popped(elements: Elements, step: int) -> Elements:
    return elements.changed({len(elements) - 1: None})


def pushed_and_popped(elements: Elements, step: int) -> Elements:
    return popped(pushed(elements, step), step)


def replaced(elements: Elements, step: int) -> Elements:
    return elements.changed({step: -step})


def replaced_in_one_place(elements: Elements, step: int) -> Elements:
    return elements.changed({0: step})


@pytest.mark.parametrize("change", [pushed, popped, pushed_and_popped, replaced, replaced_in_one_place])
@pytest.mark.parametrize("keeps", [False, True])
def test_changes_take_no_copy_of_all_elements_each(change: Change, keeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    copied, copy = 0, Elements._copy

    def counted(self: Elements) -> dict[int, Any]:
        nonlocal copied
        found = copy(self)
        copied += len(found)
        return found

    monkeypatch.setattr(Elements, "_copy", counted)
    count = 500
    elements, kept = numbered(count), []
    for step in range(count):
        if keeps:
            kept.append(elements)
        first = elements.at([0])
        elements = change(elements, step)
        assert not keeps or kept[-1].at([0]) == first  # even where the old one is still asked
    assert copied <= 4 * count


def test_an_old_value_does_not_keep_all_that_came_after_it() -> None:
    first = newest = numbered(50)
    written = []
    for _ in range(1000):
        item = np.zeros(1)
        written.append(weakref.ref(item))
        newest = newest.changed({0: item})
    del item
    assert first.at([0]) == [0]
    assert sum(item() is not None for item in written) <= 60


def test_threads_that_go_on_from_one_value() -> None:
    first = numbered(50)

    def work(thread: int) -> Elements:
        mine = first
        for step in range(200):
            mine = mine.changed({step % 60: (thread, step)})
            assert first.at([step % 50]) == [step % 50]
        return mine

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(work, range(4)))
    for thread, mine in enumerate(results):
        assert mine.at(range(60)) == [(thread, 180 + p if p < 20 else 120 + p) for p in range(60)]
    assert first.copy() == {position: position for position in range(50)}
