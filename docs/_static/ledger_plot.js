// The z-scores of the ledger's table as points, a line for each paper. Pointing at one names it and marks its row;
// dragging over some filters the table. What can be dragged can be typed: the two fields above do the same.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("ledger-table");
  const box = document.getElementById("ledger-plot");
  if (!table || !box) return;
  const NS = "http://www.w3.org/2000/svg";
  const [WIDTH, LEFT, RIGHT, LANE, FOOT, END] = [900, 84, 14, 46, 30, 12];
  const from = document.getElementById("ledger-from");
  const to = document.getElementById("ledger-to");
  const points = Array.from(table.tBodies[0].rows)
    .map((row) => ({ row, paper: row.cells[0].textContent, z: parseFloat(row.cells[7].textContent.replace(/^(-?)inf$/, "$1Infinity")) }))
    .filter((point) => !Number.isNaN(point.z));
  const papers = [...new Set(points.map((point) => point.paper))];
  if (!papers.length) return;
  const height = papers.length * LANE + FOOT;
  const scale = (WIDTH - LEFT - RIGHT) / (2 * END);
  const x = (z) => LEFT + (Math.max(-END, Math.min(END, z)) + END) * scale;
  const inverse = (place) => (place - LEFT) / scale - END;

  function draw(name, attributes, parent) {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  }
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img" }, box);
  svg.setAttribute("aria-label", `z-scores of ${points.length} printed numbers; beyond 12 they stand at the edge.`);
  const said = document.createElement("output");
  said.textContent = "Point at a dot to name it; drag to keep the rows between.";
  box.append(said);
  draw("rect", { x: x(-2), y: 0, width: x(2) - x(-2), height: height - FOOT, class: "band" }, svg);
  const brush = draw("rect", { x: 0, y: 0, width: 0, height: height - FOOT, class: "brush" }, svg);
  for (const z of [-12, -8, -4, -2, 0, 2, 4, 8, 12]) {
    draw("line", { x1: x(z), x2: x(z), y1: height - FOOT, y2: height - FOOT + 5, class: "tick" }, svg);
    draw("text", { x: x(z), y: height - 8, "text-anchor": "middle" }, svg).textContent = String(z).replace("-", "−");
  }
  papers.forEach((paper, lane) => {
    draw("text", { x: 4, y: lane * LANE + LANE / 2 + 4 }, svg).textContent = paper;
    const taken = new Map(); // points of nearly the same place stand above and below each other
    for (const point of points.filter((one) => one.paper === paper)) {
      const column = Math.round(x(point.z) / 6);
      const n = taken.get(column) ?? 0;
      taken.set(column, n + 1);
      const away = Math.ceil(n / 2) * (n % 2 ? -5 : 5);
      const y = lane * LANE + LANE / 2 + Math.max(-LANE / 2 + 4, Math.min(LANE / 2 - 4, away));
      point.dot = draw("circle", { cx: x(point.z), cy: y, r: 3.4, class: point.row.cells[8].className }, svg);
      point.dot.point = point;
    }
  });

  let marked = null;
  function mark(point) {
    marked?.row.classList.remove("marked");
    marked?.dot.removeAttribute("data-marked");
    marked = point;
    if (!point) return;
    point.row.classList.add("marked");
    point.dot.setAttribute("data-marked", "");
    const [paper, exhibit, row, column, printed, ours, , z, verdict] = [...point.row.cells].map((cell) => cell.textContent);
    said.textContent = `${paper} ${exhibit}, ${row}, ${column}: printed ${printed}, ours ${ours}, z = ${z}, ${verdict}`;
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
    brush.setAttribute("x", low);
    brush.setAttribute("width", high - low);
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
    for (const point of points) point.dot.classList.toggle("out", point.row.hidden);
    const bounded = from.value !== "" || to.value !== "";
    const [low, high] = [from.value === "" ? -END : Number(from.value), to.value === "" ? END : Number(to.value)];
    brush.setAttribute("x", bounded ? x(low) : 0);
    brush.setAttribute("width", bounded ? Math.max(0, x(high) - x(low)) : 0);
  }
  table.addEventListener("filtered", follow);
  follow();
});
