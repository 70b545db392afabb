// A slider over the stumps of CGENS: how many decisions differ from the kernel machine's, and both test errors.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("limit");
  if (!box) return;
  const { counts, sets } = JSON.parse(document.getElementById("limit-numbers").textContent);
  const NS = "http://www.w3.org/2000/svg";
  const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"];
  const [WIDTH, HEIGHT, LEFT, FOOT, TOP] = [420, 260, 40, 34, 24];
  const names = Object.keys(sets);
  const last = Math.log(counts.at(-1));
  const x = (count) => LEFT + (Math.log(count) / last) * (WIDTH - LEFT - 12);

  function draw(name, attributes, parent, text) {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }
  function make(name, parent, text, attributes = {}) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  }

  const label = make("label", box, "Stumps ");
  const slider = make("input", label, undefined, { type: "range", min: 0, max: counts.length - 1, step: 1, value: 3 });
  const count = make("output", label, "");
  const panels = make("div", box, undefined, { class: "panels" });

  function panel(metric, title) {
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title} against stumps` }, panels);
    const top = Math.max(...names.flatMap((name) => sets[name][metric]));
    const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - FOOT);
    draw("text", { x: LEFT, y: 14 }, svg, title);
    for (const share of [0, 0.5, 1]) {
      draw("line", { x1: LEFT, x2: WIDTH - 12, y1: y(share * top), y2: y(share * top), class: "grid" }, svg);
      draw("text", { x: LEFT - 6, y: y(share * top) + 4, "text-anchor": "end" }, svg, (share * top).toFixed(0));
    }
    for (const tick of counts.filter((_, i) => i % 3 === 0))
      draw("text", { x: x(tick), y: HEIGHT - 14, "text-anchor": "middle" }, svg, tick);
    const cursor = draw("line", { y1: TOP, y2: HEIGHT - FOOT, class: "cursor" }, svg);
    const dots = names.map((name, k) => {
      const color = COLORS[k % COLORS.length];
      const line = sets[name][metric].map((value, i) => `${x(counts[i])},${y(value)}`).join(" ");
      draw("polyline", { points: line, stroke: color, class: "curve" }, svg);
      if (metric === "error")
        draw("line", { x1: LEFT, x2: WIDTH - 12, y1: y(sets[name].machine), y2: y(sets[name].machine), stroke: color, class: "machine" }, svg);
      return draw("circle", { r: 5, fill: color }, svg);
    });
    return (i) => {
      cursor.setAttribute("x1", x(counts[i]));
      cursor.setAttribute("x2", x(counts[i]));
      names.forEach((name, k) => {
        dots[k].setAttribute("cx", x(counts[i]));
        dots[k].setAttribute("cy", y(sets[name][metric][i]));
      });
    };
  }
  const moves = [panel("differ", "decisions that differ from the machine's (%)"), panel("error", "test error (%)")];

  const table = make("table", make("div", box, undefined, { class: "table-wrapper" }));
  const head = make("tr", make("thead", table));
  for (const text of ["dataset", "objective over the machine's", "decisions that differ", "test error", "the machine's"])
    make("th", head, text, { scope: "col" });
  const body = make("tbody", table);
  const lines = names.map((name, k) => {
    const row = make("tr", body);
    const first = make("th", row, "", { scope: "row" });
    make("span", first, "", { class: "key", style: `background: ${COLORS[k % COLORS.length]}`, "aria-hidden": "true" });
    first.append(name);
    return [0, 1, 2, 3].map(() => make("td", row, ""));
  });

  function move() {
    const i = Number(slider.value);
    count.textContent = ` ${counts[i]}`;
    slider.setAttribute("aria-valuetext", `${counts[i]} stumps`);
    moves.forEach((to) => to(i));
    names.forEach((name, k) => {
      const { excess, differ, error, machine } = sets[name];
      const texts = [`${(1 + excess[i]).toFixed(2)} times`, `${differ[i].toFixed(1)} %`, `${error[i].toFixed(1)} %`, `${machine.toFixed(1)} %`];
      lines[k].forEach((cell, j) => (cell.textContent = texts[j]));
    });
  }
  slider.addEventListener("input", move);
  move();
});
