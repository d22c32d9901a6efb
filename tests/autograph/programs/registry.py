"""The programs, and their inputs."""

from collections.abc import Callable
from typing import Any

PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = []


def program(*inputs: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, list(inputs)))
        return function

    return register
