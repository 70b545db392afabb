// The z-scores of the ledger's table as points, a line for each paper, and above them printed numbers against ours.
// Pointing at one names it and marks its row; dragging over z-scores filters the table and both drawings. What can be
// dragged can be typed: the two fields above do the same.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("ledger-table");
  const box = document.getElementById("ledger-plot");
  if (!table || !box) return;
  const [WIDTH, LEFT, RIGHT, LANE, FOOT, END] = [900, 84, 14, 46, 30, 12];
  const from = document.getElementById("ledger-from");
  const to = document.getElementById("ledger-to");
  const points = Array.from(table.tBodies[0].rows)
    .map((row) => ({ row, paper: row.cells[0].textContent, z: ledgerNumber(row.cells[7].textContent) }))
    .filter((point) => !Number.isNaN(point.z));
  const papers = [...new Set(points.map((point) => point.paper))];
  if (!papers.length) return;
  const height = papers.length * LANE + FOOT;
  const scale = (WIDTH - LEFT - RIGHT) / (2 * END);
  const x = (z) => LEFT + (Math.max(-END, Math.min(END, z)) + END) * scale;
  const inverse = (place) => (place - LEFT) / scale - END;

  const told = `z-scores of ${points.length} printed numbers; those beyond 12 are at the edge.`;
  const svg = addElement(box, "svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": told });
  const said = addElement(box, "output", {}, "Point at a dot to name it; drag to keep the rows between.");
  addElement(svg, "rect", { x: x(-2), y: 0, width: x(2) - x(-2), height: height - FOOT, class: "band" });
  const brush = addElement(svg, "rect", { x: 0, y: 0, width: 0, height: height - FOOT, class: "brush" });
  for (const z of [-12, -8, -4, -2, 0, 2, 4, 8, 12]) {
    addElement(svg, "line", { x1: x(z), x2: x(z), y1: height - FOOT, y2: height - FOOT + 5, class: "tick" });
    addElement(svg, "text", { x: x(z), y: height - 8, "text-anchor": "middle" }, String(z).replace("-", "−"));
  }
  papers.forEach((paper, lane) => {
    addElement(svg, "text", { x: 4, y: lane * LANE + LANE / 2 + 4 }, paper);
    const taken = new Map(); // points of nearly the same place stand above and below each other
    for (const point of points.filter((one) => one.paper === paper)) {
      const column = Math.round(x(point.z) / 6);
      const n = taken.get(column) ?? 0;
      taken.set(column, n + 1);
      const away = Math.ceil(n / 2) * (n % 2 ? -5 : 5);
      const y = lane * LANE + LANE / 2 + Math.max(-LANE / 2 + 4, Math.min(LANE / 2 - 4, away));
      point.dot = addElement(svg, "circle", { cx: x(point.z), cy: y, r: 3.4, class: point.row.cells[8].className });
      point.dot.point = point;
    }
  });

  const outputs = [said];
  const twins = scatter(document.getElementById("ledger-scatter"));

  // Every row with two positive numbers, on logarithmic axes: all of them, and those between 1 and 100.
  function scatter(place) {
    const pairs = Array.from(table.tBodies[0].rows)
      .map((row) => ({ row, numbers: [row.cells[4], row.cells[5]].map((cell) => parseFloat(cell.textContent)), twins: [] }))
      .filter(({ row, numbers }) => numbers.every((number) => number > 0) && !row.cells[8].matches(".v-stale, .v-other_task"));
    if (!place || !pairs.length) return [];
    const all = pairs.flatMap((pair) => pair.numbers).map(Math.log10);
    panel(place, pairs, Math.floor(Math.min(...all)), Math.ceil(Math.max(...all)));
    panel(place, pairs, 0, 2);
    outputs.push(addElement(place, "output", {}, "Point at a dot to name it."));
    for (const still of place.parentElement.querySelectorAll('img[src$="ledger_numbers.svg"]')) still.hidden = true;
    return pairs;
  }
  function panel(place, pairs, low, high) {
    const [SIDE, EDGE] = [420, 44];
    const at = (number) => ((Math.log10(number) - low) / (high - low)) * (SIDE - EDGE - 24);
    const [x0, y0] = [EDGE, SIDE - EDGE];
    const within = pairs.filter(({ numbers }) => numbers.every((number) => number >= 10 ** low && number <= 10 ** high));
    const svg = addElement(place, "svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", "aria-label": `${within.length} printed numbers against ours, on logarithmic axes` });
    addElement(svg, "line", { x1: x0, y1: y0, x2: x0 + at(10 ** high), y2: y0 - at(10 ** high), class: "tick" });
    const ticks = high - low > 3 ? Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)) : [1, 2, 5, 10, 20, 50, 100];
    for (const tick of ticks) {
      const text = tick < 0.01 || tick > 1000 ? `1e${Math.round(Math.log10(tick))}` : String(Number(tick.toPrecision(1)));
      addElement(svg, "text", { x: x0 + at(tick), y: y0 + 18, "text-anchor": "middle" }, text);
      addElement(svg, "text", { x: x0 - 6, y: y0 - at(tick) + 4, "text-anchor": "end" }, text);
    }
    addElement(svg, "text", { x: SIDE - 24, y: SIDE - 6, "text-anchor": "end" }, "printed");
    addElement(svg, "text", { x: x0 + 4, y: 14 }, "ours");
    for (const pair of within) {
      const [printed, ours] = pair.numbers;
      const dot = addElement(svg, "circle", { cx: x0 + at(printed), cy: y0 - at(ours), r: 3.4, class: pair.row.cells[8].className });
      pair.twins.push(dot);
      dot.addEventListener("pointerenter", () => mark(points.find((point) => point.row === pair.row) ?? pair));
    }
  }
  const dotsOf = (point) => [point.dot, ...(twins.find((pair) => pair.row === point.row)?.twins ?? [])].filter(Boolean);

  let marked = null;
  function mark(point) {
    marked?.row.classList.remove("marked");
    for (const dot of marked ? dotsOf(marked) : []) dot.removeAttribute("data-marked");
    marked = point;
    if (!point) return;
    point.row.classList.add("marked");
    for (const dot of dotsOf(point)) dot.setAttribute("data-marked", "");
    const [paper, exhibit, row, column, printed, ours, , z, verdict] = [...point.row.cells].map((cell) => cell.textContent);
    const words = `${paper} ${exhibit}, ${row}, ${column}: printed ${printed}, ours ${ours}, ${z ? `z = ${z}, ` : ""}${verdict}`;
    for (const output of outputs) output.textContent = words;
  }
  const place = (event) => {
    const frame = svg.getBoundingClientRect();
    return ((event.clientX - frame.left) / frame.width) * WIDTH;
  };
  let start = null;
  svg.addEventListener("pointerdown", (event) => {
    start = place(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (start === null) {
      if (event.target.point) mark(event.target.point);
      return;
    }
    const [low, high] = [start, place(event)].sort((a, b) => a - b);
    setAttributes(brush, { x: low, width: high - low });
  });
  svg.addEventListener("pointerup", (event) => {
    const [low, high] = [start ?? 0, place(event)].sort((a, b) => a - b);
    start = null;
    const wide = high - low > 4;
    from.value = wide && inverse(low) > -END ? inverse(low).toFixed(1) : "";
    to.value = wide && inverse(high) < END ? inverse(high).toFixed(1) : "";
    from.dispatchEvent(new Event("input", { bubbles: true }));
  });
  function follow() {
    for (const point of [...points, ...twins]) for (const dot of dotsOf(point)) dot.classList.toggle("out", point.row.hidden);
    const bounded = from.value !== "" || to.value !== "";
    const [low, high] = [from.value === "" ? -END : Number(from.value), to.value === "" ? END : Number(to.value)];
    setAttributes(brush, bounded ? { x: x(low), width: Math.max(0, x(high) - x(low)) } : { x: 0, width: 0 });
  }
  table.addEventListener("filtered", follow);
  follow();
});
