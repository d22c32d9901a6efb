// What the pointer does on the page: values of curves, one run brought out everywhere, ranges of axes, order of rows.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// ---- one run everywhere

const marked = new Map(); // run -> its curves and rows
for (const element of all("[data-run]")) {
  const run = +element.dataset.run;
  if (!marked.has(run)) marked.set(run, []);
  marked.get(run).push(element);
}
let shown = null;
function bringOut(run) {
  if (run === shown) return;
  for (const element of marked.get(shown) ?? []) element.classList.remove("on");
  for (const element of marked.get(run) ?? []) element.classList.add("on");
  document.body.classList.toggle("focus", run !== null && data.runs.length > 1);
  shown = run;
}
function say(event, lines) {
  tip.replaceChildren(...lines.flatMap((line, at) => {
    const part = document.createElement(at ? "b" : "span");
    part.textContent = line;
    return at ? [document.createElement("br"), part] : [part];
  }));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const above = event.clientY - box.height - 12;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 8 ? above : event.clientY + 18}px`;
}
function quiet() {
  tip.hidden = true;
  bringOut(null);
}
const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 });

// ---- curves

all("svg.curves").forEach((svg) => {
  const panel = data.panels[+svg.dataset.panel];
  const [cross, dot] = [svg.querySelector(".cross"), svg.querySelector(".dot")];
  const scale = ([low, high, start, end], log) => (value) =>
    start + (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)) * (end - start);
  const [x, y] = [scale(panel.x, false), scale(panel.y, panel.log)];
  const curves = panel.curves.map(([run, part, steps, values]) => ({
    run, part, steps, values, xs: steps.map(x), ys: values.map(y),
  }));
  function nearest(at) {
    let best = null;
    for (const curve of curves) {
      if (out.has(curve.run)) continue;
      for (let place = 0; place < curve.xs.length; place++) {
        const distance = (2 * (curve.xs[place] - at.x)) ** 2 + (curve.ys[place] - at.y) ** 2;
        if (best === null || distance < best.distance) best = { distance, curve, place };
      }
    }
    return best;
  }
  svg.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const found = nearest(at);
    if (found === null) return;
    const { curve, place } = found;
    for (const [element, name, value] of [[cross, "x1", curve.xs], [cross, "x2", curve.xs], [dot, "cx", curve.xs], [dot, "cy", curve.ys]])
      element.setAttribute(name, value[place]);
    cross.style.visibility = dot.style.visibility = "visible";
    bringOut(curve.run);
    const part = curve.part ? `${curve.part} ` : "";
    say(event, [data.runs[curve.run], `${part}${panel.title} ${number(curve.values[place])}`, `step ${number(curve.steps[place])}`]);
  });
  svg.addEventListener("pointerleave", () => {
    cross.style.visibility = dot.style.visibility = "hidden";
    quiet();
  });
});

// ---- rows and lines of other charts

for (const element of all("tr[data-run], .parallel [data-run]")) {
  const run = +element.dataset.run;
  element.addEventListener("pointerenter", (event) => {
    bringOut(run);
    if (element.tagName === "path") say(event, [data.runs[run], ...data.told[run]]);
  });
  element.addEventListener("pointerleave", quiet);
}

// ---- ranges of parallel coordinates: drag along an axis, click on it to take the range away

const out = new Set();
for (const svg of all("svg.parallel")) {
  const { axes, top, bottom } = data.parallel;
  const ranges = new Map();
  const place = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return Math.min(bottom, Math.max(top - 8, at.y));
  };
  const apply = () => {
    out.clear();
    axes[0].forEach((_, run) => {
      for (const [axis, [low, high]] of ranges) if (axes[axis][run] < low || axes[axis][run] > high) out.add(run);
    });
    for (const [run, elements] of marked) for (const element of elements) element.classList.toggle("out", out.has(run));
    const told = document.getElementById("chosen");
    told.textContent = ranges.size ? `${axes[0].length - out.size} of ${axes[0].length} runs are in the ranges.` : "";
  };
  for (const group of all(".axis", svg)) {
    const axis = +group.dataset.axis;
    const [grip, brush] = [group.querySelector(".grip"), group.querySelector(".brush")];
    let begin = null;
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      begin = place(event);
    });
    grip.addEventListener("pointermove", (event) => {
      if (begin === null) return;
      const [low, high] = [begin, place(event)].sort((a, b) => a - b);
      if (high - low < 4) return;
      ranges.set(axis, [low, high]);
      brush.setAttribute("y", low);
      brush.setAttribute("height", high - low);
      apply();
    });
    grip.addEventListener("pointerup", (event) => {
      if (Math.abs(place(event) - begin) < 4) {
        ranges.delete(axis);
        brush.setAttribute("height", 0);
        apply();
      }
      begin = null;
    });
  }
}

// ---- order of rows

for (const head of all("th button")) {
  head.addEventListener("click", () => {
    const cell = head.closest("th");
    const down = cell.getAttribute("aria-sort") === "ascending";
    for (const other of cell.parentElement.children) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = cell.closest("table").tBodies[0];
    const key = (row) => row.children[cell.cellIndex].dataset.v ?? row.children[cell.cellIndex].textContent;
    const rows = [...body.rows].sort((a, b) => {
      const [left, right] = [key(a), key(b)];
      if (left === "" || right === "") return (left === "") - (right === "");
      const order = isNaN(left) || isNaN(right) ? left.localeCompare(right, "en", { numeric: true }) : left - right;
      return down ? -order : order;
    });
    body.append(...rows);
  });
}
