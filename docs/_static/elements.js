// What all drawings share: an element of HTML, or of SVG within one, added to its parent.
function addElement(parent, name, attributes = {}, text) {
  const drawn = name === "svg" || parent instanceof SVGElement;
  const element = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  setAttributes(element, attributes);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
