"""The page of a run, as components and figures of Dash: pure functions of a run."""

from typing import Any, NamedTuple

from dash import dcc, html
from dash.development.base_component import Component

from goodharts.dashboard.progress import ModeView, RunView
from goodharts.rules import ACTIONS, MODES, MOVES

UNKNOWN = "–"
_ARROWS = "↖←↙↑↓↗→↘"
"""Of the moves, in their order."""
_COLOURS = "#178a4c", "#2f7de1", "#c96a00", "#d6409f", "#8e5bef"
_DASHES = "solid", "dash", "dot", "dashdot", "longdash"
_STYLE_OF = dict(zip(MODES, zip(_COLOURS, _DASHES, strict=True), strict=True))
"""The colour and the dashes of each mode; they stand out on the page's light cards and on its dark ones."""


class Metric(NamedTuple):
    """A metric that is shown of every mode: its name in a row, its title, its unit and how it is written."""

    key: str
    title: str
    unit: str
    form: str

    def with_unit(self, text: str) -> list[Any]:
        """A text, and the unit behind it."""
        return [text, html.Span(f" {self.unit}", className="unit")] if self.unit else [text]


METRICS = (
    Metric("episode_reward", "Episode reward", "", ",.2f"),
    Metric("episode_length", "Episode length", "steps", ",.1f"),
    Metric("policy_loss", "Policy loss", "", ".4f"),
    Metric("value_loss", "Value loss", "", ".4f"),
    Metric("entropy", "Entropy", "nats", ".3f"),
    Metric("steps_per_second", "Speed", "steps/s", ",.0f"),
)


def layout(poll_seconds: float) -> Component:
    """The page before its first numbers; it asks for them every ``poll_seconds``."""
    confirm = "Stop training now? Every mode ends its current update and saves what it has learnt."
    button = html.Button("Stop Training", id="stop", type="button")
    confirmed = dcc.ConfirmDialogProvider(button, id="stop-confirmed", message=confirm)
    title = html.Div([html.H1("Goodharts training"), html.P("", id="headline", role="status")])
    modes = html.Section(id="modes", **_aria(label="Modes"))
    charts = html.Section([_chart(metric) for metric in METRICS], id="charts", **_aria(label="Curves"))
    return html.Div(
        [
            html.Div(id="lost", role="alert", hidden=True),
            html.Header([title, confirmed]),
            html.Main([modes, charts, html.P(id="width")]),
            dcc.Interval(id="clock", interval=round(poll_seconds * 1000)),
            dcc.Store(id="poll", data=0),
            dcc.Store(id="shown"),
            dcc.Store(id="answered", data=-1),
            dcc.Store(id="is-over", data=False),
        ],
        id="page",
    )


def _chart(metric: Metric) -> Component:
    graph = dcc.Graph(
        id=f"chart-{metric.key}",
        config={"displayModeBar": False},
        responsive=True,
        style={"height": "210px"},
        figure={"layout": _LAYOUT},
    )
    label = _aria(label=f"{metric.title} of every mode over the updates; the newest numbers are above")
    title = html.Figcaption(metric.with_unit(metric.title))
    return html.Figure([title, html.Div(graph, role="img", **label)])


def headline(run: RunView) -> str:
    """The whole run in a few words."""
    count = len(run.modes)
    training = [mode for mode in run.modes if mode.state == "training"]
    failed = sum(mode.state == "failed" for mode in run.modes)
    failures = f"{failed} of {count} modes failed" if failed else ""
    if run.is_over:
        words = "Stopped" if any(mode.state == "stopped" for mode in run.modes) else "Finished"
        return failures or words
    if run.is_stopping:
        return "Stopping: every mode ends its current update and saves"
    if not training:
        return "Waiting for the first update"
    parts = [f"Training {len(training)} of {count} modes" if count > 1 else "Training"]
    speed = sum(mode.newest.get("steps_per_second", 0.0) for mode in training)
    left = [mode.newest["seconds_left"] for mode in training if "seconds_left" in mode.newest]
    parts += [f"{speed:,.0f} steps/s"] if speed else []
    parts += [f"about {duration(max(left))} left"] if left else []
    return " · ".join([*parts, failures] if failures else parts)


def width(run: RunView) -> str:
    """Explain a point of the curves."""
    widest = max((mode.width for mode in run.modes), default=1)
    return f"Each point of a curve is the mean of up to {widest:,} updates." if widest > 1 else ""


