// One episode, step by step.

/** The open episode with its charts and current step; null while none is open. */
let current = null;
let now = 0;
let wanted = null;
let playing = null;
let following = null;

/** Open an episode at a step; the last of several concurrent calls wins. */
async function showEpisode(number, step) {
  wanted = number;
  clearTimeout(following);
  following = null;
  if (current?.number !== number) {
    pause();
    const { steps, inBatch } = await episodeOf(number);
    if (wanted !== number) return;
    current = { number, steps, inBatch, ...summed(steps), charts: chartsOf(steps), listed: listedNumbers() };
    showWhole();
  }
  showStep(step);
}

/** Find the components with any reward in the episode, in order, and their cumulative sums at each step. */
function summed(steps) {
  const used = [...new Set(steps.flatMap((step) => (step.components ?? []).map(([component]) => component)))].sort((a, b) => a - b);
  const totals = new Map();
  const soFar = steps.map((step) => {
    for (const [component, text] of step.components ?? []) totals.set(component, (totals.get(component) ?? 0) + Number(text));
    return new Map(totals);
  });
  return { used, soFar };
}

function chartsOf(steps) {
  const rewards = steps.some((step) => step.components) ? page.sides.map((_, side) => rewardChart(steps, side, walk)) : [];
  const values = steps.some((step) => Number.isFinite(Number(step.value ?? NaN))) ? [valueChart(steps, walk)] : [];
  return [...rewards, ...values];
}

/** Render the parts of an episode that do not depend on the step. */
function showWhole() {
  const { number, steps, used, charts } = current;
  const { name, verdict } = page.episodes[number];
  at("episode").classList.toggle("expected", page.episodes[number].expected);
  at("name").textContent = name;
  at("verdict").textContent = verdict;
  at("to-episode").textContent = name;
  at("slider").max = steps.length - 1;
  at("charts").replaceChildren(...charts.map(({ figure }) => figure));
  at("timeline").hidden = charts.length === 0 || steps.length === 1;
  at("rewards").hidden = used.length === 0;
  at("decision").hidden = !steps.some((step) => step.probabilities);
  at("differences").hidden = !hasTwoSides;
}

function showStep(step) {
  const last = current.steps.length - 1;
  now = Math.min(last, Math.max(0, step));
  const moment = current.steps[now];
  at("slider").value = now;
  at("slider").setAttribute("aria-valuetext", `step ${now} of ${last}: ${moment.action}`);
  at("where").textContent = `step ${now} of ${last}`;
  at("sentence").textContent = sentenceOf(moment);
  at("first").disabled = at("back").disabled = now === 0;
  at("last").disabled = at("forth").disabled = now === last;
  at("near-end").hidden = last <= BEFORE_END;
  at("previous").disabled = neighbour(-1) === null;
  at("next").disabled = neighbour(1) === null;
  at("previous").hidden = at("next").hidden = page.episodes.length < 2;
  if (hasTwoSides) at("differences-found").replaceChildren(...differencesAt(moment, now === last));
  at("sides").replaceChildren(...page.sides.map((_, side) => sideOf(moment, side)));
  at("probabilities").replaceChildren(moment.probabilities ? probabilityBars(moment) : quiet("No decision led here."));
  at("components").replaceChildren(componentTable(moment));
  for (const chart of current.charts) chart.show(now);
}

const quiet = (text) => make("p", { class: "soft" }, text);

/** Describe a step in words: action, reward, probability and value. */
function sentenceOf(step) {
  const earned = step.components && page.sides.map((_, side) => sum(rewardsOf(step, side).map(([, reward]) => reward)));
  const [, share] = step.probabilities?.find(([name]) => name === step.action) ?? [];
  const parts = [
    now === 0 ? "The start" : `After ${step.action}`,
    earned && `earned ${[...new Set(earned.map(signed))].join(" and ")}`,
    share !== undefined && `probability ${percent(Number(share))}`,
    step.value !== undefined && `reward still expected ${shown(Number(step.value))}`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

function differencesAt(step, isLast) {
  const here = step.differences ? [differenceTable(step.differences)] : [quiet("No difference at this step.")];
  const within = isLast && current.inBatch.length > 0;
  return within ? [...here, make("h4", {}, "What differed within the batch"), differenceTable(current.inBatch)] : here;
}

/** Table of the step's reward components on each side, in the engine's units. */
function componentTable(step) {
  const earned = new Map((step.components ?? []).map(([component, ...texts]) => [component, texts]));
  const unit = page.unit === 1 ? "" : ` × ${page.unit}`;
  const heads = [`component${unit}`, ...(hasTwoSides ? page.sides.map((_, side) => sideName(side)) : ["step", "so far"])];
  const rows = current.used.map((component) => {
    const texts = earned.get(component) ?? page.sides.map(() => "0");
    const differs = new Set(texts).size > 1;
    const cells = texts.map((text) => valueCell(text.replace("-", "−"), differs));
    if (!hasTwoSides) cells.push(make("td", { class: "number soft" }, shown(current.soFar[now].get(component) ?? 0)));
    return make("tr", { class: earned.has(component) ? false : "zero" },
      make("th", { scope: "row" }, tinted(make("span", { class: "swatch" }), component), page.components[component]), ...cells);
  });
  return make("table", { class: "values" }, make("caption", { class: "unseen" }, "Reward components of this step"),
    headRow(...heads), make("tbody", {}, ...rows));
}

/** Go to a step of the episode; stepping by hand pauses playback. */
function walk(step) {
  pause();
  showStep(step);
  followSoon();
}

/** Number of the previous (-1) or next (1) episode in the list; null at its ends. */
function neighbour(way) {
  const place = current.listed.indexOf(current.number);
  return place < 0 ? null : current.listed[place + way] ?? null;
}

function openNeighbour(way) {
  const number = neighbour(way);
  if (number !== null) location.hash = addressOf(number, openingStep(number));
}

function play() {
  if (now === current.steps.length - 1) showStep(0);
  playing = setInterval(() => {
    showStep(now + 1);
    followSoon();
    if (now === current.steps.length - 1) pause();
  }, 1000 / Number(at("speed").value));
  showPlaying();
}

function pause() {
  clearInterval(playing);
  playing = null;
  showPlaying();
}

function showPlaying() {
  at("play").textContent = playing === null ? "Play" : "Pause";
  // Do not announce every step to screen readers during playback.
  at("sentence").setAttribute("aria-live", playing === null ? "polite" : "off");
}

/** Update the address with a delay, because browsers limit how often it may change. */
function followSoon() {
  following ??= setTimeout(() => {
    following = null;
    if (current && !at("episode").hidden) history.replaceState(null, "", addressOf(current.number, now));
  }, 200);
}
