// The wall: what a square stands for beside it, arrow keys within a table, one verdict at a time.
document.addEventListener("DOMContentLoaded", () => {
  const wall = document.getElementById("wall-of-numbers");
  if (!wall) return;
  const tip = addElement(document.body, "div", { class: "wall-tip", hidden: "" });

  function show(square) {
    tip.replaceChildren();
    const lines = square.getAttribute("aria-label").split("\n");
    lines.forEach((line, i) => addElement(tip, i ? "div" : "strong", {}, line));
    tip.hidden = false;
    const place = square.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.left), window.innerWidth - own.width - 8);
    const below = place.bottom + 6 + own.height < window.innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? place.bottom + 6 : Math.max(8, place.top - own.height - 6)}px`;
  }
  const hide = () => (tip.hidden = true);
  const squareOf = (event) => event.target.closest?.("a.square");
  let touched = null;
  let byTouch = false;

  wall.addEventListener("pointerover", (event) => squareOf(event) && show(squareOf(event)));
  wall.addEventListener("pointerout", hide);
  wall.addEventListener("focusin", (event) => squareOf(event) && show(squareOf(event)));
  wall.addEventListener("focusout", hide);
  window.addEventListener("scroll", hide, { passive: true });
  wall.addEventListener("pointerdown", (event) => (byTouch = event.pointerType === "touch"));
  wall.addEventListener("click", (event) => {
    const square = squareOf(event);
    if (!square || !byTouch || square === touched) return;
    event.preventDefault(); // a first touch tells, a second one leads there
    touched = square;
    show(square);
  });

  // One stop of the Tab key for each table; arrow keys go on from there.
  for (const grid of wall.querySelectorAll(".wall-grid")) {
    const columns = Number(grid.style.getPropertyValue("--columns"));
    const cells = Array.from(grid.children);
    const squares = cells.filter((cell) => cell.matches("a"));
    squares.forEach((square, i) => (square.tabIndex = i ? -1 : 0));
    grid.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide();
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
      if (!step) return;
      event.preventDefault();
      let i = cells.indexOf(event.target) + step;
      while (cells[i] && !cells[i].matches("a")) i += step;
      if (!cells[i]) return;
      squares.forEach((square) => (square.tabIndex = -1));
      cells[i].tabIndex = 0;
      cells[i].focus();
    });
  }

  const buttons = Array.from(wall.querySelectorAll(".wall-legend button"));
  for (const button of buttons)
    button.addEventListener("click", () => {
      const chosen = button.getAttribute("aria-pressed") !== "true" ? button.dataset.verdict : "";
      for (const other of buttons) other.setAttribute("aria-pressed", String(other.dataset.verdict === chosen));
      for (const square of wall.querySelectorAll("a.square"))
        square.classList.toggle("faded", Boolean(chosen) && !square.classList.contains(chosen));
    });
});
