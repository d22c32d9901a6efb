"""`python -m experiments.staleness`: asynchronous training with and without remedies for gradients that come late.

Prints a table and draws the training loss against the steps and against the time. Given at the root of the repository.
"""

from __future__ import annotations

from pathlib import Path

from experiments.variants import Course, arguments, run

VARIANTS = {
    "async": [],
    "damping 1": ["update.staleness.damping=1"],
    "drop above 2": ["update.staleness.drop_above=2"],
    "warm-up 200": ["update.staleness.warmup_steps=200"],
    "sync": ["update=sync", "train.batch_size=160"],
}
_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#9c6b4e")


def main() -> None:
    given = arguments("staleness")
    courses = run("staleness", VARIANTS, given.out, given.words)
    print("\n".join(table(courses)))
    draw(courses, given.out / "staleness.png")
    print(f"drawn in {given.out / 'staleness.png'}")


def table(courses: dict[str, Course]) -> list[str]:
    lines = [
        "| | staleness, mean | longest | dropped | loss (train) | loss (test) | accuracy (test) | steps/s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, course in courses.items():
        numbers, late = course.result["numbers"], list(course.result.get("staleness", {}).values())
        gradients = sum(sum(one["counts"]) for one in late)
        cells = [
            name,
            f"{sum(one['sum'] for one in late) / gradients:.2f}" if late else "0",
            str(max(one["most"] for one in late)) if late else "0",
            str(sum(course.result["dropped"].values())) if "dropped" in course.result else "",
            f"{numbers['train']['loss']:.4g}",
            f"{numbers['test']['loss']:.4g}",
            f"{numbers['test']['accuracy']:.4f}",
            f"{course.result['timing']['steps_per_second']:,.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def draw(courses: dict[str, Course], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for (name, course), colour in zip(courses.items(), _COLOURS, strict=True):
        left.plot(course.steps, course.train, color=colour, linewidth=1.8, label=name)
        right.plot(course.seconds, course.train, color=colour, linewidth=1.8)
    for axes, what in ((left, "step"), (right, "seconds")):
        axes.set_yscale("log")
        axes.set_xlabel(what)
        axes.grid(True, color="#e6e6e6", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("training loss")
    left.legend(frameon=False, fontsize=9)
    figure.savefig(path)


if __name__ == "__main__":
    main()
