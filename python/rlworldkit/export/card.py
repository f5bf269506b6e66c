"""The model card of an exported policy: a page in Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from parity.viewer.page import Curve

_SHOWN = ("train/", "stats/")

_USE = """\
```python
import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession("{file}")
observation = np.zeros((1, {shape}), np.float32)  # as the engines give it
mask = np.ones((1, {actions}), bool)  # which actions are valid
logits, action = session.run(["logits", "action"], {{"observation": observation, "mask": mask}})
```

`logits` are -inf for invalid actions, and `action` is the likeliest valid one. The first axis is a batch of any length.
"""
_PARAMETERS = "The file holds the parameters alone, in float32, by the names of the layers.\n"


def model_card(
    file: Path, metadata: Mapping[str, str], curves: Sequence[Curve], picture: str | None, commands: Sequence[str]
) -> str:
    """A page on a policy in ``file``: what it is, how it is used, how it was trained, and what it cannot do.

    curves: those of its run. picture: the file of the run's learning curve, beside the page. commands: which exported
    and which evaluates it.
    """
    world, rules = metadata["world"], metadata["rules_version"]
    observation, actions, network, prices, provenance = (
        json.loads(metadata[name]) for name in ("observation", "actions", "network", "prices", "provenance")
    )
    shape = ", ".join(map(str, observation["shape"]))
    metrics = [(curve.name, curve.steps[-1], curve.values[-1]) for curve in curves if curve.name.startswith(_SHOWN)]
    is_onnx = file.suffix == ".onnx"
    parts = [
        f"# {file.name}: a policy for {world}\n",
        _table(
            ("", ""),
            [
                ("world", f"{world}, version {rules} of its rules"),
                ("from", f"`{provenance['file']}`, exported by {provenance['exported_by']}"),
                ("network", ", ".join(f"{name} {value}" for name, value in network.items())),
                ("observation", f"float32 (batch, {shape})"),
                ("actions", f"{len(actions)}: {', '.join(actions)}"),
                (
                    "prices of the reward",
                    ", ".join(f"{name} {value:g}" for name, value in prices.items()) or "not known",
                ),
            ],
        ),
        "The file's metadata names every number of the observation.\n",
        "## Use\n",
        _USE.format(file=file.name, shape=shape, actions=len(actions)) if is_onnx else _PARAMETERS,
        "```bash\n" + "\n".join(commands) + "\n```\n",
        "## Training\n",
        _table(
            ("metric", "at step", "last value"), [(name, f"{step:,}", f"{value:.6g}") for name, step, value in metrics]
        )
        if metrics
        else "The folder of the agent holds no metrics.\n",
        *([f"![Learning curve]({picture})\n"] if picture else []),
        "Settings:\n",
        f"```json\n{json.dumps(provenance['settings'], indent=2)}\n```\n",
        "## Limits\n",
        f"- It plays {world} under version {rules} of the rules; other versions give other games.",
        "- Metrics are those of training, whose actions are drawn. The command above measures it in games of its own.",
        "- Logits differ from those of the trainer by rounding, and so may choices between actions as good as equal.",
        "- It was trained for the prices above. Under others it plays on as it was trained.",
    ]
    return "\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
