"""Components whose netlists are compared with their sources, with the parameters of `64`."""

from collections.abc import Callable
from typing import Any

from kiwicha.contract.configs import find_config
from kiwicha.gateware.bringup.burst import Burst
from kiwicha.gateware.bringup.frame_decoder import FrameDecoder
from kiwicha.gateware.bringup.frame_encoder import FrameEncoder
from kiwicha.gateware.bringup.request_reader import RequestReader
from kiwicha.gateware.bringup.uart_receiver import UartReceiver
from kiwicha.gateware.bringup.uart_transmitter import UartTransmitter
from kiwicha.gateware.engine.addressing.address_generator import AddressGenerator
from kiwicha.gateware.engine.addressing.convolution import ConvAddressGenerator
from kiwicha.gateware.engine.addressing.depthwise import DepthwiseAddressGenerator
from kiwicha.gateware.engine.addressing.elementwise import ElementwiseAddressGenerator
from kiwicha.gateware.engine.addressing.gathering import Gathering
from kiwicha.gateware.engine.addressing.group_controller import GroupController
from kiwicha.gateware.engine.addressing.kernel_rows import KernelRows
from kiwicha.gateware.engine.addressing.output_rows import OutputRows
from kiwicha.gateware.engine.addressing.result_throttle import ResultThrottle
from kiwicha.gateware.engine.array.cell_controls import CellControls
from kiwicha.gateware.engine.array.mac_array import MacArray
from kiwicha.gateware.engine.array.maxima import Maxima
from kiwicha.gateware.engine.array.output_registers import OutputRegisters
from kiwicha.gateware.engine.array.packed_sum import PackedSum
from kiwicha.gateware.engine.array.sum_memory import SumMemory
from kiwicha.gateware.engine.byte_units import ByteUnits
from kiwicha.gateware.engine.control.command_unit import CommandUnit
from kiwicha.gateware.engine.control.counters import Counters
from kiwicha.gateware.engine.control.job_check import JobCheck
from kiwicha.gateware.engine.control.job_dispatcher import JobDispatcher
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.pause import Pause
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from kiwicha.gateware.engine.depthwise.array_watch import ArrayWatch
from kiwicha.gateware.engine.depthwise.fill_switch import FillSwitch
from kiwicha.gateware.engine.depthwise.line_buffer import LineBuffer
from kiwicha.gateware.engine.depthwise.line_fetcher import LineFetcher
from kiwicha.gateware.engine.depthwise.patience import Patience
from kiwicha.gateware.engine.depthwise.row_passes import RowPasses
from kiwicha.gateware.engine.depthwise.sum_rows import SumRows
from kiwicha.gateware.engine.depthwise.tap_weights import TapWeights
from kiwicha.gateware.engine.depthwise.unit_fills import UnitFills
from kiwicha.gateware.engine.depthwise.unit_requantizer import UnitRequantizer
from kiwicha.gateware.engine.fused.fused_adder import FusedAdder
from kiwicha.gateware.engine.fused.fused_tables import FusedTables
from kiwicha.gateware.engine.joined_beats import JoinedBeats
from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.float_converter import FloatConverter
from kiwicha.gateware.engine.memory.line_words import LineWords
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from kiwicha.gateware.engine.memory.scratchpad import Scratchpad
from kiwicha.gateware.engine.memory.transfer_unit import TransferUnit
from kiwicha.gateware.engine.moves.address_generator import MoveAddressGenerator
from kiwicha.gateware.engine.moves.loops import MoveLoops
from kiwicha.gateware.engine.moves.move_unit import MoveUnit
from kiwicha.gateware.engine.moves.piece_lines import PieceLines
from kiwicha.gateware.engine.moves.tile_buffer import TileBuffer
from kiwicha.gateware.engine.moves.tile_queue import TileQueue
from kiwicha.gateware.engine.recurrent.activation import Activation
from kiwicha.gateware.engine.recurrent.cell_state import CellState
from kiwicha.gateware.engine.recurrent.gate_reader import GateReader
from kiwicha.gateware.engine.recurrent.hidden_state import HiddenState
from kiwicha.gateware.engine.recurrent.recurrent_unit import RecurrentUnit
from kiwicha.gateware.engine.requantize.requantizer import Requantizer
from kiwicha.gateware.engine.requantize.tag_queue import TagQueue
from kiwicha.gateware.engine.softmax.logarithm import Logarithm
from kiwicha.gateware.engine.softmax.logarithm_steps import LogarithmSteps
from kiwicha.gateware.engine.softmax.output_bytes import OutputBytes
from kiwicha.gateware.engine.softmax.product import Product
from kiwicha.gateware.engine.softmax.quotients import Quotients
from kiwicha.gateware.engine.softmax.row_maximum import RowMaximum
from kiwicha.gateware.engine.softmax.row_reader import RowReader
from kiwicha.gateware.engine.softmax.softmax_unit import SoftmaxUnit
from kiwicha.gateware.engine.weights.block_decoder import BlockDecoder
from kiwicha.gateware.engine.weights.block_lane import BlockLane
from kiwicha.gateware.engine.weights.block_lanes import BlockLanes
from kiwicha.gateware.engine.weights.checked_stream import CheckedStream
from kiwicha.gateware.engine.weights.chunk_turns import ChunkTurns
from kiwicha.gateware.engine.weights.decompressor import Decompressor
from kiwicha.gateware.engine.weights.decompressor_input import DecompressorInput
from kiwicha.gateware.engine.weights.decompressor_lane import DecompressorLane
from kiwicha.gateware.engine.weights.decompressor_lanes import DecompressorLanes
from kiwicha.gateware.engine.weights.parameter_memory import ParameterMemory
from kiwicha.gateware.engine.weights.raw_streams import RawStreams
from kiwicha.gateware.engine.weights.weight_buffer import WeightBuffer
from kiwicha.gateware.engine.weights.weight_loader import WeightLoader
from kiwicha.gateware.engine.weights.weight_memory import WeightMemory
from kiwicha.gateware.i2s_receiver import I2sReceiver
from kiwicha.gateware.instructions import requantize
from kiwicha.gateware.instructions.data_unit import DataUnit
from kiwicha.gateware.instructions.decode import Decoder
from kiwicha.gateware.instructions.engine_link import EngineLink
from kiwicha.gateware.instructions.mac import Mac
from kiwicha.gateware.instructions.requantize_unit import RequantizeUnit
from kiwicha.gateware.signal.places import FirstPlace
from kiwicha.gateware.signal.products import Products
from kiwicha.gateware.signal.samples import TaperedPoint
from kiwicha.gateware.signal.signal_unit import SignalUnit
from kiwicha.gateware.signal.square_root import SquareRoot
from kiwicha.gateware.signal.transform import Transform

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
    "bringup.burst": lambda: Burst(depth=8),
    "bringup.frame_decoder": FrameDecoder,
    "bringup.frame_encoder": lambda: FrameEncoder(body_bytes=64),
    "bringup.request_reader": lambda: RequestReader(instructions=4),
    "bringup.uart_receiver": lambda: UartReceiver(clock_hz=100_000_000, baud=1_000_000),
    "bringup.uart_transmitter": lambda: UartTransmitter(clock_hz=100_000_000, baud=1_000_000),
    "engine.addressing.convolution": lambda: ConvAddressGenerator(deep_lanes=_LANES),
    "engine.addressing.depthwise": DepthwiseAddressGenerator,
    "engine.addressing.elementwise": ElementwiseAddressGenerator,
    "engine.addressing.gathering": lambda: Gathering(has_gathered=True),
    "engine.addressing.kernel_rows": KernelRows,
    "engine.addressing.output_rows": lambda: OutputRows(has_depthwise=True),
    "engine.array.cell_controls": CellControls,
    "engine.array.output_registers": lambda: OutputRegisters(
        outputs=_LANES, lanes=_LANES, has_halves=True, has_packed=False, tag_bits=20
    ),
    "engine.array.packed_sum": lambda: PackedSum(lanes=_LANES),
    "engine.byte_units": lambda: ByteUnits(has_softmax=True),
    "engine.depthwise.array_watch": lambda: ArrayWatch(drain_cycles=20, has_softmax=True),
    "engine.depthwise.fill_switch": lambda: FillSwitch(outputs=_LANES),
    "engine.depthwise.line_buffer": LineBuffer,
    "engine.depthwise.line_fetcher": LineFetcher,
    "engine.depthwise.patience": Patience,
    "engine.depthwise.row_passes": RowPasses,
    "engine.depthwise.sum_rows": SumRows,
    "engine.depthwise.tap_weights": TapWeights,
    "engine.depthwise.unit_fills": UnitFills,
    "engine.depthwise.unit_requantizer": UnitRequantizer,
    "engine.fused.fused_tables": lambda: FusedTables(outputs=_LANES),
    "engine.joined_beats": JoinedBeats,
    "engine.moves.address_generator": MoveAddressGenerator,
    "engine.moves.loops": MoveLoops,
    "engine.moves.piece_lines": PieceLines,
    "engine.moves.tile_buffer": TileBuffer,
    "engine.moves.tile_queue": TileQueue,
    "engine.recurrent.activation": Activation,
    "engine.recurrent.cell_state": CellState,
    "engine.recurrent.gate_reader": GateReader,
    "engine.recurrent.hidden_state": HiddenState,
    "engine.recurrent.recurrent_unit": RecurrentUnit,
    "engine.softmax.logarithm": Logarithm,
    "engine.softmax.logarithm_steps": LogarithmSteps,
    "engine.softmax.output_bytes": OutputBytes,
    "engine.softmax.product": Product,
    "engine.softmax.quotients": Quotients,
    "engine.softmax.row_maximum": RowMaximum,
    "engine.softmax.row_reader": RowReader,
    "engine.softmax.softmax_unit": SoftmaxUnit,
    "engine.weights.block_decoder": BlockDecoder,
    "engine.weights.block_lane": BlockLane,
    "engine.weights.block_lanes": BlockLanes,
    "engine.weights.checked_stream": CheckedStream,
    "engine.weights.chunk_turns": lambda: ChunkTurns(lanes=4),
    "engine.weights.decompressor_input": DecompressorInput,
    "engine.weights.decompressor_lane": lambda: DecompressorLane(first_offset=0),
    "engine.weights.decompressor_lanes": DecompressorLanes,
    "engine.weights.raw_streams": RawStreams,
    "engine.weights.weight_memory": lambda: WeightMemory(macs=_MACS, depth=512),
    "i2s_receiver": lambda: I2sReceiver(clock_hz=100_000_000, rate_hz=16_000),
    "instructions.engine_link": EngineLink,
    "instructions.requantize_unit": lambda: RequantizeUnit(multipliers=1),
    "signal.places": FirstPlace,
    "signal.products": Products,
    "signal.samples": TaperedPoint,
    "signal.signal_unit": SignalUnit,
    "signal.square_root": SquareRoot,
    "signal.transform": Transform,
}
"""By the module's name in `kiwicha.gateware`, small ones first."""
