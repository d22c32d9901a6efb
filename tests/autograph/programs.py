"""Small programs of Python's control flow, with inputs: a graph must make of tensors what Python makes of numbers."""

# Programs as people write them.
# ruff: noqa: E731, PLR0133, PLR5501, RET504, RUF021, SIM222, SIM223

from collections.abc import Callable
from typing import Any

PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = []


def program(*inputs: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, list(inputs)))
        return function

    return register


# --- branches -----------------------------------------------------------------------------------------------------------


@program((5,), (-3,))
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@program((5,), (-3,))
def if_without_else(x):
    y = x
    if x > 0:
        y = y * 7
    return y


@program((5,), (0,), (-3,))
def elif_chain(x):
    if x > 2:
        y = 1
    elif x < -2:
        y = 2
    elif x == 99:  # never of tensors: they are compared by identity
        y = 3
    else:
        y = 4
    return y


@program((5, 2), (5, 9), (-1, 2), (-1, 9))
def nested_ifs(x, y):
    z = 0
    if x > 0:
        z = z + x
        if y > 3:
            z = z * y
        else:
            x = x + 1
    else:
        if y > 3:
            z = y
    return z + x


@program((5,), (-3,))
def temporaries(x):
    t = x
    if x > 0:
        t = t + 1
        y = t
    else:
        y = t
    return y


@program((5,), (-3,))
def several_values(x):
    if x > 0:
        a, b = x, x + 1
    else:
        a, b = 1, 2
    return a * 10 + b


@program((5,), (-3,))
def swapped(x):
    a, b = x, 3
    if a > b:
        a, b = b, a
    return a * 100 + b


@program((5,), (-3,))
def structures(x):
    if x > 0:
        p = (x, {"k": x + 1, "l": [x, 2]})
    else:
        p = (7, {"k": x, "l": [3, x]})
    return p[0] + p[1]["k"] + p[1]["l"][0] * p[1]["l"][1]


@program((5,), (-3,))
def augmented(x):
    y = 1
    if x > 0:
        y += x
    else:
        y -= x
    y *= 2
    return y


@program((5,), (-3,))
def deleted(x):
    y = x
    if x > 0:
        del y
        y = 2
    return y


@program((5,), (-3,))
def changed_parameter(x):
    if x > 0:
        x = x + 1
    return x


@program((5, 3), (2, 3))
def python_and_tensor_conditions(x, y):
    z = 0
    for k in (1, 2, 3):
        if k == 2:
            z = z + x
        elif x > y:
            z = z + y * k
    return z


# --- expressions --------------------------------------------------------------------------------------------------------


@program((5,), (-3,))
def conditional_expression(x):
    return x if x > 0 else -x


@program((5,), (1,), (-3,))
def nested_conditional_expressions(x):
    return (x if x > 3 else x * 10) if x > 0 else -x


@program((5,), (11,), (-3,))
def logical(x):
    y = x > 0 and x < 10
    z = x < 0 or x > 10
    return (y, z, not y, not (y or z))


@program((5,), (11,), (0,))
def chained_comparisons(x):
    return (0 < x < 10, 0 <= x <= 5 < 9, x > 3 > 1)


@program((5,), (11,), (0,))
def condition_of_several(x):
    if x > 0 and not x > 10 or x < -5:
        return 1
    return 2


@program((5,), (-3,))
def conditional_argument(x):
    def double(y):
        return y * 2

    return double(x if x > 0 else 1)


@program((5,), (-3,))
def python_values_of_and_or(x):
    name = None or "y"
    empty = [] and x
    return (x if name == "y" else 0), (1 if not empty else 2)


# --- return -------------------------------------------------------------------------------------------------------------


@program((5,), (-3,))
def early_return(x):
    if x > 0:
        return x * 2
    return x - 1


@program((5,), (2,), (-3,))
def several_early_returns(x):
    if x > 4:
        return 1
    y = x * 2
    if y > 2:
        y = y + 1
        return y
    y = y - 5
    return y * x


@program((5, 5), (5, 1), (1, 5), (1, 1))
def returns_in_nested_branches(x, y):
    if x > 2:
        if y > 2:
            return 1
        z = 2
    else:
        if y > 2:
            z = 3
        else:
            return 4
    return z * 10


@program((5,), (-3,))
def return_tuples(x):
    if x > 0:
        return x, 1
    return 2, x


@program((5, 1), (-3, 1), (5, 9))
def return_else(x, y):
    if x > 0:
        if y > 5:
            return y
        else:
            return x
    else:
        return 0


@program((3,), (0,))
def return_out_of_python_loop(x):
    for i in range(4):
        if i == 2:
            return x + i
    return -1


@program((3,))
def return_in_with_and_try(x):
    import contextlib

    with contextlib.nullcontext(x) as y:
        if y is not None:
            try:
                return y + 1
            finally:
                x = 0
    return x


@program((5,), (1,))
def return_out_of_try(x):
    try:
        if x > 2:
            return x
        x = x + 1
    finally:
        x = x * 100
    return x


