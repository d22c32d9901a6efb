"""Other statements, and syntax."""

# Programs as people write them.
# ruff: noqa: B007, B023, F841, RUF015, RUF046

from tests.autograph.programs.registry import program


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


@program((5,), (1,))
def annotated(x: "int") -> "int":
    if x > 2:
        y: int = 3
        z: int
        z = y
    else:
        y: int = 4
        z: int = 5
    w: int = y
    return w + z


@program((5,), (1,))
def positional_only(x, /, y=2, *, z=3):
    return x if x > y else z


@program((5,), (1,))
def class_inside(x):
    class K:
        v = 3

        def m(self, q):
            if q > 2:
                return q * self.v
            return q

        def n(self, q):
            return [self.m(q) for _ in range(2)][0]

    return K().m(x) + K().n(x)


@program((5,), (1,))
def star_targets(x):
    a, *b = [x, 2, 3]
    for i, (c, *d) in enumerate([(1, 2, 3), (4, x, 6)]):
        if c > 3:
            a = a + d[0]
    return a + b[0]


@program((5,), (1,))
def generator_expression(x):
    return sum(i * x for i in range(4) if i > 1)


@program((5,), (1,))
def walrus_in_comprehension(x):
    if any((last := i) > 2 for i in range(5)):
        return last + x
    return x


@program((5,), (1,))
def jumps_through_finally(x):
    out = []
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            out.append(i)
        finally:
            out.append(10)
    return x + sum(out)


@program((5,), (1,))
def while_pop(x):
    stack = [1, 2, 3]
    s = 0
    while stack:
        s += stack.pop()
        if s > 4:
            break
    return s + x


@program((5,), (1,))
def swallowed_exception(x):
    import contextlib

    with contextlib.suppress(ValueError):
        if x is not None:
            raise ValueError
        return 5
    return x + 1


@program((5,), (1,))
def except_star(x):
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except* ValueError as g:
        x = x + 1
    return x


@program((5,), (1,))
def decorators_with_arguments(x):
    import functools

    def arg(n):
        def deco(f):
            @functools.wraps(f)
            def w(*a):
                return f(*a) + n

            return w

        return deco

    @arg(2)
    @arg(3)
    def g(y):
        if y > 1:
            return y
        return 0

    return g(x)


@program((5,), (1,))
def lambdas_of_loop(x):
    fs = []
    for i in range(3):
        fs.append(lambda y, i=i: y * i)
    return sum(f(x) for f in fs)


@program((5,), (1,))
def late_binding_of_loop(x):
    fs = []
    for i in range(3):
        fs.append(lambda y: y * i)
    return sum(f(x) for f in fs)


@program((5,), (1,))
def nested_def_in_loop(x):
    s = 0
    for i in range(3):

        def g(y):
            if y > i:
                return y
            return i

        s = s + g(x)
    return s


@program((5,), (1,))
def deleted_in_loop(x):
    for i in range(3):
        t = i
        del t
    return x


@program((5,), (1,))
def imports(x):
    if x is not None:
        import math as mm
        from os import path
    return x + int(mm.floor(2.5)) + len(path.join("a"))


@program((5,), (1,))
def try_else(x):
    try:
        y = x
    except KeyError:
        return 0
    else:
        if y > 2:
            return 1
    return 2


@program((5,), (1,))
def ternary_in_default(x):
    def g(y, z=(1 if x is not None else 2)):
        return y * z

    return g(x)


@program((5,), (1,))
def any_arguments(*a):
    s = 0
    for v in a:
        if v > 1:
            s = s + v
    return s
