"""Lists in the arena, and the transfers that bring them there."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.engine.codegen import division
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.sim.reference import executor as reference
from tests.support.models.random_layers import RandomModel
from tests.support.oracle.oracle import Case


def product(batches: int, rows: int, depth: int, columns: int, *, has_table: bool = False) -> Case:
    """Give a product of computed matrices."""
    model = RandomModel(random.Random("brought lists"))
    x, other = model.input((batches, rows, depth)), model.input((batches, columns, depth))
    z = model.product(x, other, is_first_adjoint=False, is_second_adjoint=True)
    if has_table:
        model.unary("LOGISTIC", z)
    return model.case()


def compiled(config: str, *sizes: int, has_table: bool = False) -> Compilation:
    """Give what the compiler makes of it."""
    return compile_stages(product(*sizes, has_table=has_table).model, config)


def test_a_list_is_brought_beside_the_last_jobs() -> None:
    bringing, brought = compiled("64", 3, 20, 24, 17, has_table=True).lists
    (item,) = bringing.brought
    assert item.whole is brought
    load, store = (bringing.transfers[number].transfer for number in item.transfers)
    *_, last = bringing.transfers
    assert load.wait_jobs == store.wait_jobs == 0
    assert load.scratchpad_address >= bringing.plan.scratchpad_bytes
    assert item.scratchpad_end == load.scratchpad_address + brought.stored_bytes
    assert last.transfer.is_store
    assert last.transfer.dram_offset >= brought.stored_bytes
    assert bringing.constants[item.start :] == bytes(brought.stored_bytes)
    # The table of the LOGISTIC comes with the list, the matrices behind it.
    assert len(brought.streams) > 2048
    assert brought.image_tensors == {
        brought.region.list_tensor: brought.stored_bytes + brought.computed_bytes
    }


def test_without_room_a_list_is_brought_at_the_end() -> None:
    bringing, _ = compiled("64-8k-r4", 1, 4, 8, 180, has_table=True).lists
    (item,) = bringing.brought
    load = bringing.transfers[item.transfers.start].transfer
    assert (load.scratchpad_address, load.wait_jobs) == (0, len(bringing.jobs))
    assert item.transfers.stop == len(bringing.transfers)
    case = product(1, 4, 8, 180, has_table=True)
    (wanted,), (got,) = (
        reference.run(compile_model(case.model, name), case.inputs)
        for name in ("baseline", "64-8k-r4")
    )
    np.testing.assert_array_equal(got, wanted)


def test_a_list_that_the_scratchpad_does_not_hold_is_for_the_cpu() -> None:
    found = compiled("64-8k-r4", 100, 8, 8, 8)
    (why,) = engine_refusals(found).values()
    assert why == "it has a list of 9,792 bytes; the scratchpad holds 8,192"
    assert not found.lists


def test_a_product_with_too_many_jobs_is_for_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(division, "MAX_JOBS", 19)
    assert len(compiled("64", 19, 8, 8, 8).lists) == 2
    found = compiled("64", 20, 8, 8, 8)
    (why,) = engine_refusals(found).values()
    assert why == "it has more jobs than one list can hold"
    assert not found.lists
