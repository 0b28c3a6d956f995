"""Lists of all sorts for the engine of `64-softmax`: what they leave, and the cycles they take."""

import pytest

from kiwicha.errors import SimulationError
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, build_engine
from tests.gateware.engine.list_batches import BATCHES, CONFIG, Batch, check_batch
from tests.gateware.engine.paces import check_paces, read_paces
from tests.support.choices import at_night


@pytest.mark.verilator
@pytest.mark.parametrize(
    "batch",
    [batch if batch.is_small else at_night(batch) for batch in BATCHES],
    ids=[batch.name for batch in BATCHES],
)
def test_lists_do_what_they_are_defined_to(batch: Batch) -> None:
    """Small ones are for the engine that other tests by day share."""
    size = SCRATCHPAD_BYTES if batch.is_small else CONFIG.scratchpad_bytes
    program = build_engine(CONFIG.engine_macs, size, has_softmax=CONFIG.has_softmax)
    check_batch(program, batch, read_paces())


def test_each_batch_whose_pace_is_known_has_a_record() -> None:
    assert list(read_paces()) == [batch.name for batch in BATCHES if batch.has_pace]


def test_another_pace_is_seen() -> None:
    wanted = [[0, 700, 697], [1 << 16, 900, 897]]
    check_paces(wanted, wanted)
    text = r"^list 1 must take \[65536, 900, 897\], as recorded, not \[65536, 901, 897\]$"
    with pytest.raises(SimulationError, match=text):
        check_paces([wanted[0], [1 << 16, 901, 897]], wanted)
    with pytest.raises(SimulationError, match=r"^2 lists are recorded, not 1$"):
        check_paces(wanted[:1], wanted)
