// Data of the page: the index of episodes is read at once, an episode when it is opened.

const page = JSON.parse(at("page").textContent);
const BEFORE_END = 10;
const opened = new Map();

/** Promise of an episode's data, cached: its steps and in-batch differences. */
function episodeOf(number) {
  if (!opened.has(number)) opened.set(number, unpacked(at(`episode-${number}`).textContent));
  return opened.get(number);
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const hasTwoSides = page.sides.length === 2;
const hasOverview = page.episodes.length !== 1 || page.curves.length > 0 || page.tables.length > 0;
const rowName = (row) => page.rowNames[row] ?? String(row);
const columnName = (column) => page.columnNames[column] ?? String(column);
const cellName = (row, column) => `row ${rowName(row)}, column ${columnName(column)}`;

/** Initial step of an episode: the first difference, or the last step where the sides agree. */
function openingStep(number) {
  const { differs, actions } = page.episodes[number];
  return differs ?? (hasTwoSides ? actions : 0);
}

const nearEnd = (number) => Math.max(0, page.episodes[number].actions - BEFORE_END);
const addressOf = (number, step) => `#episode=${number}&step=${step}`;

/** Episode and step in the address, clamped to valid values; null where it names none. */
function addressed() {
  const named = new URLSearchParams(location.hash.slice(1));
  const number = whole(named.get("episode"));
  if (number === null || !page.episodes.length) return null;
  const episode = Math.min(number, page.episodes.length - 1);
  const step = whole(named.get("step")) ?? openingStep(episode);
  return { episode, step: Math.min(step, page.episodes[episode].actions) };
}

const whole = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);
