"""Layers of which some output channels are wide: only their groups are."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.engine.select import select as select_module
from kiwicha.contract import configs
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import DEEP_MACS, JobFlag
from kiwicha.sim.reference import executor as reference
from tests.support.models.wide_channels import convolution, random_convolution
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

PATTERNS = ([0], [63], [24, 25], [3, 40])
"""Wide channels of 64."""
MODELS = 24


def widths(model: bytes, config: str) -> set[bool]:
    """Return whether there are wide jobs, and whether there are others."""
    (found,) = compile_stages(model, config).lists
    return {bool(job.flags & JobFlag.WIDE) for job in found.jobs}


@pytest.mark.parametrize("config", configs.ENGINE_CONFIGS)
@pytest.mark.parametrize("is_depthwise", [False, True], ids=["conv", "depthwise"])
def test_only_groups_with_wide_channels_are_wide(is_depthwise: bool, config: str) -> None:
    kernel = 3 if is_depthwise else 1
    cases = [convolution(wide, is_depthwise=is_depthwise, kernel=kernel) for wide in PATTERNS]
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None
        # Results two cycles apart hold back no depthwise job whose groups have a single beat.
        is_free = is_depthwise and find_config(config).engine_macs == DEEP_MACS
        assert widths(case.model, config) == ({True} if is_free else {False, True})
        (got,) = reference.run(compile_stages(case.model, config).program, case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0])


@pytest.mark.parametrize("config", configs.ENGINE_CONFIGS)
@pytest.mark.parametrize("is_depthwise", [False, True], ids=["conv", "depthwise"])
def test_random_shapes_are_exact(is_depthwise: bool, config: str) -> None:
    cases = [random_convolution(seed, is_depthwise=is_depthwise) for seed in range(MODELS)]
    split = 0
    for seed, (case, answer) in enumerate(zip(cases, oracle.ask(cases), strict=True)):
        assert answer.outputs is not None
        stages = compile_stages(case.model, config)
        split += widths(case.model, config) == {False, True}
        (got,) = reference.run(stages.program, case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0], err_msg=f"seed {seed}")
    is_free = is_depthwise and find_config(config).engine_macs == DEEP_MACS
    assert is_free or split >= MODELS // 10


@pytest.mark.parametrize("config", configs.ENGINE_CONFIGS)
@pytest.mark.parametrize("is_depthwise", [False, True], ids=["conv", "depthwise"])
def test_narrow_groups_are_faster(
    is_depthwise: bool, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = convolution([0], is_depthwise=is_depthwise, kernel=3 if is_depthwise else 1).model
    mixed, _ = predict_program(compile_stages(model, config).program)
    monkeypatch.setattr(select_module, "split_by_width", lambda layer, config: None)
    wide, _ = predict_program(compile_stages(model, config).program)
    is_deep = find_config(config).engine_macs == DEEP_MACS
    if is_depthwise and is_deep:
        assert mixed == wide
        return
    # DRAM holds up the depthwise one as well, and on the fastest engine both.
    share = 1 if is_deep else 0.95 if is_depthwise else 0.85
    assert mixed < share * wide
