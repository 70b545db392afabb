// What the tests of the site ask a page. Loaded into every page as `ask`; each question returns plain values.
const ask = (() => {
  const LIMIT = 4.5;

  // [red, green, blue, alpha] of a computed color, 0 to 255 and 0 to 1.
  function parse(text) {
    const numbers = text.match(/[-\d.e]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((x) => x * scale), numbers.length > 3 ? numbers[3] : 1];
  }

  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));

  function luminance(color) {
    const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = color.map((x) => linear(x / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  const opacity = (element) =>
    element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;

  function ownText(element) {
    const parts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    return parts.map((node) => node.data).join("").trim();
  }

  // Texts whose contrast with all that lies below them, blended, misses the limit.
  function faint() {
    const known = new Map([[null, [255, 255, 255]]]);
    function background(element) {
      if (!known.has(element)) {
        const color = parse(getComputedStyle(element).backgroundColor);
        known.set(element, over(color, background(element.parentElement)));
      }
      return known.get(element);
    }
    const found = new Map();
    for (const element of document.body.querySelectorAll("*")) {
      const text = ownText(element);
      if (!text || element.closest("script, style, noscript, mjx-assistive-mml, svg")) continue;
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const color = parse(getComputedStyle(element).color);
      color[3] *= opacity(element);
      const ratio = contrast(over(color, background(element)), background(element));
      const place = `${element.tagName}.${element.className}: ${ratio.toFixed(2)}`;
      if (ratio < LIMIT) found.set(place, text.slice(0, 40));
    }
    return [...found].map(([place, text]) => `${place} «${text}»`);
  }

  // Formulas that are not drawn, or drawn as errors.
  function notTypeset() {
    const failed = (formula) =>
      !formula.querySelector("mjx-container svg") || formula.querySelector("[data-mjx-error], mjx-merror");
    return [...document.querySelectorAll(".math")].filter(failed).map((e) => e.textContent.slice(0, 60));
  }

  // Figures that cannot be shown. They load when they come near; here all at once.
  async function notLoaded() {
    const images = [...document.images];
    for (const image of images) image.loading = "eager";
    await Promise.allSettled(images.map((image) => image.decode()));
    return images.filter((image) => !(image.naturalWidth > 0)).map((image) => image.src);
  }

  // The element that has the focus, and whether an outline or a shadow shows it.
  function focus() {
    const element = document.activeElement;
    const ring = ({ outlineStyle, outlineWidth, boxShadow }) =>
      (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
    const marked = [element, ...(element.labels ?? [])];
    const name = element.id || element.href || element.textContent.trim().slice(0, 30);
    return [`${element.tagName} ${name}`, marked.some((one) => ring(getComputedStyle(one)))];
  }

  // Links that the search has found, once it has found some.
  async function searched() {
    for (let tries = 0; tries < 100; tries++) {
      const links = [...document.querySelectorAll("#search-results li a")].map((link) => link.href);
      if (links.length && !document.querySelector("#search-progress")?.textContent.includes("Searching")) return links;
      await new Promise((done) => setTimeout(done, 50));
    }
    return [];
  }

  // Rows of the ledger that are not filtered away.
  const rows = () => [...document.querySelectorAll("#ledger-table tbody tr")].filter((row) => !row.hidden);

  function choose(name, value) {
    const field = document.getElementById(`ledger-${name}`);
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function sortBy(name) {
    const buttons = [...document.querySelectorAll("#ledger-table th button")];
    buttons.find((button) => button.textContent === name).click();
  }

  return {
    faint, notTypeset, notLoaded, focus, searched, choose, sortBy,
    width: () => document.documentElement.scrollWidth,
    background: () => parse(getComputedStyle(document.body).backgroundColor).slice(0, 3),
    texts: () => rows().map((row) => row.textContent.toLowerCase()),
    column: (position) => rows().map((row) => row.cells[position].textContent),
    order: (position) => document.querySelectorAll("#ledger-table th")[position].ariaSort,
    count: () => document.getElementById("ledger-count").textContent,
  };
})();
