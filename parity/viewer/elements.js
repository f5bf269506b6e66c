// Elements and the texts of numbers. All texts are set as text, never as markup: what the data says is only ever read.

const at = (id) => document.getElementById(id);
const SVG = at("svg").namespaceURI;

/** A new element with attributes (false and undefined are left out) and children, which are elements or texts. */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for a drawing. */
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

/** The same element with custom properties for the style sheet. */
function styled(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
  return element;
}

/** A button that calls back. */
function button(attributes, text, onClick) {
  const element = make("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", onClick);
  return element;
}

/** Text that is read aloud but not seen. */
const unseen = (text) => make("span", { class: "unseen" }, text);

function headRow(...texts) {
  return make("thead", {}, make("tr", {}, ...texts.map((text) => make("th", { scope: "col" }, text))));
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const LARGE = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const SMALL = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** A number beside an axis: short. */
function axis(number) {
  const size = Math.abs(number);
  if (size >= 1000 && size < 1e15) return SHORT.format(number).replace("-", "−");
  return size !== 0 && size < 1e-3 ? number.toExponential(1).replaceAll("-", "−") : shown(number);
}

/** A number to read, rounded to three places, with a real minus sign. */
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
