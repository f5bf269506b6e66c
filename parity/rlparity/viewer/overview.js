// The overview: the curves of a run, where its games end, and the list of its episodes, filtered by both.

const FIRST_ROWS = 200;
/** Number of curves shown unfolded: one row on a wide screen. */
const FIRST_CURVES = 4;
const NATURAL = new Intl.Collator("en", { numeric: true });

/** Current filter: `level`, `cause` and `cell` ("row,column") of an end, null for any, and a `text`. */
let choice = { level: null, cause: null, cell: null, text: "" };
/** Sort order of the list: a column, and 1 for ascending or -1 for descending. */
let order = { column: "number", way: 1 };
let showsAll = false;

const listed = page.episodes.map((episode, number) => ({ ...episode, number }));
const ended = listed.filter((episode) => episode.end);
const cellOf = ({ row, column }) => `${row},${column}`;
const endText = ({ level, cause }) => `${cause}, ${level}`;

/** Test whether an episode passes the filter, ignoring the facets named in `but`. */
function isChosen(episode, but = []) {
  const { end } = episode;
  const facets = { level: end?.level, cause: end?.cause, cell: end && cellOf(end) };
  return Object.entries(facets).every(([name, value]) => but.includes(name) || choice[name] === null || choice[name] === value) &&
    searched(episode).includes(choice.text.toLowerCase());
}

const searched = ({ name, verdict, end }) => [name, verdict, end ? endText(end) : ""].join(" ").toLowerCase();

/** Numbers of the listed episodes, in list order. */
function listedNumbers() {
  return sorted(listed.filter((episode) => isChosen(episode))).map((episode) => episode.number);
}

/** Toggle filter values. */
function choose(facets) {
  const isAlready = Object.entries(facets).every(([name, value]) => choice[name] === value);
  const freed = Object.fromEntries(Object.keys(facets).map((name) => [name, null]));
  choice = { ...choice, ...(isAlready ? freed : facets) };
  showOverview();
}

/** Button with a count of games; a click filters the list by these games. */
function countButton(count, facets, said) {
  const pressed = Object.entries(facets).every(([name, value]) => choice[name] === value);
  const label = `${said}: ${counted(count, "game")}`;
  return button({ class: "count", "aria-pressed": String(pressed), "aria-label": label, "data-facets": JSON.stringify(facets) },
    WHOLE.format(count), () => choose(facets));
}

/** Count episodes by a key. */
function tally(episodes, keyOf) {
  const counts = new Map();
  for (const episode of episodes) counts.set(keyOf(episode), (counts.get(keyOf(episode)) ?? 0) + 1);
  return counts;
}

const most = (counts) => Math.max(1, ...counts.values());

/** Table of ends by stage and cause. */
function endsTable() {
  const games = ended.filter((episode) => isChosen(episode, ["level", "cause"]));
  const key = (level, cause) => JSON.stringify([level, cause]);
  const byLevel = tally(games, ({ end }) => end.level);
  const byCause = tally(games, ({ end }) => end.cause);
  const byBoth = tally(games, ({ end }) => key(end.level, end.cause));
  const levels = [...new Set(ended.map(({ end }) => end.level))].sort(NATURAL.compare);
  const overall = tally(ended, ({ end }) => end.cause);
  const causes = [...overall.keys()].sort((one, other) => overall.get(other) - overall.get(one) || NATURAL.compare(one, other));
  const row = (level) => make("tr", {},
    make("th", { scope: "row" }, level),
    barCell(byLevel.get(level) ?? 0, most(byLevel), { level, cause: null }, level),
    ...causes.map((cause) => barCell(byBoth.get(key(level, cause)) ?? 0, most(byBoth), { level, cause }, `${level}, ${cause}`)));
  const all = make("tr", { class: "all" }, make("th", { scope: "row" }, "all"),
    make("td", {}, make("span", { class: "number" }, WHOLE.format(games.length))),
    ...causes.map((cause) => barCell(byCause.get(cause) ?? 0, most(byCause), { level: null, cause }, cause)));
  return make("table", { class: "ends" }, make("caption", { class: "unseen" }, "How many games ended in each stage, by cause"),
    headRow("ended in", "games", ...causes), make("tbody", {}, ...levels.map(row), all));
}

function barCell(count, largest, facets, said) {
  if (count === 0) return make("td", { class: "none" }, "–");
  return styled(make("td", {}, countButton(count, facets, said), make("span", { class: "fill" })), { "--share": count / largest });
}

/** Heat map of the cells in which games ended. */
function endsMap() {
  const games = ended.filter((episode) => isChosen(episode, ["cell"]));
  const counts = tally(games, ({ end }) => cellOf(end));
  const [rows, columns] = page.shape;
  const cellAt = (row, column) => mapCell(counts, row, column);
  const classes = columns > 8 ? "board map compact" : "board map";
  return grid(rows, columns, cellAt, classes, "How many games ended in each cell of the board");
}

function mapCell(counts, row, column) {
  const cell = cellOf({ row, column });
  const count = counts.get(cell) ?? 0;
  if (count === 0) return make("td");
  return styled(make("td", { class: "heat" }, countButton(count, { cell }, cellName(row, column))), { "--share": count / most(counts) });
}

const COLUMNS = {
  number: { title: "#", valueOf: (episode) => episode.number, isNumber: true },
  name: { title: "episode", valueOf: (episode) => episode.name },
  end: { title: "end", valueOf: (episode) => (episode.end ? endText(episode.end) : null) },
  actions: { title: "steps", valueOf: (episode) => episode.actions, isNumber: true },
  return: { title: "return", valueOf: (episode) => episode.return, isNumber: true },
  verdict: { title: "verdict", valueOf: (episode) => episode.verdict },
};

