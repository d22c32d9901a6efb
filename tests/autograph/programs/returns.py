"""Returns from anywhere."""

# Programs as people write them.
# ruff: noqa: PLR5501, RET504

from tests.autograph.programs.registry import program


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
