// Tables of articles and pages: press a heading, or Enter on it, to sort; the ledger's has its own program.
document.addEventListener("DOMContentLoaded", () => {
  const number = (text) => parseFloat(text.replace(/[−–]/g, "-").replace(/,(?=\d{3})/g, ""));
  for (const table of document.querySelectorAll(".text_html table, table.docutils, .touch table")) {
    const rows = Array.from(table.tBodies[0]?.rows ?? []);
    const heads = Array.from(table.tHead?.rows[0]?.cells ?? []);
    const plain = rows.every((row) => row.cells.length === heads.length);
    if (table.id || !heads.length || rows.length < 5 || table.tHead.rows.length > 1 || !plain) continue;
    heads.forEach((head, column) => {
      head.tabIndex = 0;
      head.classList.add("sortable");
      const sort = () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const text = (row) => row.cells[column].textContent.trim();
        const order = rows.slice().sort((a, b) => {
          const [x, y] = [number(text(a)), number(text(b))];
          if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
          return (down ? -1 : 1) * (isNaN(x) ? text(a).localeCompare(text(b)) : x - y);
        });
        table.tBodies[0].append(...order);
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
    });
  }
});
