"""Model card of an exported policy, a page in Markdown."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rlparity.viewer.page import Curve


def model_card(
    file: Path, metadata: Mapping[str, str], curves: Sequence[Curve], picture: str | None, commands: Sequence[str]
) -> str:
    """Format the page of a policy in ``file``: what it is, how to use it, how it was trained, and its limits.

    curves: those of its run. picture: the file of the run's learning curve, beside the page. commands: those that
    export and evaluate the policy.
    """
    told = {name: json.loads(metadata[name]) for name in ("observation", "actions", "network", "prices", "provenance")}
    game = f"{metadata['world']} under version {metadata['rules_version']} of the rules"
    shape, actions = ", ".join(map(str, told["observation"]["shape"])), told["actions"]
    use = f"""```python
import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession("{file.name}")
observation = np.zeros((1, {shape}), np.float32)  # as the engines give it
mask = np.ones((1, {len(actions)}), bool)  # which actions are valid
logits, action = session.run(["logits", "action"], {{"observation": observation, "mask": mask}})
```

`logits` are -inf for invalid actions, `action` is the likeliest valid one, and the first axis a batch of any length."""
    shown = [curve for curve in curves if curve.name.startswith(("train/", "stats/"))]
    metrics = [f"| {curve.name} | {curve.steps[-1]:,} | {curve.values[-1]:.6g} |" for curve in shown]
    table = ["| metric | at step | last value |", "| --- | --- | --- |", *metrics]
    return f"""# {file.name}: a policy for {metadata["world"]}

| | |
| --- | --- |
| plays | {game} |
| from | `{told["provenance"]["file"]}`, exported by {told["provenance"]["exported_by"]} |
| network | {", ".join(f"{name} {value}" for name, value in told["network"].items())} |
| observation | float32 (batch, {shape}), whose numbers the file's metadata names |
| actions | {len(actions)}: {", ".join(actions)} |
| prices of the reward | {", ".join(f"{name} {value:g}" for name, value in told["prices"].items()) or "not known"} |

## Use

{use if file.suffix == ".onnx" else "The file holds the parameters alone, in float32, by the names of the layers."}

```bash
{chr(10).join(commands)}
```

## Training

{chr(10).join(table) if metrics else "The folder of the agent holds no metrics."}

{f"![Learning curve]({picture})" if picture else ""}

```json
{json.dumps(told["provenance"]["settings"], indent=2)}
```

## Limits

- It plays {game}; other versions give other games.
- Metrics are those of training, whose actions are drawn. The command above measures it in games of its own.
- Logits differ from those of the trainer by rounding, and so may choices between actions as good as equal.
- It was trained for the prices above. Under others it plays on as it was trained.
"""
