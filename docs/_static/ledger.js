// Filters and sorts the table of all ledger rows; the address follows the filter. Without it the table is whole.
function ledgerNumber(text) {
  return parseFloat(text.replace(/^(-?)inf$/, "$1Infinity"));
}

document.addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("ledger-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const search = document.getElementById("ledger-search");
  const paper = document.getElementById("ledger-paper");
  const verdict = document.getElementById("ledger-verdict");
  const from = document.getElementById("ledger-from");
  const to = document.getElementById("ledger-to");
  const fields = { q: search, paper, verdict, from, to };
  const count = document.getElementById("ledger-count");
  const texts = rows.map((row) => `${row.textContent} ${row.dataset.also}`.toLowerCase());
  const scores = rows.map((row) => ledgerNumber(row.cells[7].textContent));

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const fits =
        words.every((word) => texts[i].includes(word)) &&
        (!paper.value || row.cells[0].textContent === paper.value) &&
        (!verdict.value || row.cells[8].dataset.verdict === verdict.value) &&
        (from.value === "" || scores[i] >= Number(from.value)) &&
        (to.value === "" || scores[i] <= Number(to.value));
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = `${shown} of ${rows.length} rows`;
    const chosen = Object.entries(fields).filter(([, field]) => field.value);
    const query = new URLSearchParams(chosen.map(([name, field]) => [name, field.value])).toString();
    history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}${location.hash}`);
    table.dispatchEvent(new Event("filtered"));
  }

  function sortBy(column, heading) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.cells[column].textContent;
    const sign = down ? -1 : 1;
    const order = rows.slice().sort((a, b) => {
      const [x, y] = [key(a), key(b)].map(ledgerNumber);
      if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1; // blanks last, either way
      return sign * (isNaN(x) ? key(a).localeCompare(key(b)) : (x > y) - (x < y));
    });
    body.append(...order);
  }

  const asked = new URLSearchParams(location.search);
  for (const [name, field] of Object.entries(fields)) {
    if (asked.has(name)) field.value = asked.get(name);
    field.addEventListener("input", filter);
  }
  if (asked.size) {
    filter();
    if (!location.hash) search.form.scrollIntoView();
  }
  search.form.addEventListener("reset", () => setTimeout(filter));
  search.form.addEventListener("submit", (event) => event.preventDefault());
  Array.from(table.tHead.rows[0].cells).forEach((heading, column) =>
    heading.querySelector("button").addEventListener("click", () => sortBy(column, heading)),
  );
});
