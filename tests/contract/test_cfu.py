"""The contract: ids do not collide, layouts are complete, hashes tell configurations apart."""

import dataclasses
import itertools

import pytest

from kiwicha.contract import cfu, configs
from kiwicha.contract.layout import Struct
from kiwicha.contract.program import STRUCTS, BootBlock, Kernel, Where
from kiwicha.kernels.registry import KERNEL_PARAMS


def all_instructions() -> list[tuple[cfu.Group, int, int]]:
    return [
        (item.group, item.op, index)
        for item in cfu.INSTRUCTIONS.values()
        for index in range(item.indexes)
    ]


def test_function_ids_are_ten_bits_and_unique() -> None:
    ids = [cfu.function_id(*instruction) for instruction in all_instructions()]
    assert len(set(ids)) == len(ids)
    assert all(0 <= number < 1024 for number in ids)


def test_every_instruction_is_listed() -> None:
    groups = (cfu.ConfigOp, cfu.AccumulatorOp, cfu.RequantizeOp, cfu.DataOp)
    names = {op.name.lower() for ops in groups for op in ops}
    assert set(cfu.INSTRUCTIONS) == names | {"mac", "mac_lanes"}


def test_a_function_id_holds_group_op_and_index() -> None:
    for group, op, index in itertools.product(cfu.Group, range(8), range(16)):
        number = cfu.function_id(group, op, index)
        funct7, funct3 = number >> 3, number & 7
        assert (funct3, funct7 >> 4, funct7 & 15) == (group, op, index)


@pytest.mark.parametrize(("op", "index"), [(-1, 0), (8, 0), (0, -1), (0, 16)])
def test_function_id_refuses(op: int, index: int) -> None:
    message = f"op and index must be 0 to 7 and 0 to 15, not {op} and {index}"
    with pytest.raises(ValueError, match=f"^{message}$"):
        cfu.function_id(cfu.Group.DATA, op, index)


def test_an_unknown_id_has_an_answer_of_its_own() -> None:
    answers = {cfu.UNKNOWN_RESPONSE + number for number in range(1024)}
    assert len(answers) == 1024
    assert max(answers) < 2**32


@pytest.mark.parametrize("kernel", Kernel)
def test_where_a_kernel_runs(kernel: Kernel) -> None:
    tier = kernel.name.partition("_")[0]
    places = {
        "SIMD": Where.SIMD,
        "ENGINE": Where.ENGINE,
        "COMPUTED": Where.ENGINE,
        "UNIT": Where.SIGNAL,
    }
    assert kernel.where is places.get(tier, Where.CPU)
    assert kernel < 2**16


@pytest.mark.parametrize(
    "kind", dict.fromkeys((*STRUCTS, *KERNEL_PARAMS.values())), ids=lambda kind: kind.__name__
)
def test_structures(kind: type[Struct]) -> None:
    fields = {field.name for field in dataclasses.fields(kind)}
    assert {name for name, _, _ in kind.layout()} == fields
    assert kind.size_bytes() % 4 == 0
    assert kind.unpack(bytes(kind.size_bytes())).pack() == bytes(kind.size_bytes())


def test_configurations_have_different_hashes() -> None:
    known = configs.CONFIGS | configs.ENGINE_CONFIGS
    hashes = {config.hash for config in known.values()}
    assert len(hashes) == len(known) == len(configs.CONFIGS) + len(configs.ENGINE_CONFIGS)
    assert all(configs.config_of_hash(config.hash) is config for config in known.values())
    assert configs.config_of_hash(next(n for n in range(9) if n not in hashes)) is None
    assert all(0 <= number < 2**32 for number in hashes)
    assert all(name == config.name for name, config in known.items())
    assert configs.DEFAULT_CONFIG in configs.CONFIGS


def test_the_hash_is_of_what_the_hardware_has() -> None:
    config = configs.CONFIGS["simd"]
    assert dataclasses.replace(config, summary="other words").hash == config.hash
    for changes in (
        {"has_simd": False},
        {"name": "other"},
        {"engine_macs": 32},
        {"scratchpad_bytes": 1024},
        {"multipliers": 1},
    ):
        assert dataclasses.replace(config, **changes).hash != config.hash


def test_memory_map() -> None:
    assert cfu.ONCHIP_BASE + cfu.ONCHIP_BYTES <= cfu.DRAM_BASE
    assert cfu.STACK_BYTES < cfu.ONCHIP_BYTES
    assert cfu.BOOT_BLOCK_ADDRESS + BootBlock.size_bytes() <= cfu.IMAGE_ADDRESS
    assert cfu.IMAGE_ADDRESS % cfu.ALIGNMENT_BYTES == 0
    assert cfu.IMAGE_ADDRESS < cfu.DRAM_BASE + cfu.DRAM_BYTES


def test_every_status_has_a_text() -> None:
    assert set(cfu.STATUS_TEXT) == set(cfu.Status)
    assert len(set(cfu.STATUS_TEXT.values())) == len(cfu.Status)