@program((5,), (1,))
def return_out_of_with(x):
    import contextlib

    with contextlib.nullcontext():
        if x > 2:
            return x
    return 2


@program((2,), (9,), (13,))
def return_out_of_loop(x):
    i = 2
    while i * i <= x:
        if x % i < 1:
            return i
        i += 1
    return 1


@program((5,), (1,))
def return_out_of_loops(x):
    for i in range(x):
        for j in range(x):
            if i + j > 4:
                return i * 10 + j
    return -1


# --- while --------------------------------------------------------------------------------------------------------------


@program((5,), (0,), (40,))
def halvings(x):
    n = 0
    while x > 1:
        x = x // 2
        n += 1
    return n


@program((5,), (0,), (12,))
def while_and(x):
    n = 0
    while x > 1 and n < 3:
        x = x // 2
        n += 1
    return n * 10 + x


@program((5,), (0,), (12,))
def while_break(x):
    n = x - x
    while n < 10:
        n += 1
        if n > x:
            break
        n += 1
    return n


@program((5,), (0,), (12,))
def while_continue(x):
    n, s = 0, 0
    while n < x:
        n += 1
        if n % 3 > 1:
            continue
        s += n
    return s


@program((5,), (0,), (3,))
def while_without_end(x):
    n = x - x
    while n > -1:
        n += 1
        if n > x:
            break
    return n


@program((3, 4), (0, 3), (2, 0))
def nested_whiles(x, y):
    s, i = 0, 0
    while i < x:
        j = 0
        while j < y:
            if j > i:
                break
            s += i * j + 1
            j += 1
        i += 1
    return s


@program((6,), (1,), (9,))
def collatz(x):
    n = 0
    while x > 1:
        if x % 2 > 0:
            x = 3 * x + 1
        else:
            x = x // 2
        n += 1
    return n


@program((5,), (0,))
def while_else(x):
    n = 0
    while n < x:
        n += 2
        if n > 3:
            break
    else:
        n = 50
    return n


@program((5,), (0,))
def while_of_tuple(x):
    p = (0, 1)
    while p[0] < x:
        p = (p[1], p[0] + p[1])
    return p[0]


@program((5,))
def python_while(x):
    i = 0
    while i < 3:
        x = x + i
        i += 1
    return x


# --- for ----------------------------------------------------------------------------------------------------------------


