"""`python -m experiments.bandwidth`: the same training with parameters and gradients in 32 and in 16 bits on the wire.

Prints a table and draws the training loss, and how far each run is from that of 32 bits. Given at the root of the
repository.
"""

from __future__ import annotations

from pathlib import Path

from experiments.variants import Course, arguments, run

VARIANTS = {name: [f"cluster.wire_dtype={name}"] for name in ("float32", "bfloat16", "float16")}
_COLOURS = ("#4269d0", "#ff725c", "#6cc5b0")


def main() -> None:
    given = arguments("bandwidth")
    courses = run("bandwidth", VARIANTS, given.out, given.words)
    print("\n".join(table(courses)))
    draw(courses, given.out / "bandwidth.png")
    print(f"drawn in {given.out / 'bandwidth.png'}")


def kilobytes(course: Course) -> tuple[float, float]:
    """(sent, received) by a worker in a step, in the mean."""
    moved = course.result["timing"]["bytes_per_step"].values()
    return tuple(sum(one[way] for one in moved) / len(moved) / 1000 for way in ("sent", "received"))  # type: ignore[return-value]


def table(courses: dict[str, Course]) -> list[str]:
    lines = [
        "| | kB sent a step | kB received | loss (train) | loss (test) | accuracy (test) | steps/s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, course in courses.items():
        sent, received = kilobytes(course)
        numbers = course.result["numbers"]
        cells = [
            name,
            f"{sent:.1f}",
            f"{received:.1f}",
            f"{numbers['train']['loss']:.5g}",
            f"{numbers['test']['loss']:.5g}",
            f"{numbers['test']['accuracy']:.4f}",
            f"{course.result['timing']['steps_per_second']:,.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def draw(courses: dict[str, Course], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.8), dpi=120, layout="constrained")
    losses, apart, moved = figure.subplots(1, 3)
    exact = next(iter(courses.values()))
    for (name, course), colour in zip(courses.items(), _COLOURS, strict=True):
        losses.plot(course.steps, course.train, color=colour, linewidth=1.8, label=name)
        if course is not exact:
            off = [abs(one - other) / other for one, other in zip(course.train, exact.train, strict=True)]
            apart.plot(course.steps, off, color=colour, linewidth=1.8, label=name)
        moved.bar(name, sum(kilobytes(course)), color=colour, width=0.6)
    losses.set_yscale("log")
    apart.set_yscale("symlog", linthresh=1e-5)
    for axes, title in ((losses, "training loss"), (apart, "its distance from float32's, relative")):
        axes.set_xlabel("step")
        axes.set_title(title, fontsize=10, loc="left")
        axes.legend(frameon=False, fontsize=9)
    moved.set_title("kB that a worker moves in a step", fontsize=10, loc="left")
    for axes in (losses, apart, moved):
        axes.grid(True, color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


if __name__ == "__main__":
    main()
