// Choose the view from the address; handle buttons and keys.

function showView() {
  const named = addressed();
  const only = page.episodes.length === 1 && !hasOverview ? { episode: 0, step: openingStep(0) } : null;
  const episode = named ?? only;
  const isChange = at("overview").hidden === (episode === null);
  at("overview").hidden = episode !== null;
  at("episode").hidden = episode === null;
  at("to-overview").ariaCurrent = episode === null ? "page" : null;
  at("to-episode").ariaCurrent = episode === null ? null : "page";
  if (isChange) window.scrollTo(0, 0);
  if (episode !== null) {
    at("to-episode").href = addressOf(episode.episode, episode.step);
    return showEpisode(episode.episode, episode.step);
  }
  pause();
  showOverview();
}

const MOVES = {
  ArrowLeft: () => walk(now - 1),
  ArrowRight: () => walk(now + 1),
  Home: () => walk(0),
  End: () => walk(current.steps.length - 1),
  " ": () => (playing === null ? play() : pause()),
  e: () => walk(nearEnd(current.number)),
  p: () => openNeighbour(-1),
  n: () => openNeighbour(1),
};

/** Handle keyboard shortcuts of an episode, unless the focused element uses the key. */
function onKey(event) {
  if (!Object.hasOwn(MOVES, event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
  if (current === null || at("episode").hidden) return;
  if (event.target.matches("select, input:not([type=range])")) return;
  if (event.key === " " && event.target.matches("button, a, summary")) return;
  event.preventDefault();
  MOVES[event.key]();
}

function begin() {
  document.title = page.headline;
  at("headline").textContent = page.headline;
  at("about").replaceChildren(...page.about.map((sentence) => make("p", {}, sentence)));
  at("again").hidden = page.command === "";
  at("command").textContent = page.command;
  at("views").hidden = !hasOverview || page.episodes.length === 0;
  if (page.episodes.length > 0) at("to-episode").textContent = page.episodes[0].name;
  at("legend").hidden = page.signs.length === 0;
  at("signs").replaceChildren(...signList());
  const clicks = {
    first: MOVES.Home, back: MOVES.ArrowLeft, forth: MOVES.ArrowRight, last: MOVES.End, play: MOVES[" "],
    "near-end": MOVES.e, previous: MOVES.p, next: MOVES.n,
  };
  for (const [id, move] of Object.entries(clicks)) at(id).addEventListener("click", move);
  at("slider").addEventListener("input", () => walk(Number(at("slider").value)));
  at("speed").addEventListener("change", () => {
    if (playing === null) return;
    pause();
    play();
  });
  at("sides").classList.toggle("two", hasTwoSides);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", showView);
  beginOverview();
  showPlaying();
  showView();
}

begin();
