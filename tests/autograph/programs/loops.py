"""Loops."""

# Programs as people write them.

from tests.autograph.programs.registry import program


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
