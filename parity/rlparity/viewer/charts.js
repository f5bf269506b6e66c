// Charts over the steps of an episode, bars of probabilities, and the curves of a run.

const GOLDEN_ANGLE = 137.508;
const HEIGHT = 100;

/** Colour of a reward component, the same in all charts; its name is always shown too. */
const tinted = (element, component) =>
  styled(element, { "--hue": (component * GOLDEN_ANGLE + 250) % 360, "--turn": component % 2 });

/** Nonzero reward components of a step on one side, as [component, reward]. */
function rewardsOf(step, side) {
  const earned = (step.components ?? []).map(([component, ...texts]) => [component, Number(texts[side]) * page.unit]);
  return earned.filter(([, reward]) => Number.isFinite(reward) && reward !== 0);
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Stacked bar chart of the reward components of each step, gains above zero and losses below. */
function rewardChart(steps, side, go) {
  const earned = steps.map((step) => rewardsOf(step, side));
  const reach = (sign) => Math.max(0, ...earned.map((parts) => sum(parts.map(([, reward]) => Math.max(0, sign * reward)))));
  const [top, bottom] = [reach(1), reach(-1)];
  const place = (reward) => HEIGHT * (top - reward) / (top + bottom || 1);
  const bars = earned.flatMap((parts, step) => stacked(parts).map(([component, low, high]) => tinted(drawn("rect", {
    class: "bar", x: step + 0.08, width: 0.84, y: place(high), height: place(low) - place(high),
  }, drawn("title", {}, `step ${step}: ${page.components[component]} ${signed(low < 0 ? low - high : high - low)}`)), component)));
  const zero = drawn("line", { class: "zero", x1: 0, x2: steps.length, y1: place(0), y2: place(0) });
  const total = sum(earned.flat().map(([, reward]) => reward));
  const title = hasTwoSides ? `Rewards by component, ${page.sides[side]}` : "Rewards by component";
  const said = `${title}, over ${counted(steps.length - 1, "step")}: ${shown(total)} in all, at most ${shown(top)} ` +
    `above and ${shown(bottom)} below zero in a step.`;
  return stepChart({ title, said, steps, go, high: axis(top), low: axis(-bottom), marks: [...bars, zero] });
}

/** Stack components away from zero: [component, low, high] of each bar segment. */
function stacked(parts) {
  let [above, below] = [0, 0];
  return parts.map(([component, reward]) =>
    reward > 0 ? [component, above, (above += reward)] : [component, (below += reward), below - reward]);
}

/** Line chart of the value estimate before each step. */
function valueChart(steps, go) {
  const points = steps.map((step, number) => [number + 0.5, Number(step.value)]).filter(([, value]) => Number.isFinite(value));
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const line = drawn("polyline", { class: "curve", points: points.map(([x, y]) => `${x},${heightOf(y, low, high)}`).join(" ") });
  const said = `What the agent expected to earn, from ${shown(values[0])} before the first step to ` +
    `${shown(values.at(-1))} before the last; lowest ${shown(low)}, highest ${shown(high)}.`;
  return stepChart({ title: "Value: reward still expected", said, steps, go, high: axis(high), low: axis(low), marks: [line] });
}

const heightOf = (value, low, high) => (high > low ? HEIGHT * (1 - (value - low) / (high - low)) : HEIGHT / 2);

/** Chart with one unit of width a step; a click or drag selects a step. */
function stepChart({ title, said, steps, go, high, low, marks }) {
  const cursor = drawn("rect", { class: "cursor", y: 0, width: 1, height: HEIGHT });
  const plot = styled(drawn("svg", {
    class: "plot", role: "img", "aria-label": said, viewBox: `0 0 ${steps.length} ${HEIGHT}`, preserveAspectRatio: "none",
  }, cursor, ...marks), { "--steps": steps.length });
  const goTo = (event) => {
    const { left, width } = plot.getBoundingClientRect();
    go(Math.floor(steps.length * (event.clientX - left) / width));
  };
  plot.addEventListener("pointerdown", (event) => {
    plot.setPointerCapture(event.pointerId);
    goTo(event);
  });
  plot.addEventListener("pointermove", (event) => event.buttons && goTo(event));
  const figure = make("figure", {}, make("figcaption", {}, title),
    make("div", { class: "scaled" }, make("span", { class: "high" }, high), make("span", { class: "low" }, low), plot));
  return { figure, show: (step) => cursor.setAttribute("x", step) };
}

/** Bars of the action probabilities of a step, likeliest first; the action taken is marked. */
function probabilityBars(step) {
  const shares = [...step.probabilities].sort(([, one], [, other]) => other - one);
  const rows = shares.map(([name, share]) => {
    const taken = name === step.action;
    return make("tr", { class: taken && "taken" },
      make("th", { scope: "row" }, make("span", { class: "sign", "aria-hidden": "true" }, taken ? "▸" : ""), name,
        taken && unseen(", taken")),
      make("td", { class: "track" }, styled(make("span", { class: "fill" }), { "--share": Number(share) || 0 })),
      make("td", { class: "number" }, percent(Number(share))));
  });
  return make("table", { class: "shares" }, make("caption", { class: "unseen" }, "Probabilities of the valid actions"),
    make("tbody", {}, ...rows));
}

const percent = (share) => (Number.isNaN(share) ? "NaN" : `${(100 * share).toFixed(1)} %`);

/** Learning curve of a run; the pointer shows the values at a step. */
function curveFigure({ name, steps, values }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [steps[0], steps.at(-1)];
  const across = (step) => (last > first ? 100 * (step - first) / (last - first) : 50);
  const points = steps.map((step, index) => [across(step), heightOf(values[index], low, high)]);
  const read = make("output", {});
  const cursor = drawn("line", { class: "pointer", y1: 0, y2: HEIGHT, visibility: "hidden" });
  const line = drawn("polyline", { class: "curve", points: points.map((point) => point.join(",")).join(" ") });
  const tell = (index) => { read.textContent = `${shown(values[index])} at ${axis(steps[index])}`; };
  const rest = () => {
    cursor.setAttribute("visibility", "hidden");
    tell(values.length - 1);
  };
  const said = values.length === 0 ? `${name}: no values.` :
    `${name}: ${shown(values[0])} at step ${shown(first)}, ${shown(values.at(-1))} at step ${shown(last)}; ` +
    `lowest ${shown(low)}, highest ${shown(high)}.`;
  const plot = drawn("svg", {
    class: "plot", role: "img", "aria-label": said, viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: "none",
  }, cursor, line);
  if (values.length > 0) {
    plot.addEventListener("pointermove", (event) => {
      const { left, width } = plot.getBoundingClientRect();
      const index = nearest(points, 100 * (event.clientX - left) / width);
      for (const end of ["x1", "x2"]) cursor.setAttribute(end, points[index][0]);
      cursor.setAttribute("visibility", "visible");
      tell(index);
    });
    plot.addEventListener("pointerleave", rest);
    rest();
  }
  const scale = values.length > 0 ? [make("span", { class: "high" }, axis(high)), make("span", { class: "low" }, axis(low))] : [];
  return make("figure", { class: "multiple" },
    make("figcaption", {}, make("span", {}, name), read), make("div", { class: "scaled" }, ...scale, plot));
}

/** Index of the first point that is nearest to an x coordinate. */
const nearest = (points, x) => points.reduce((best, [at], index) =>
  (Math.abs(at - x) < Math.abs(points[best][0] - x) ? index : best), 0);
