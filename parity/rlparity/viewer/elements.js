// Create elements and format numbers. Text from the data is always set as text, never as markup.

const at = (id) => document.getElementById(id);
const SVG = at("svg").namespaceURI;

/** Create an element with attributes (false and undefined are skipped) and children (elements or strings). */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Create an SVG element. */
function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Set CSS custom properties on an element and return it. */
function styled(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
  return element;
}

/** Create a button with a click handler. */
function button(attributes, text, onClick) {
  const element = make("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", onClick);
  return element;
}

/** Text for screen readers only. */
const unseen = (text) => make("span", { class: "unseen" }, text);

function headRow(...texts) {
  return make("thead", {}, make("tr", {}, ...texts.map((text) => make("th", { scope: "col" }, text))));
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const LARGE = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const SMALL = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** Format an axis label. */
function axis(number) {
  const size = Math.abs(number);
  if (size >= 1000 && size < 1e15) return SHORT.format(number).replace("-", "−");
  return size !== 0 && size < 1e-3 ? number.toExponential(1).replaceAll("-", "−") : shown(number);
}

/** Format a number with three decimals and a typographic minus sign. */
function shown(number) {
  const size = Math.abs(number);
  let text;
  if (Number.isNaN(number)) text = "NaN";
  else if (!Number.isFinite(number)) text = number > 0 ? "∞" : "-∞";
  else if (size !== 0 && (size < 1e-4 || size >= 1e15)) text = number.toExponential(2);
  else if (Number.isInteger(number)) text = WHOLE.format(number);
  else text = (size >= 1 ? LARGE : SMALL).format(number);
  return text === "-0" ? "0" : text.replaceAll("-", "−");
}

const signed = (number) => (number > 0 ? "+" : "") + shown(number);
const counted = (number, thing) => `${WHOLE.format(number)} ${thing}${number === 1 ? "" : "s"}`;
