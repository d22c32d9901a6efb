"""Branches and conditional expressions."""

# Programs as people write them.
# ruff: noqa: PLR0133, PLR5501, RUF021, SIM222, SIM223

from tests.autograph.programs.registry import program


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
