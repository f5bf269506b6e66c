"""What a checkpoint's leaves must be, whatever its checksum says."""

import numpy as np
import pytest

from worldkit.ppo.checkpoint_format import DEVIATION, Malformed, runner_of


@pytest.mark.parametrize("deviation", [0.0, -1.0])
def test_a_scale_of_values_that_nothing_can_be_divided_by_is_refused(deviation: float) -> None:
    runner_of({"runner": {DEVIATION: np.array([1.0], np.float32)}})
    with pytest.raises(Malformed, match="the scale of its values is not above 0"):
        runner_of({"runner": {DEVIATION: np.array(deviation, np.float32)}})
