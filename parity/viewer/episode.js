// One episode, step by step.

/** What is shown: an episode with its charts, and the step at which it stands; null while none is. */
let current = null;
let now = 0;
let wanted = null;
let playing = null;
let following = null;

/** Open an episode at a step; of several that are asked for at once, the last one is shown. */
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

/** The components that the episode has at all, in their order, and for every step what each has come to. */
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

/** What stays the same from step to step. */
function showWhole() {
  const { number, steps, used, charts } = current;
  const { name, verdict } = page.episodes[number];
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

/** A step in words: the action, what it earned, and what the agent thought. */
function sentenceOf(step) {
  const earned = step.components && page.sides.map((_, side) => sum(rewardsOf(step, side).map(([, reward]) => reward)));
  const [, share] = step.probabilities?.find(([name]) => name === step.action) ?? [];
  const parts = [
    now === 0 ? "The start" : `After ${step.action}`,
    earned && `earned ${[...new Set(earned.map(signed))].join(" and ")}`,
    share !== undefined && `probability ${percent(Number(share))}`,
    step.value !== undefined && `expected ${shown(Number(step.value))}`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

function differencesAt(step, isLast) {
  const here = step.differences ? [differenceTable(step.differences)] : [quiet("No difference at this step.")];
  const within = isLast && current.inBatch.length > 0;
  return within ? [...here, make("h4", {}, "What differed within the batch"), differenceTable(current.inBatch)] : here;
}

/** What the step earned on each side, as the engines give it. */
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

/** Go to a step of the episode; who steps by hand pauses. */
function walk(step) {
  pause();
  showStep(step);
  followSoon();
}

/** The number of the episode before (-1) or after (1) in the list; null where there is none. */
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
  // Nobody wants to hear twenty sentences a second.
  at("sentence").setAttribute("aria-live", playing === null ? "polite" : "off");
}

/** The address follows a moment later, since browsers refuse to change it many times a second. */
function followSoon() {
  following ??= setTimeout(() => {
    following = null;
    if (current && !at("episode").hidden) history.replaceState(null, "", addressOf(current.number, now));
  }, 200);
}