@program((5,), (0,), (-2,))
def for_range(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


@program((2, 9), (4, 1), (3, 3))
def for_range_from(a, b):
    s = 0
    for i in range(a, b):
        s = s * 2 + i
    return s


@program((2, 9, 3), (9, 2, -2), (2, 9, -1), (9, 1, 3))
def for_range_by(a, b, c):
    s = 0
    for i in range(a, b, c):
        s = s * 2 + i
    return s


@program(([1, 2, -3, 4],), ([3],))
def for_vector(v):
    s = 0
    for a in v:
        s += a
    return s


@program(([1, 2, -3, 4],), ([1, 20, 3],), ([-1],))
def for_break_continue(v):
    s = 0
    for a in v:
        if a < 0:
            continue
        if a > 10:
            break
        s += a
    return s


@program(([[1, 2], [3, 4], [5, 6]],))
def for_rows(m):
    s = 0
    for row in m:
        for a in row:
            s = s * 10 + a
    return s


@program(([1, 2, -3, 4], 2), ([3, 1, 1], 1))
def for_with_condition_inside(v, k):
    n, largest = 0, -100
    for a in v:
        if a > k:
            n += 1
        elif a > largest:
            largest = a
    return n, largest


@program((5,), (2,))
def for_python_list(x):
    s = 0
    for i in [1, 2, 3]:
        if x > i:
            s += i
        else:
            s += 10
    return s


@program((4,), (6,))
def for_python_break(x):
    s = 0
    for i in range(10):
        if i == 3:
            break
        s += x
    else:
        s = -1
    return s


@program((4,), (6,))
def for_dict_items(x):
    s = 0
    for key, value in {"a": 1, "b": 2}.items():
        if key == "b":
            s += value * x
    return s


@program((5,), (3,))
def nested_for(n):
    s = 0
    for i in range(n):
        for j in range(i):
            if j > 2:
                break
            if (i + j) % 2 > 0:
                continue
            s += i * j
    return s


@program(([4, 5, 6],))
def for_with_else(v):
    s = 0
    for a in v:
        if a > 100:
            break
        s += a
    else:
        s += 1000
    return s


@program((5,))
def python_list_append(x):
    values = []
    for i in range(3):
        values.append(x * i)
    return sum(values)


@program((5,))
def comprehensions(x):
    return sum([x * i for i in range(3) if i > 0]) + {k: x + k for k in (1, 2)}[2]


# --- functions ----------------------------------------------------------------------------------------------------------


@program((5,), (1,))
def inner_function(x):
    def g(y):
        if y > 2:
            return y * 3
        return y

    return g(x) + g(x + 1)


@program((5,), (1,))
def inner_lambda(x):
    g = lambda y: y * 3 if y > 2 else y
    return g(x) + g(x + 1)


def _outer(y):
    if y > 2:
        return _second(y)
    return y


def _second(y):
    while y < 20:
        y = y * 2
    return y


@program((5,), (1,))
def called_functions(x):
    return _outer(x) * 100 + _outer(x - 3)


@program((5,), (1,))
def closures(x):
    n = 0

    def add(y):
        nonlocal n
        if y > 2:
            n = n + y
        return n

    add(x)
    add(3)
    return n


@program((5,), (1,))
def closure_that_is_used_later(x):
    y = 1
    g = lambda: y
    for i in (1, 2):
        y = y + i
    return g() + x


@program((5,), (1,))
def defaults(x):
    def g(a, b=3, *rest, c=4, **more):
        if a > b:
            return a * c
        return b + c

    return g(x) + g(x, 1) + g(x, c=2) + g(x, 1, 7, d=1)


class _Counter:
    def __init__(self, start):
        self.value = start

    def add(self, x):
        if x > 2:
            self.value = self.value + x
        return self.value

    def __call__(self, x):
        return x * 2 if x > 2 else x

    @property
    def doubled(self):
        return self.value * 2

    @staticmethod
    def sign(x):
        return 1 if x > 0 else -1

    @classmethod
    def of(cls, x):
        return cls.sign(x) * 2

    def __hidden(self, x):
        return x + 1 if x > 2 else x

    def hidden(self, x):
        __kept = 0
        if x > 3:
            __kept = self.__hidden(x)
        return __kept


class _Twice(_Counter):
    def add(self, x):
        if x > 1:
            y = super().add(x) * 2
        else:
            y = 0
        return y


@program((5,), (1,))
def methods(x):
    c = _Counter(3)
    return c.add(x) + c(x) + c.sign(x) + _Counter.of(x) + c.hidden(x) + c.doubled * 1


@program((5,), (2,), (0,))
def inherited_method(x):
    return _Twice(3).add(x)


@program((5,), (1,))
def partial_functions(x):
    import functools

    def g(a, b):
        return a if a > b else b

    return functools.partial(g, 3)(x) + functools.partial(g, b=2)(x)


@program((5,), (1,))
def recursion(x):
    def g(n, y):
        if n == 0:
            return y
        if y > 3:
            y = y - 1
        return g(n - 1, y)

    return g(3, x)


@program((5, 1), (1, 7))
def recursion_by_name(x, y):
    if x is None:
        return y
    if y > 3:
        y = y * 2
    return recursion_by_name(None, y + x)


class _Chain:
    def __init__(self, x):
        self.x = x

    def following(self):
        return _Chain(self.x + 1 if self.x > 2 else self.x * 10)


@program((5,), (1,))
def class_by_name(x):
    return _Chain(x).following().following().x


@program((5,), (1,))
def decorated(x):
    import functools

    def twice(f):
        @functools.wraps(f)
        def wrapper(y):
            return f(f(y))

        return wrapper

    @twice
    def g(y):
        if y > 2:
            return y - 1
        return y * 5

    return g(x)


# --- other statements ---------------------------------------------------------------------------------------------------


@program((5,), (1,))
def try_and_with(x):
    import contextlib

    try:
        with contextlib.nullcontext():
            if x > 2:
                y = x * 2
            else:
                y = x
        if y is None:
            raise ValueError
    except ValueError as error:
        y = error
    finally:
        y = y + 1
    return y


@program((5,), (1,))
def caught(x):
    y = 0
    for i in range(3):
        try:
            if i == 1:
                raise KeyError(i)
            y += i
        except KeyError:
            continue
        else:
            y += x
    return y


@program((5,), (1,))
def matched(x):
    y = 0
    for value in (1, "a", (2, 3)):
        match value:
            case int(n):
                y += n
            case (a, b):
                if x > 2:
                    y += a * b
            case _:
                continue
        y += 100
    return y


@program((5,))
def asserted(x):
    assert x > -100, "too small"
    assert True
    return x


@program((5,), (1,))
def walrus(x):
    if (y := x + 1) > 3:
        z = y
    else:
        z = -y
    return z


_GLOBAL = 1


@program((5,), (1,))
def global_variable(x):
    global _GLOBAL
    if x > 2:
        _GLOBAL = x * 2
    else:
        _GLOBAL = x
    return _GLOBAL


@program((5,), (1,))
def is_none(x):
    if x is None:
        return 1
    elif x is not None and x > 2:
        return 2
    return 3


@program(([3, 4, 5],))
def length(v):
    n = len(v)
    if n > 2:
        return n * 2
    return n


@program((5,), (1,))
def to_numbers(x):
    y = float(x) / 2.0
    return int(y)


@program((5,), (1,))
def f_strings(x):
    text = f"{'yes' if x is not None else 'no'}"
    return x + len(text)
