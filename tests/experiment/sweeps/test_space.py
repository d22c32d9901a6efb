"""Hydra's words for several values, as dimensions of a space, and how searches walk it."""

from __future__ import annotations

import itertools
import math

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from tfexp.experiment.errors import SettingError
from tfexp.experiment.sweeps.searching import GridSearch, RandomSearch, Search
from tfexp.experiment.sweeps.space import Choices, Interval, Point, Space, space_of


def space(*words: str) -> Space:
    parse = OverridesParser.create().parse_override
    return space_of([parse(word) for word in words], lambda group: ["adam", "adagrad", "sgd"])


def points(search: Search) -> list[Point]:
    return list(iter(search.ask, None))


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("a=1,2", ("1", "2")),
        ("a=x,'y z',null,true,[1,2]", ("x", "'y z'", "null", "true", "[1,2]")),
        ("a=range(1,7,2)", ("1", "3", "5")),
        ("a=range(0,1,0.25)", ("0.0", "0.25", "0.5", "0.75")),
        ("a=sort(3,1,2)", ("1", "2", "3")),
        ("a=glob(ad*)", ("adam", "adagrad")),
        ("a=tag(log,choice(1,10))", ("1", "10")),
        ("a={x:1},{x:2}", ("{x:1}", "{x:2}")),
    ],
)
def test_several_values(word: str, values: tuple[str, ...]) -> None:
    (dimension,) = space(word).dimensions
    assert dimension.values == Choices(values)
    parse = OverridesParser.create().parse_override
    for value in values:
        assert not parse(f"a={value}").is_sweep_override()


def test_shuffle_is_the_same_every_time() -> None:
    assert space("a=shuffle(range(100))") == space("a=shuffle(range(100))")
    (dimension,) = space("a=shuffle(range(100))").dimensions
    assert isinstance(dimension.values, Choices)
    assert dimension.values.values != tuple(map(str, range(100)))
    assert sorted(dimension.values.values, key=int) == list(map(str, range(100)))


def test_intervals() -> None:
    found = [d.values for d in space("a=interval(0,1)", "b=tag(log,interval(1e-4,1))", "c=int(interval(3,5))").dimensions]
    assert found == [Interval(0.0, 1.0, False, False), Interval(1e-4, 1.0, True, False), Interval(3, 5, False, True)]
    plain, log, whole = (value for value in found if isinstance(value, Interval))
    assert plain.at(0.25) == "0.25"
    assert float(log.at(0.5)) == pytest.approx(1e-2)
    assert [whole.at(share) for share in (0.0, 0.3, 0.34, 0.66, 0.67, 0.999)] == ["3", "3", "4", "4", "5", "5"]
    assert float(plain.at(0.999999999)) <= 1.0


def test_conditions_leave_out_what_they_are_not_met_for() -> None:
    words = ["o=sgd,momentum", 'm=tag("o=momentum",choice(0.5,0.9))', "k=1,2"]
    assert [" ".join(f"{k}={v}" for k, v in point.items()) for point in points(GridSearch(space(*words)))] == [
        "o=sgd k=1", "o=sgd k=2",
        "o=momentum m=0.5 k=1", "o=momentum m=0.5 k=2", "o=momentum m=0.9 k=1", "o=momentum m=0.9 k=2",
    ]  # fmt: skip
    on_what_is_fixed = ["o=sgd", 'm=tag("o=momentum",choice(0.5,0.9))', "k=1,2"]
    assert points(GridSearch(space(*on_what_is_fixed))) == [{"k": "1"}, {"k": "2"}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a=tag(slow,choice(1,2))"], "a: the tag 'slow' is neither log nor a condition \"key=value\""),
        (['a=tag("b=1",choice(1,2))', "b=1,2"], "a: its tag 'b=…' is a condition on what is given before it, and b is not"),
        (["a=interval(2,1)"], "a: interval(2, 1) is empty: its start must be below its end"),
        (["a=tag(log,interval(0,1))"], "a: tag(log, …) needs a start above 0, and it is 0"),
        (["a=glob(z*)"], "a: no choice is like 'a=glob(z*)'"),
    ],
)
def test_what_cannot_be(words: list[str], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        space(*words)
    assert str(caught.value) == message


def test_grid_needs_single_values() -> None:
    with pytest.raises(SettingError, match="a: a grid needs single values"):
        GridSearch(space("a=interval(0,1)"))


def test_grid_has_every_combination_the_last_fastest() -> None:
    found = points(GridSearch(space("x=7", "a=1,2", "b=range(3)")))
    assert found == [{"a": a, "b": b} for a, b in itertools.product("12", "012")]


def test_random_points_are_a_function_of_the_seed() -> None:
    of = space("a=tag(log,interval(1e-4,1))", "b=x,y,z", "c=int(interval(1,50))")
    assert points(RandomSearch(of, 30, 5)) == points(RandomSearch(of, 30, 5))
    assert points(RandomSearch(of, 30, 5)) != points(RandomSearch(of, 30, 6))
    assert points(RandomSearch(of, 30, 5))[:20] == points(RandomSearch(of, 20, 5))


def test_random_points_cover_the_space_evenly() -> None:
    found = points(RandomSearch(space("a=tag(log,interval(1e-4,1))", "b=x,y,z"), 600, 0))
    exponents = [math.log10(float(point["a"])) for point in found]
    for low in (-4, -3, -2, -1):
        assert 120 <= sum(low <= exponent < low + 1 for exponent in exponents) <= 180
    for value in "xyz":
        assert 160 <= sum(point["b"] == value for point in found) <= 240


def test_random_search_of_a_small_space_ends_when_it_has_all() -> None:
    found = points(RandomSearch(space("a=1,2,3", "b=1,2"), 50, 0))
    assert len(found) == 6
    assert len({tuple(point.items()) for point in found}) == 6
