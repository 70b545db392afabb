// Drawings to touch, each in the element and from the numbers of its name: costs and errors of methods with linked marks,
// members of an ensemble that collapse, curves of a model, an ensemble on its way to its kernel machine.
document.addEventListener("DOMContentLoaded", () => {
  const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
  const [WIDTH, HEIGHT, LEFT, FOOT, TOP, RIGHT] = [340, 260, 44, 40, 22, 12];

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
  const across = (low, high, log = false) => scale(low, high, LEFT, WIDTH - RIGHT, log);
  const upwards = (low, high) => scale(low, high, HEIGHT - FOOT, TOP, false);
  // A panel with its axes: what is drawn for a reader who does not see it, what stands above it, and below.
  function panel(box, said, x, y, above, below) {
    const svg = addElement(box, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said });
    for (const t of y.ticks) {
      level(svg, y.place(t), { class: "grid" });
      addElement(svg, "text", { x: LEFT - 6, y: y.place(t) + 4, "text-anchor": "end" }, Number(t.toPrecision(3)));
    }
    for (const t of x.ticks) addElement(svg, "text", { x: x.place(t), y: HEIGHT - 22, "text-anchor": "middle" }, Number(t.toPrecision(3)));
    addElement(svg, "text", { x: LEFT, y: 14 }, above);
    addElement(svg, "text", { x: WIDTH - RIGHT, y: HEIGHT - 5, "text-anchor": "end" }, below);
    return svg;
  }
  const level = (svg, y, attributes) => addElement(svg, "line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, ...attributes });
  const path = (svg, points, attributes) => addElement(svg, "polyline", { points: points.map((point) => point.join()).join(" "), ...attributes });
  const panelsOf = (box) => addElement(box, "div", { class: "panels" });
  const speaker = (box) => addElement(box, "output", { "aria-live": "polite" });

  function select(box, label, options, show) {
    const bar = addElement(box, "div", { class: "bar" });
    const field = addElement(addElement(bar, "label", {}, `${label} `), "select");
    for (const option of options) addElement(field, "option", {}, option);
    field.addEventListener("input", show);
    return field;
  }
  function range(box, name, counts, start, move) {
    const label = addElement(box, "label", {}, `${name} `);
    const slider = addElement(label, "input", { type: "range", min: 0, max: counts.length - 1, step: 1, value: start });
    const count = addElement(label, "output");
    const follow = () => {
      const i = Number(slider.value);
      count.textContent = ` ${counts[i]}`;
      slider.setAttribute("aria-valuetext", `${counts[i]} ${name.toLowerCase()}`);
      move(i);
    };
    slider.addEventListener("input", follow);
    return follow;
  }

  function fronts(box, { sets, costs }) {
    const field = select(box, "Dataset", Object.keys(sets), show);
    const buttons = addElement(box, "div", { class: "names", role: "group", "aria-label": "Show a method" });
    const said = speaker(box);
    const panels = panelsOf(box);
    const methods = [...new Set(Object.values(sets).flatMap(Object.keys))].sort();
    let kept = "SVM-Stump";
    const named = methods.map((method) => {
      const button = addElement(buttons, "button", { type: "button", "aria-pressed": "false" }, method);
      button.addEventListener("focus", () => mark(method));
      point(button, method);
      return button;
    });
    function point(element, method) {
      element.addEventListener("pointerenter", () => mark(method));
      element.addEventListener("pointerleave", () => mark(kept));
      element.addEventListener("click", () => mark((kept = method)));
    }
    function mark(method) {
      for (const dot of panels.querySelectorAll("circle")) dot.classList.toggle("marked", dot.dataset.method === method);
      named.forEach((button) => button.setAttribute("aria-pressed", button.textContent === method));
      const found = sets[field.value][method];
      said.textContent = found
        ? `${method} on ${field.value}: ${found[0].toFixed(1)} % errors; ${costs.map((cost, k) => `${found[k + 1].toPrecision(2)} ${cost}`).join(", ")}`
        : `${method} was not tried on ${field.value}.`;
    }
    function show() {
      panels.replaceChildren();
      const own = Object.entries(sets[field.value]);
      const errors = own.map(([, found]) => found[0]);
      const [low, high] = [Math.min(...errors), Math.max(...errors)];
      const room = 0.06 * (high - low || 1);
      const y = upwards(low - room, high + room);
      costs.forEach((cost, k) => {
        const points = own.map(([method, found]) => [Math.max(found[k + 1], 1e-6), found[0], method]);
        const paid = points.map(([a]) => a);
        const x = across(Math.min(...paid) / 1.3, Math.max(...paid) * 1.3, true);
        const svg = panel(panels, `test error against ${cost}`, x, y, "test error (%)", cost);
        let least = Infinity;
        const corners = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]).filter(([, error]) => error < least && ((least = error), true));
        const steps = corners.flatMap(([a, error], i) => [...(i ? [[a, corners[i - 1][1]]] : []), [a, error]]);
        path(svg, steps.map(([a, error]) => [x.place(a), y.place(error)]), { class: "front" });
        for (const [a, error, method] of points)
          point(addElement(svg, "circle", { cx: x.place(a), cy: y.place(error), r: 5, "data-method": method }), method);
      });
      mark(kept);
    }
    if ("heart" in sets) field.value = "heart";
    show();
  }

  function collapse(box, { points, counts, steps, machine }) {
    const follow = range(box, "Steps", counts, 0, move);
    const [x, y] = [across(-2.4, 2.4), upwards(-2.6, 2.6)];
    const svg = panel(panelsOf(box), "Points of two classes and the lines of the members", x, y, "", "two features");
    const said = speaker(box);
    for (const [a, b, positive] of points) {
      const [left, top] = [x.place(a), y.place(b)];
      if (positive) addElement(svg, "circle", { cx: left, cy: top, r: 3.5, class: "point" });
      else addElement(svg, "rect", { x: left - 3, y: top - 3, width: 6, height: 6, class: "point" });
    }
    const frame = { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - FOOT };
    addElement(addElement(svg, "clipPath", { id: "collapse-frame" }), "rect", frame);
    const line = (color, kind) => addElement(svg, "line", { stroke: color, class: kind, "clip-path": "url(#collapse-frame)" });
    // Where a line v x + w y + b = 0 leaves the frame.
    function put(element, [v, w, b]) {
      const steep = Math.abs(w) <= Math.abs(v);
      const ends = steep ? [-2.6, 2.6].map((c) => [-(w * c + b) / v, c]) : [-2.4, 2.4].map((c) => [c, -(v * c + b) / w]);
      const [[x1, y1], [x2, y2]] = ends.map(([c, d]) => [x.place(c), y.place(d)]);
      setAttributes(element, { x1, y1, x2, y2 });
    }
    put(line("currentColor", "curve machine"), machine);
    const lines = steps[0].map((_, k) => line(COLORS[k], "curve"));
    function spread(members) {
      const mean = members[0].map((_, j) => members.reduce((sum, one) => sum + one[j], 0) / members.length);
      const away = members.map((one) => Math.hypot(...one.map((value, j) => value - mean[j])));
      return Math.max(...away) / Math.hypot(...mean);
    }
    function move(i) {
      steps[i].forEach((parts, k) => put(lines[k], parts));
      const away = 100 * spread(steps[i]);
      said.textContent = `The member farthest from the mean is ${away < 10 ? away.toPrecision(2) : Math.round(away)} % of the mean's length away from it.`;
    }
    follow();
  }

  function curves(box, model) {
    const field = select(box, "Feature", Object.keys(model.curves), show);
    const panels = panelsOf(box);
    const said = speaker(box);
    const values = Object.values(model.curves).flat().map(([, value]) => value);
    const y = upwards(Math.min(...values) - 0.1, Math.max(...values) + 0.1);
    function show() {
      panels.replaceChildren();
      const name = field.value;
      const points = model.curves[name];
      const x = across(points[0][0], points.at(-1)[0]);
      const svg = panel(panels, `what ${name} adds to the score`, x, y, `adds to the score: above zero for ${model.above}`, name);
      path(svg, points.map(([a, b]) => [x.place(a), y.place(b)]), { class: "curve", stroke: COLORS[0] });
      const dot = addElement(svg, "circle", { r: 5, fill: COLORS[1], visibility: "hidden" });
      said.textContent = "Point at the curve to read it.";
      svg.addEventListener("pointermove", (event) => {
        const frame = svg.getBoundingClientRect();
        const place = ((event.clientX - frame.left) / frame.width) * WIDTH;
        const away = ([a]) => Math.abs(x.place(a) - place);
        const [a, b] = points.reduce((best, one) => (away(one) < away(best) ? one : best));
        setAttributes(dot, { cx: x.place(a), cy: y.place(b), visibility: "visible" });
        said.textContent = `${name} = ${a}: ${b > 0 ? "+" : ""}${b}, towards ${b > 0 ? model.above : model.below}`;
      });
    }
    show();
  }

  function limit(box, { counts, sets }) {
    const names = Object.keys(sets);
    const follow = range(box, "Stumps", counts, 3, move);
    const panels = panelsOf(box);
    const x = across(counts[0], counts.at(-1), true);
    // A curve for each dataset, and what moves the dots along them.
    function follower(metric, title) {
      const y = upwards(0, Math.max(...names.flatMap((name) => sets[name][metric])));
      const svg = panel(panels, `${title} against stumps`, x, y, title, "stumps");
      const cursor = addElement(svg, "line", { y1: TOP, y2: HEIGHT - FOOT, class: "cursor" });
      const dots = names.map((name, k) => {
        const stroke = COLORS[k % COLORS.length];
        path(svg, sets[name][metric].map((value, i) => [x.place(counts[i]), y.place(value)]), { stroke, class: "curve" });
        if (metric === "error") level(svg, y.place(sets[name].machine), { stroke, class: "machine" });
        return addElement(svg, "circle", { r: 5, fill: stroke });
      });
      return (i) => {
        const cx = x.place(counts[i]);
        setAttributes(cursor, { x1: cx, x2: cx });
        names.forEach((name, k) => setAttributes(dots[k], { cx, cy: y.place(sets[name][metric][i]) }));
      };
    }
    const moves = [follower("differ", "decisions that differ from the machine's (%)"), follower("error", "test error (%)")];
    const table = addElement(addElement(box, "div", { class: "table-wrapper" }), "table");
    const head = addElement(addElement(table, "thead"), "tr");
    for (const text of ["dataset", "objective, times the machine's", "decisions that differ, %", "test error, %", "the machine's, %"])
      addElement(head, "th", { scope: "col" }, text);
    const body = addElement(table, "tbody");
    const rows = names.map((name, k) => {
      const row = addElement(body, "tr");
      const first = addElement(row, "th", { scope: "row" });
      addElement(first, "span", { class: "key", style: `background: ${COLORS[k % COLORS.length]}`, "aria-hidden": "true" });
      first.append(name);
      return [0, 1, 2, 3].map(() => addElement(row, "td"));
    });
    function move(i) {
      moves.forEach((to) => to(i));
      names.forEach((name, k) => {
        const { excess, differ, error, machine } = sets[name];
        const texts = [(1 + excess[i]).toFixed(2), differ[i].toFixed(1), error[i].toFixed(1), machine.toFixed(1)];
        rows[k].forEach((cell, j) => (cell.textContent = texts[j]));
      });
    }
    follow();
  }

  for (const [name, drawing] of Object.entries({ fronts, collapse, curves, limit })) {
    const numbers = document.getElementById(`${name}-numbers`);
    if (numbers) drawing(document.getElementById(name), JSON.parse(numbers.textContent));
  }
});
