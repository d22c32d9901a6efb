"""Functions, methods, closures, decorators."""

# Programs as people write them.
# ruff: noqa: E731

from tests.autograph.programs.registry import program


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
def closures_of_several_names(x):
    y = 1
    _g = h = lambda: y
    k: object = lambda: y * 2
    if x > 2:
        y = 3
    return h() + k()


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


@program((3,), (-2,))
def functions_read_what_branches_have_changed(x):
    factor, left = 1, x
    twice = lambda: 2 * factor

    def scaled():
        return x * twice()

    if x > 0:
        factor = 5
        left = left - 1
    del left
    return scaled()