/** Sort episodes in the current sort order; missing values come last in both directions. */
function sorted(episodes) {
  const { valueOf, isNumber } = COLUMNS[order.column];
  const lacks = (value) => value === null || (isNumber && Number.isNaN(Number(value)));
  const compare = isNumber ? (one, other) => Number(one) - Number(other) || 0 : NATURAL.compare;
  return [...episodes].sort((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (lacks(a) || lacks(b)) return lacks(a) - lacks(b);
    return order.way * compare(a, b);
  });
}

function sortBy(column) {
  order = { column, way: order.column === column ? -order.way : 1 };
  showOverview();
}

function episodesTable(episodes) {
  const columns = Object.entries(COLUMNS).filter(([name]) => {
    if (name === "end") return ended.length > 0;
    return name !== "return" || listed.some((episode) => episode.return !== null);
  });
  const head = columns.map(([name, { title, isNumber }]) => {
    const sort = order.column !== name ? undefined : order.way > 0 ? "ascending" : "descending";
    const sign = sort && make("span", { "aria-hidden": "true" }, sort === "ascending" ? " ↑" : " ↓");
    const sorter = button({ class: "sorter", "data-column": name }, title, () => sortBy(name));
    sorter.append(...(sign ? [sign] : []));
    return make("th", { scope: "col", "aria-sort": sort, class: isNumber && "number" }, sorter);
  });
  const names = columns.map(([name]) => name);
  return make("table", { class: "list" }, make("caption", { class: "unseen" }, "Episodes"),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...episodes.map((episode) => make("tr", {}, ...names.map((name) => CELLS[name](episode))))));
}

const CELLS = {
  number: ({ number }) => make("td", { class: "number soft" }, String(number)),
  name: ({ number, name }) => make("th", { scope: "row" }, make("a", { href: addressOf(number, openingStep(number)) }, name)),
  verdict: ({ verdict, differs, expected }) => make("td", { class: differs !== null && !expected && "parts" }, verdict),
  actions: ({ actions }) => make("td", { class: "number" }, WHOLE.format(actions)),
  return: (episode) => make("td", { class: "number" }, episode.return === null ? "–" : shown(Number(episode.return))),
  end: ({ number, end }) => make("td", {}, end ? make("a", {
    href: addressOf(number, nearEnd(number)), title: "Ten steps before the end",
    "aria-label": `${endText(end)}, ${cellName(end.row, end.column)}: ten steps before the end`,
  }, `${endText(end)} (last ${counted(Math.min(BEFORE_END, page.episodes[number].actions), "step")})`) : "–"),
};

/** Result table of the page, with its title and its note. */
function foundTable({ title, header, rows, note }) {
  const body = rows.map(([name, ...texts]) => make("tr", {}, make("th", { scope: "row" }, name), ...texts.map((text) => make("td", {}, text))));
  const table = make("table", { class: "found" }, headRow(...header), make("tbody", {}, ...body));
  return make("section", {}, make("h2", {}, title),
    make("div", { class: "scrolls", role: "group", tabindex: 0, "aria-label": title }, table), note !== "" && quiet(note));
}

/** The active filters, each as a button that removes it. */
function chosenButtons() {
  const texts = {
    level: choice.level,
    cause: choice.cause,
    cell: choice.cell && cellName(...choice.cell.split(",").map(Number)),
  };
  return Object.entries(texts).filter(([, text]) => text !== null).map(([name, text]) =>
    button({ class: "chip", "aria-label": `${text}: choose any again` }, `${text} ✕`, () => choose({ [name]: choice[name] })));
}

/** Redraw everything that depends on filter and sort order; keep the focus. */
function showOverview() {
  const { activeElement } = document;
  const { facets, column } = activeElement.dataset ?? {};
  if (ended.length > 0) {
    at("ends-table").replaceChildren(endsTable());
    at("ends-map").replaceChildren(endsMap());
  }
  const chosen = sorted(listed.filter((episode) => isChosen(episode)));
  const cut = showsAll ? chosen : chosen.slice(0, FIRST_ROWS);
  at("chosen").replaceChildren(...chosenButtons());
  at("counted").textContent = chosen.length === listed.length
    ? counted(listed.length, "episode") : `${WHOLE.format(chosen.length)} of ${counted(listed.length, "episode")}`;
  at("episodes").replaceChildren(episodesTable(cut));
  at("more").hidden = cut.length === chosen.length;
  at("more").textContent = `Show all ${WHOLE.format(chosen.length)}`;
  const same = facets ? `[data-facets="${CSS.escape(facets)}"]` : column && `[data-column="${column}"]`;
  if (same && !activeElement.isConnected) document.querySelector(same)?.focus();
}

/** Draw the static parts once. */
function beginOverview() {
  at("curves").hidden = page.curves.length === 0;
  const more = page.curves.slice(FIRST_CURVES);
  at("first-curves").replaceChildren(...page.curves.slice(0, FIRST_CURVES).map(curveFigure));
  at("more-curves").hidden = more.length === 0;
  at("more-curves").querySelector("summary").textContent = counted(more.length, "more curve");
  at("more-curves").querySelector("div").replaceChildren(...more.map(curveFigure));
  at("tables").replaceChildren(...page.tables.map(foundTable));
  at("ends").hidden = ended.length === 0;
  at("list").hidden = listed.length === 0 && page.curves.length + page.tables.length > 0;
  at("filter").addEventListener("input", () => {
    choice = { ...choice, text: at("filter").value };
    showOverview();
  });
  at("more").addEventListener("click", () => {
    showsAll = true;
    showOverview();
  });
}
