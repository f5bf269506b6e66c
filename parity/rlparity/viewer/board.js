// One engine's side of a step: the board as a table, the scalar fields, the coverage marks that fired.

/** Render a board; `differing` lists the [row, column] of cells that differ from the other side. */
function boardTable(board, differing, title) {
  const columns = Math.max(0, ...board.rows.map((texts) => texts.length));
  const isCompact = board.rows.every((texts) => texts.every((text) => text.length <= 1));
  const marked = new Set(differing.map(String));
  const cellAt = (row, column) => cell(board.rows[row][column] ?? "", marked.has(`${row},${column}`));
  return grid(board.rows.length, columns, cellAt, isCompact ? "board compact" : "board", title);
}

/** Table of cells, each made by `cellAt(row, column)`, with the names of the board's rows and columns. */
function grid(rows, columns, cellAt, classes, title) {
  const numbers = [...Array(columns).keys()];
  const head = numbers.map((column) => make("th", { scope: "col" }, columnName(column)));
  const body = [...Array(rows).keys()].map((row) => make("tr", {},
    make("th", { scope: "row" }, rowName(row)), ...numbers.map((column) => cellAt(row, column))));
  return styled(make("table", { class: classes }, make("caption", { class: "unseen" }, title),
    make("thead", {}, make("tr", {}, make("td"), ...head)), make("tbody", {}, ...body)), { "--columns": columns });
}

function cell(text, differs) {
  const words = text.split(" ").flatMap((word) => [word && coloured(word), " "]).slice(0, -1);
  return make("td", { class: differs && "differs" }, differs && unseen("differs: "), ...words);
}

const colours = new Map(Object.entries(page.colours));

function coloured(word) {
  const colour = colours.get(word);
  // Allow a line break in a long word before each sign.
  const parts = word.split(/(?=[+(])/).flatMap((part) => [make("wbr"), part]).slice(1);
  const element = make("span", { class: "word" }, ...parts);
  return colour ? styled(element, { color: colour }) : element;
}

/** Render the scalar fields of a board; `differing` lists the names of those that differ from the other side. */
function scalarTable(board, differing, title) {
  const rows = board.scalars.map(([name, text]) => make("tr", {},
    make("th", { scope: "row" }, name), valueCell(text, differing.includes(name))));
  return make("table", { class: "values" }, make("caption", { class: "unseen" }, title), make("tbody", {}, ...rows));
}

function valueCell(text, differs) {
  return make("td", { class: differs ? "value differs" : "value" }, differs && unseen("differs: "), text);
}

/** Title of a side; of two sides, the first is the reference. */
function sideName(side) {
  return hasTwoSides ? `${page.sides[side]} (${side === 0 ? "expected" : "observed"})` : page.sides[side];
}

function sideOf(step, side) {
  const name = sideName(side);
  const board = step.boards[side];
  const marks = step.marks && make("p", { class: "soft" }, `Marks fired: ${step.marks[side].join(", ") || "none"}`);
  return make("section", { class: "side", "aria-label": name },
    make("h3", {}, name),
    make("div", { class: "drawn" },
      boardTable(board, step.cells ?? [], `Board of ${name}`),
      board.scalars.length > 0 && scalarTable(board, step.scalars ?? [], `Values of ${name}`)),
    marks);
}

/** Table of differences: field and value on each side. */
function differenceTable(found) {
  const rows = found.map(([field, ...texts]) => make("tr", {},
    make("th", { scope: "row" }, field), ...texts.map((text) => make("td", { class: "differs" }, text))));
  const table = make("table", {}, headRow("field", ...page.sides.map((_, side) => sideName(side))), make("tbody", {}, ...rows));
  return make("div", { class: "scrolls", role: "group", tabindex: 0, "aria-label": "Differences" }, table);
}

/** Legend of the signs on the board; empty where the world has none. */
function signList() {
  return page.signs.map(([sign, meaning]) => make("div", {}, make("dt", {}, coloured(sign)), make("dd", {}, meaning)));
}
