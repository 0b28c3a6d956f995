"""Components whose netlists are compared with their sources, with the parameters of `64`."""

from collections.abc import Callable
from typing import Any

from kiwicha.contract.configs import find_config
from kiwicha.gateware.engine.addressing.address_generator import AddressGenerator
from kiwicha.gateware.engine.addressing.group_controller import GroupController
from kiwicha.gateware.engine.addressing.result_throttle import ResultThrottle
from kiwicha.gateware.engine.array.mac_array import MacArray
from kiwicha.gateware.engine.array.maxima import Maxima
from kiwicha.gateware.engine.array.sum_memory import SumMemory
from kiwicha.gateware.engine.control.command_unit import CommandUnit
from kiwicha.gateware.engine.control.counters import Counters
from kiwicha.gateware.engine.control.job_check import JobCheck
from kiwicha.gateware.engine.control.job_dispatcher import JobDispatcher
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.pause import Pause
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from kiwicha.gateware.engine.fused.fused_adder import FusedAdder
from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.float_converter import FloatConverter
from kiwicha.gateware.engine.memory.line_words import LineWords
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from kiwicha.gateware.engine.memory.scratchpad import Scratchpad
from kiwicha.gateware.engine.memory.transfer_unit import TransferUnit
from kiwicha.gateware.engine.moves.move_unit import MoveUnit
from kiwicha.gateware.engine.requantize.requantizer import Requantizer
from kiwicha.gateware.engine.requantize.tag_queue import TagQueue
from kiwicha.gateware.engine.weights.decompressor import Decompressor
from kiwicha.gateware.engine.weights.parameter_memory import ParameterMemory
from kiwicha.gateware.engine.weights.weight_buffer import WeightBuffer
from kiwicha.gateware.engine.weights.weight_loader import WeightLoader
from kiwicha.gateware.instructions import requantize
from kiwicha.gateware.instructions.data_unit import DataUnit
from kiwicha.gateware.instructions.decode import Decoder
from kiwicha.gateware.instructions.mac import Mac

__all__ = ["COMPONENTS", "CONFIG"]

CONFIG = "64"
_MACS, _LANES = 64, 8
_BYTES = find_config(CONFIG).scratchpad_bytes
_READERS = 4

COMPONENTS: dict[str, Callable[[], Any]] = {
    "engine.control.sequencer": Sequencer,
    "engine.memory.memory_port": lambda: MemoryPort(readers=_READERS),
    "engine.memory.dma_reader": DmaReader,
    "engine.memory.dma_writer": DmaWriter,
    "engine.memory.protection": lambda: ProtectionRanges(clients=_READERS),
    "engine.control.command_unit": CommandUnit,
    "engine.control.transfer_fetcher": lambda: TransferFetcher(scratchpad_bytes=_BYTES),
    "engine.memory.transfer_unit": TransferUnit,
    "engine.control.pause": Pause,
    "engine.control.job_dispatcher": JobDispatcher,
    "engine.control.counters": Counters,
    "engine.memory.line_words": LineWords,
    "engine.requantize.tag_queue": lambda: TagQueue(tag_bits=20),
    "engine.addressing.result_throttle": ResultThrottle,
    "engine.addressing.group_controller": lambda: GroupController(drain_cycles=20),
    "engine.array.sum_memory": lambda: SumMemory(lanes=_LANES),
    "engine.array.maxima": lambda: Maxima(lanes=_LANES),
    "instructions.decode": lambda: Decoder(has_simd=True, has_engine=True),
    "instructions.data_unit": DataUnit,
    "engine.control.job_check": lambda: JobCheck(scratchpad_bytes=_BYTES, macs=_MACS),
    "engine.memory.scratchpad": lambda: Scratchpad(size_bytes=_BYTES),
    "engine.memory.float_converter": FloatConverter,
    "engine.weights.parameter_memory": lambda: ParameterMemory(lanes=_LANES, beats=1),
    "instructions.mac": Mac,
    "instructions.requantize": requantize.Requantizer,
    "engine.moves.move_unit": MoveUnit,
    "engine.addressing.address_generator": lambda: AddressGenerator(beats=1),
    "engine.control.job_fetcher": lambda: JobFetcher(
        scratchpad_bytes=_BYTES, macs=_MACS, has_codec=True
    ),
    "engine.weights.weight_loader": lambda: WeightLoader(macs=_MACS, has_codec=True),
    "engine.weights.decompressor": Decompressor,
    "engine.weights.weight_buffer": lambda: WeightBuffer(macs=_MACS),
    "engine.requantize.requantizer": lambda: Requantizer(lanes=_LANES),
    "engine.fused.fused_adder": lambda: FusedAdder(
        macs=_MACS, lanes=_LANES, scratchpad_bytes=_BYTES
    ),
    "engine.array.mac_array": lambda: MacArray(macs=_MACS, lanes=_LANES),
}
"""By the module's name in `kiwicha.gateware`, small ones first."""