def card(mode: ModeView) -> Component:
    """One mode: its progress, its newest numbers and where it moves."""
    colour, dashes = _STYLE_OF[mode.mode]
    title = f"mode-{mode.mode}"
    first, *rest = mode.mode.split("_")
    breakable = [first, *(part for word in rest for part in ("_", html.Wbr(), word))]
    name = html.Div([html.Span(className=f"line {dashes}"), html.H2(breakable, id=title)], className="name")
    facts = html.Div([_numbers(mode), rose(mode)], className="facts")
    sentence = [html.P(mode.sentence, className="sentence")] if mode.sentence else []
    return html.Article(
        [name, *_bar(mode), facts, *sentence],
        className=f"mode {mode.state}",
        style={"--mode": colour},
        **_aria(labelledby=title),
    )


def _bar(mode: ModeView) -> list[Component]:
    """Show the updates of a mode, and the time left or its end."""
    update, updates, left = (mode.newest.get(name) for name in ("update", "updates", "seconds_left"))
    bar, count = [], ""
    if update is not None and updates is not None:
        label = _aria(label=f"Progress of {mode.mode}")
        bar = [html.Progress(value=f"{update:.0f}", max=f"{updates:.0f}", **label)]
        count = f"update {update:,.0f} of {updates:,.0f}"
    end = html.Span(mode.state, className=f"state {mode.state}")
    if mode.state == "training" and left is not None:
        end = html.Span(f"{duration(left)} left")
    return [*bar, html.P([html.Span(count), end], className="progress")]


def _numbers(mode: ModeView) -> Component:
    rows = []
    for metric in METRICS:
        value = mode.newest.get(metric.key)
        cell = [UNKNOWN] if value is None else metric.with_unit(format(value, metric.form).replace("-", "−"))
        rows += [html.Dt(metric.title), html.Dd(cell, className=metric.key)]
    return html.Dl(rows)


def rose(mode: ModeView) -> Component:
    """The probabilities of the eight moves, each in its direction from the agent."""
    chances = [mode.newest.get(f"action_prob_{action}") for action in range(len(MOVES))]
    texts = [UNKNOWN if chance is None else f"{100 * chance:.0f} %" for chance in chances]
    # by its root, lest even chances, 12.5 % each, look like none
    shades = [60 * min(max(chance or 0.0, 0.0), 1.0) ** 0.5 for chance in chances]
    petals = {
        move: html.Span(f"{arrow} {text}", style={"--shade": f"{shade:.1f}%"})
        for move, arrow, text, shade in zip(MOVES, _ARROWS, texts, shades, strict=True)
    }
    cells = [petals.get((dx, dy), html.Span()) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    words = (f"{name.replace('_', ' ')} {text}" for name, text in zip(ACTIONS, texts, strict=True) if text != UNKNOWN)
    label = _aria(label=f"Action probabilities: {', '.join(words) or 'unknown'}")
    return html.Div([html.P("Action probabilities"), html.Div(cells, className="rose", role="img", **label)])


def figure(run: RunView, metric: Metric) -> dict[str, Any]:
    """A chart of one metric, a line for each mode."""
    lines = []
    for mode in run.modes:
        colour, dashes = _STYLE_OF[mode.mode]
        points = [point for point in mode.curve if metric.key in point]
        line = {
            "type": "scatter",
            "mode": "lines+markers" if len(points) < 2 else "lines",  # one point makes no line
            "name": mode.mode,
            "x": [round(point["update"], 1) for point in points],
            "y": [float(f"{point[metric.key]:.5g}") for point in points],
            "line": {"color": colour, "dash": dashes, "width": 2},
            "hovertemplate": f"%{{y:{metric.form}}} {metric.unit}",
        }
        lines.append(line)
    return {"data": lines, "layout": _LAYOUT}


# The colours of text and lines are the style sheet's, which knows whether the page is dark.
_AXIS = {"automargin": True, "fixedrange": True, "zeroline": False}
_LAYOUT = {
    "autosize": True,
    "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": "system-ui, sans-serif", "size": 12},
    "showlegend": False,
    "hovermode": "x unified",
    "dragmode": False,
    "hoverlabel": {"bgcolor": "#22272e", "font": {"color": "#ffffff"}},
    "xaxis": {**_AXIS, "title": {"text": "update", "standoff": 4}, "unifiedhovertitle": {"text": "update %{x}"}},
    "yaxis": {**_AXIS, "nticks": 6},
}


def duration(seconds: float) -> str:
    """A time in its two largest units."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole // 60 % 60:02} min"
    return f"{whole // 86_400} d {whole // 3600 % 24:02} h"


def _aria(**attributes: str) -> dict[str, Any]:
    """Attributes of an element for assistive technology."""
    return {f"aria-{name}": value for name, value in attributes.items()}
