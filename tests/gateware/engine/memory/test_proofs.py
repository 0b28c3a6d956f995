"""Proofs about FIFOs, addresses, lines and numbers: for all inputs, not only those of a bench.

Bounded ones say in how many cycles after a reset they hold; the others hold for ever.
"""

import functools
from pathlib import Path
from typing import Any

import pytest
from amaranth import Signal

from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.memory import dma_reader, memory_port, protection
from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.float_converter import FloatConverter
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from kiwicha.gateware.engine.memory.transfer_unit import TransferUnit
from tests.gateware.engine.memory import (
    proof_chain,
    proof_dma,
    proof_float_converter,
    proof_port,
    proof_transfer_unit,
)
from tests.support.gateware.mutants import mutant
from tests.support.gateware.proof import prove

pytestmark = pytest.mark.synth
BOUNDED_CYCLES = 12
PORT_MUTANTS = {
    "another reader's address": (
        "address.eq(reader.commands.payload.address)",
        "address.eq(self.readers[(number + 1) % count].commands.payload.address)",
    ),
    "never last": ("is_last.eq(reader.commands.payload.is_last)", "is_last.eq(0)"),
    "another reader's word": (
        "(tags.r_data[1:] == number)",
        "(tags.r_data[1:] == (number + 1) % len(self.readers))",
    ),
    "inverted words": ("data_s1.eq(rdata.payload)", "data_s1.eq(~rdata.payload)"),
    "a reader's address for a write": (
        "address.eq(self.writer.commands.payload)",
        "address.eq(self.readers[0].commands.payload.address)",
    ),
    "all bytes written": (
        "self.writer.beats.payload.mask & (writes != 0).replicate(LINE_BYTES)",
        "-1",
    ),
    "words from before a reset": (
        "valid_s1.eq(rdata.valid & begins)",
        "valid_s1.eq(rdata.valid)",
    ),
    "idle before it begins": (
        "self.is_idle.eq(begins & ~cmd.valid",
        "self.is_idle.eq(~cmd.valid",
    ),
}
CHAIN_MUTANTS = {
    "a word more": ("ranges", protection, "(end > allowed.words)", "(end > allowed.words + 1)"),
    "a Program that can be written": (
        "ranges",
        protection,
        "| (request.is_write & request.is_program)",
        "",
    ),
    "a read that runs on": (
        "reader",
        dma_reader,
        "is_last.eq(following == end)",
        "is_last.eq(address == end)",
    ),
    "another client's address": (
        "port",
        memory_port,
        *PORT_MUTANTS["a reader's address for a write"],
    ),
}
CLASSES = {"ranges": "ProtectionRanges", "reader": "DmaReader", "port": "MemoryPort"}


@pytest.mark.parametrize(
    ("make", "rules", "steps"),
    [
        pytest.param(DmaReader, proof_dma.reader, 3, id="reader"),
        pytest.param(DmaWriter, proof_dma.writer, 3, id="writer"),
        pytest.param(
            functools.partial(ProtectionRanges, clients=2), proof_dma.ranges, 4, id="ranges"
        ),
        pytest.param(TransferUnit, proof_transfer_unit.transfer_unit, 2, id="transfer-unit"),
        pytest.param(FloatConverter, proof_float_converter.float_converter, 2, id="converter"),
    ],
)
def test_holds_for_ever(tmp_path: Path, make: Any, rules: Any, steps: int) -> None:
    component = make()
    prove(component, rules(component), tmp_path, steps=steps, is_inductive=True)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make", "rules"),
    [
        pytest.param(functools.partial(DmaReader, depth=8), proof_dma.reader_payloads, id="reader"),
        pytest.param(functools.partial(DmaWriter, depth=8), proof_dma.writer_payloads, id="writer"),
    ],
)
def test_holds_in_the_first_cycles(tmp_path: Path, make: Any, rules: Any) -> None:
    component = make()
    prove(component, rules(component), tmp_path, steps=BOUNDED_CYCLES)


@pytest.mark.nightly
def test_every_client_of_the_engine_stays_in_the_ranges(tmp_path: Path) -> None:
    component = ProtectionRanges(clients=4)
    prove(component, proof_dma.ranges(component), tmp_path, steps=5, is_inductive=True)


def prove_port(component: MemoryPort, folder: Path, *, is_inductive: bool = True) -> None:
    choose = Signal()
    rules = proof_port.memory_port(component, choose)
    prove(component, rules, folder, steps=3, is_inductive=is_inductive, free=[choose])


@pytest.mark.parametrize("readers", [2, 4])
def test_each_reader_gets_the_words_of_its_addresses(tmp_path: Path, readers: int) -> None:
    """It holds for ever."""
    prove_port(MemoryPort(readers=readers), tmp_path)


@pytest.mark.parametrize("name", PORT_MUTANTS)
def test_the_proof_of_the_port_sees(tmp_path: Path, name: str) -> None:
    component = mutant(memory_port, *PORT_MUTANTS[name]).MemoryPort(readers=2)
    with pytest.raises(SimulationError, match=r"^not proven: the proof failed "):
        prove_port(component, tmp_path)


def prove_chain(component: proof_chain.WindowChain, folder: Path) -> None:
    rules = proof_chain.window_chain(component)
    prove(component, rules, folder, steps=2, is_inductive=True)


@pytest.mark.nightly
@pytest.mark.parametrize("client", range(4))
def test_what_reaches_dram_lies_in_its_window(tmp_path: Path, client: int) -> None:
    """It holds for ever. That four readers get no others' addresses is the port's own proof."""
    prove_chain(proof_chain.WindowChain(clients=4, client=client), tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CHAIN_MUTANTS)
def test_the_proof_of_windows_sees(tmp_path: Path, name: str) -> None:
    part, module, text, other = CHAIN_MUTANTS[name]
    parts = {part: getattr(mutant(module, text, other), CLASSES[part])}
    component = proof_chain.WindowChain(clients=1, client=0, **parts)
    with pytest.raises(SimulationError, match=r"^not proven: the proof failed "):
        prove_chain(component, tmp_path)
