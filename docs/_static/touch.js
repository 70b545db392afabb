// Three drawings: costs and errors of methods with linked marks, members of an ensemble that collapse, curves of a model.
document.addEventListener("DOMContentLoaded", () => {
  const NS = "http://www.w3.org/2000/svg";
  const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
  const [WIDTH, HEIGHT, LEFT, FOOT, TOP, RIGHT] = [340, 260, 44, 40, 22, 12];

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
  function numbers(name) {
    const data = document.getElementById(`${name}-numbers`);
    return data ? [document.getElementById(name), JSON.parse(data.textContent)] : [null, null];
  }
  // A scale from values to places; on a logarithmic one ticks are powers of ten.
  function scale(low, high, start, end, log) {
    const f = log ? Math.log10 : (value) => value;
    const place = (value) => start + ((f(value) - f(low)) / (f(high) - f(low) || 1)) * (end - start);
    const step = log ? Math.max(1, Math.ceil((f(high) - f(low)) / 4)) : 10 ** Math.floor(Math.log10(high - low || 1));
    const many = (high - low) / step;
    const wide = log ? step : step * (many > 5 ? 2 : many < 2 ? 0.2 : many < 4 ? 0.5 : 1);
    const ticks = [];
    for (let k = Math.ceil(f(low) / wide - 1e-9); k * wide <= f(high) + 1e-9; k++) ticks.push(log ? 10 ** (k * wide) : k * wide);
    return { place, ticks };
  }
  function axes(svg, x, y, below) {
    for (const t of y.ticks) {
      draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y.place(t), y2: y.place(t), class: "grid" }, svg);
      draw("text", { x: LEFT - 6, y: y.place(t) + 4, "text-anchor": "end" }, svg, Number(t.toPrecision(3)));
    }
    for (const t of x.ticks) draw("text", { x: x.place(t), y: HEIGHT - 22, "text-anchor": "middle" }, svg, Number(t.toPrecision(3)));
    draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 5, "text-anchor": "end" }, svg, below);
  }
  function select(box, label, options) {
    const field = make("select", make("label", box, `${label} `));
    for (const option of options) make("option", field, option);
    return field;
  }

  const [fronts, arena] = numbers("fronts");
  if (fronts) {
    const bar = make("div", fronts, undefined, { class: "bar" });
    const field = select(bar, "Dataset", Object.keys(arena.sets));
    const buttons = make("div", fronts, undefined, { class: "names", role: "group", "aria-label": "Show a method" });
    const said = make("output", fronts, "", { "aria-live": "polite" });
    const panels = make("div", fronts, undefined, { class: "panels" });
    const methods = [...new Set(Object.values(arena.sets).flatMap(Object.keys))].sort();
    let kept = "SVM-Stump";
    const named = methods.map((method) => {
      const button = make("button", buttons, method, { type: "button", "aria-pressed": "false" });
      for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => mark(method));
      button.addEventListener("pointerleave", () => mark(kept));
      button.addEventListener("click", () => mark((kept = method)));
      return button;
    });
    function mark(method) {
      const own = arena.sets[field.value];
      for (const dot of panels.querySelectorAll("circle")) dot.classList.toggle("marked", dot.dataset.method === method);
      named.forEach((button) => button.setAttribute("aria-pressed", button.textContent === method));
      const found = own[method];
      said.textContent = found
        ? `${method} on ${field.value}: ${found[0].toFixed(1)} % errors; ${arena.costs.map((cost, k) => `${found[k + 1].toPrecision(2)} ${cost}`).join(", ")}`
        : `${method} was not tried on ${field.value}.`;
    }
    function show() {
      panels.replaceChildren();
      const own = arena.sets[field.value];
      const errors = Object.values(own).map((found) => found[0]);
      const [low, high] = [Math.min(...errors), Math.max(...errors)];
      const y = scale(low - 0.06 * (high - low || 1), high + 0.06 * (high - low || 1), HEIGHT - FOOT, TOP, false);
      arena.costs.forEach((cost, k) => {
        const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `test error against ${cost}` }, panels);
        const costs = Object.values(own).map((found) => Math.max(found[k + 1], 1e-6));
        const x = scale(Math.min(...costs) / 1.3, Math.max(...costs) * 1.3, LEFT, WIDTH - RIGHT, true);
        axes(svg, x, y, cost);
        draw("text", { x: LEFT, y: 14 }, svg, "test error (%)");
        let least = Infinity;
        const corners = Object.values(own).map((found) => [Math.max(found[k + 1], 1e-6), found[0]]).sort((a, b) => a[0] - b[0] || a[1] - b[1])
          .filter(([, error]) => error < least && ((least = error), true));
        const steps = corners.flatMap(([a, error], i) => [...(i ? [[a, corners[i - 1][1]]] : []), [a, error]]);
        draw("polyline", { points: steps.map(([a, error]) => `${x.place(a)},${y.place(error)}`).join(" "), class: "front" }, svg);
        for (const [method, found] of Object.entries(own)) {
          const dot = draw("circle", { cx: x.place(Math.max(found[k + 1], 1e-6)), cy: y.place(found[0]), r: 5 }, svg);
          dot.dataset.method = method;
          dot.addEventListener("pointerenter", () => mark(method));
          dot.addEventListener("pointerleave", () => mark(kept));
          dot.addEventListener("click", () => mark((kept = method)));
        }
      });
      mark(kept);
    }
    field.value = "heart" in arena.sets ? "heart" : field.value;
    field.addEventListener("input", show);
    show();
  }

  const [collapse, ensemble] = numbers("collapse");
  if (collapse) {
    const label = make("label", collapse, "Steps ");
    const slider = make("input", label, undefined, { type: "range", min: 0, max: ensemble.counts.length - 1, step: 1, value: 0 });
    const count = make("output", label, "");
    const panels = make("div", collapse, undefined, { class: "panels" });
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Points of two classes and the lines of the members" }, panels);
    const said = make("output", collapse, "", { "aria-live": "polite" });
    const x = scale(-2.4, 2.4, LEFT, WIDTH - RIGHT, false);
    const y = scale(-2.6, 2.6, HEIGHT - FOOT, TOP, false);
    axes(svg, x, y, "two features");
    for (const [a, b, positive] of ensemble.points)
      draw(positive ? "circle" : "rect", positive ? { cx: x.place(a), cy: y.place(b), r: 3.5, class: "point" } : { x: x.place(a) - 3, y: y.place(b) - 3, width: 6, height: 6, class: "point" }, svg);
    // Where a line w.x + b = 0 leaves the frame.
    function ends([v, w, b]) {
      return Math.abs(w) > Math.abs(v)
        ? [-2.4, 2.4].map((a) => [a, -(v * a + b) / w])
        : [-2.6, 2.6].map((a) => [-(w * a + b) / v, a]);
    }
    draw("clipPath", { id: "collapse-frame" }, svg).append(draw("rect", { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - FOOT }, svg));
    function line(color, kind) {
      return draw("line", { stroke: color, class: kind, "clip-path": "url(#collapse-frame)" }, svg);
    }
    function put(element, parts) {
      const [[a, b], [c, d]] = ends(parts);
      for (const [name, value] of Object.entries({ x1: x.place(a), y1: y.place(b), x2: x.place(c), y2: y.place(d) })) element.setAttribute(name, value);
    }
    put(line("currentColor", "curve machine"), ensemble.machine);
    const lines = ensemble.steps[0].map((_, k) => line(COLORS[k], "curve"));
    const spread = (members) => {
      const mean = members[0].map((_, j) => members.reduce((sum, one) => sum + one[j], 0) / members.length);
      const away = members.map((one) => Math.hypot(...one.map((value, j) => value - mean[j])));
      return Math.max(...away) / Math.hypot(...mean);
    };
    function move() {
      const i = Number(slider.value);
      ensemble.steps[i].forEach((parts, k) => put(lines[k], parts));
      count.textContent = ` ${ensemble.counts[i]}`;
      slider.setAttribute("aria-valuetext", `${ensemble.counts[i]} steps`);
      const away = 100 * spread(ensemble.steps[i]);
      said.textContent = `The member farthest from the mean is ${away < 10 ? away.toPrecision(2) : Math.round(away)} % of the mean's length away from it.`;
    }
    slider.addEventListener("input", move);
    move();
  }

  const [curves, model] = numbers("curves");
  if (curves) {
    const bar = make("div", curves, undefined, { class: "bar" });
    const field = select(bar, "Feature", Object.keys(model.curves));
    const panels = make("div", curves, undefined, { class: "panels" });
    const said = make("output", curves, "");
    const all = Object.values(model.curves).flat().map(([, value]) => value);
    const y = scale(Math.min(...all) - 0.1, Math.max(...all) + 0.1, HEIGHT - FOOT, TOP, false);
    function show() {
      panels.replaceChildren();
      const points = model.curves[field.value];
      const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `what ${field.value} adds to the score` }, panels);
      const x = scale(points[0][0], points.at(-1)[0], LEFT, WIDTH - RIGHT, false);
      axes(svg, x, y, field.value);
      draw("text", { x: LEFT, y: 14 }, svg, `adds to the score: above zero for ${model.above}`);
      draw("polyline", { points: points.map(([a, b]) => `${x.place(a)},${y.place(b)}`).join(" "), class: "curve", stroke: COLORS[0] }, svg);
      const dot = draw("circle", { r: 5, fill: COLORS[1], visibility: "hidden" }, svg);
      said.textContent = "Point at the curve to read it.";
      svg.addEventListener("pointermove", (event) => {
        const frame = svg.getBoundingClientRect();
        const place = ((event.clientX - frame.left) / frame.width) * WIDTH;
        const [a, b] = points.reduce((best, point) => (Math.abs(x.place(point[0]) - place) < Math.abs(x.place(best[0]) - place) ? point : best));
        for (const [name, value] of Object.entries({ cx: x.place(a), cy: y.place(b), visibility: "visible" })) dot.setAttribute(name, value);
        said.textContent = `${field.value} = ${a}: ${b > 0 ? "+" : ""}${b}, towards ${b > 0 ? model.above : model.below}`;
      });
    }
    field.addEventListener("input", show);
    show();
  }
});
