"""Everything of the engine but its data path."""

from amaranth import Cat, Module, Mux, ResetInserter, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, EngineCounter
from kiwicha.gateware.engine.control.command_unit import ENGINE_COMMAND, CommandUnit
from kiwicha.gateware.engine.control.counters import Counters
from kiwicha.gateware.engine.control.job import JOB
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from kiwicha.gateware.engine.datapath import LINE_ACCESS
from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.memory_port import MEMORY_PORT, MemoryPort
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from kiwicha.gateware.engine.memory.transfer_unit import TransferUnit
from kiwicha.gateware.engine.weights.weight_loader import WeightLoader

__all__ = ["CORE_COUNTS", "Control"]

CORE_COUNTS = data.StructLayout({"busy": 1, "waits_weights": 1, "waits_requantizer": 1})
"""``counts`` of the `Core`."""
_JOBS, _TRANSFERS, _WEIGHTS, _TRANSFER_DATA = range(4)
_READERS = 4


class Control(wiring.Component):
    """Instructions, lists, descriptors, weights and transfers, for one `Core`.

    Parameters
    ----------
    macs : int
        Products per cycle of the core.
    scratchpad_bytes : int
        Size of its scratchpad.
    has_codec : bool
        Weights can be coded.

    Members
    -------
    commands : ``In(stream.Signature(ENGINE_COMMAND))``
        Instructions.
    responses : ``Out(stream.Signature(32))``
        One for each, in order.
    memory : ``Out(MEMORY_PORT)``
        Port to DRAM.
    clear : ``Out(1)``
        Reset of the core.
    job, start, done, counts, fills, beats, heads, accesses, read_data
        Those of the `Core`.
    weight_zero_point, weights_are_unsigned, weights_are_tables, weights_are_packed
        Those of the `Core`.
    """

    def __init__(self, *, macs: int, scratchpad_bytes: int, has_codec: bool = True) -> None:
        self.macs = macs
        self.scratchpad_bytes = scratchpad_bytes
        self.has_codec = has_codec
        self.loader = WeightLoader(macs=macs, has_codec=has_codec)
        super().__init__({
            "commands": In(stream.Signature(ENGINE_COMMAND)),
            "responses": Out(stream.Signature(32)),
            "memory": Out(MEMORY_PORT),
            "clear": Out(1),
            "job": Out(JOB),
            "start": Out(1),
            "done": In(1),
            "fills": Out(stream.Signature(self.loader.fills.payload.shape())),
            "beats": Out(stream.Signature(8 * LINE_BYTES)),
            "heads": Out(8 * LINE_BYTES),
            "weight_zero_point": Out(signed(9)),
            "weights_are_unsigned": Out(1),
            "weights_are_tables": Out(1),
            "weights_are_packed": Out(1),
            "accesses": Out(stream.Signature(LINE_ACCESS)),
            "read_data": In(8 * LINE_BYTES),
            "counts": In(CORE_COUNTS),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect the components; all but those that outlive an error are reset after it."""
        m = Module()
        clear = ResetInserter(self.clear)
        m.submodules.unit = unit = CommandUnit()
        m.submodules.sequencer = sequencer = Sequencer()
        m.submodules.counters = counters = Counters()
        m.submodules.port = port = MemoryPort(readers=_READERS)
        ranges, writer = ProtectionRanges(clients=_READERS), DmaWriter()
        readers = [DmaReader() for _ in range(_READERS)]
        m.submodules.ranges = clear(ranges)
        m.submodules.writer = clear(writer)
        for number, reader in enumerate(readers):
            m.submodules[f"reader_{number}"] = clear(reader)
            wiring.connect(m, reader.port, port.readers[number])
        wiring.connect(m, writer.port, port.writer)
        wiring.connect(m, port.port, wiring.flipped(self.memory))
        m.d.comb += [
            self.clear.eq(sequencer.clear),
            port.halt.eq(sequencer.halt),
            sequencer.memory_is_idle.eq(port.is_idle),
            ranges.sets.eq(unit.sets_range),
            ranges.sets_arena.eq(unit.sets_arena),
            ranges.range.eq(unit.range),
            sequencer.errors.outside_list.eq(ranges.is_outside[:_WEIGHTS].any()),
            # Streams that were asked for before may still turn out to be bad.
            sequencer.errors.outside_weights.eq(
                ranges.is_outside[_WEIGHTS] & self.loader.is_between
            ),
            sequencer.errors.outside_transfer.eq(ranges.is_outside[_TRANSFER_DATA]),
        ]
        for number in range(_TRANSFER_DATA):
            wiring.connect(m, ranges.grants[number], readers[number].requests)
        for number, requests in enumerate(sequencer.requests):
            wiring.connect(m, requests, ranges.requests[number])
        self._instructions(m, unit, sequencer, counters)
        self._jobs(m, clear, sequencer, ranges, readers)
        self._transfers(m, clear, unit, sequencer, ranges, readers, writer)
        return m

    def _instructions(
        self, m: Module, unit: CommandUnit, sequencer: Sequencer, counters: Counters
    ) -> None:
        """Connect what instructions set and read."""
        wiring.connect(m, wiring.flipped(self.commands), unit.commands)
        wiring.connect(m, unit.responses, wiring.flipped(self.responses))
        events = {
            EngineCounter.TOTAL: sequencer.is_running,
            EngineCounter.BUSY: self.counts.busy,
            EngineCounter.WAIT_WEIGHTS: self.counts.waits_weights,
            EngineCounter.WAIT_TRANSFERS: sequencer.waits_transfers,
            EngineCounter.WAIT_REQUANTIZER: self.counts.waits_requantizer,
        }
        m.d.comb += [
            sequencer.start.eq(unit.start),
            sequencer.list.eq(unit.list),
            sequencer.watchdog_cycles.eq(unit.watchdog_cycles),
            sequencer.cycles.eq(counters.total),
            unit.is_running.eq(sequencer.is_running),
            unit.status.eq(sequencer.status),
            unit.count.eq(counters.count),
            counters.index.eq(unit.counter_index),
            counters.job.eq(unit.counter_job),
            counters.reads_job.eq(unit.reads_job),
            counters.clear.eq(unit.start),
            counters.events.eq(Cat(events[counter] for counter in EngineCounter)),
            counters.job_ends.eq(self.done),
            counters.job_number.eq(sequencer.jobs_done),
        ]

    def _jobs(
        self,
        m: Module,
        clear: ResetInserter,
        sequencer: Sequencer,
        ranges: ProtectionRanges,
        readers: list[DmaReader],
    ) -> None:
        """Connect the way of jobs and their weights."""
        fetcher = JobFetcher(
            scratchpad_bytes=self.scratchpad_bytes, macs=self.macs, has_codec=self.has_codec
        )
        loader = self.loader
        m.submodules.job_fetcher = clear(fetcher)
        m.submodules.loader = clear(loader)
        wiring.connect(m, readers[_JOBS].beats, fetcher.beats)
        wiring.connect(m, fetcher.weights, loader.jobs)
        wiring.connect(m, loader.requests, ranges.requests[_WEIGHTS])
        wiring.connect(m, readers[_WEIGHTS].beats, loader.stored)
        wiring.connect(m, loader.fills, wiring.flipped(self.fills))
        wiring.connect(m, loader.beats, wiring.flipped(self.beats))
        wiring.connect(m, fetcher.jobs, sequencer.jobs)
        m.d.comb += [
            fetcher.transfers.eq(sequencer.list.transfers),
            sequencer.fetched_jobs.eq(fetcher.number),
            sequencer.errors.job.eq(fetcher.error),
            sequencer.errors.bad_stream.eq(loader.is_bad_stream),
            sequencer.loaded_jobs.eq(loader.number),
            sequencer.is_quiet.eq(loader.is_idle & sequencer.memory_is_idle),
            sequencer.core_done.eq(self.done),
            self.start.eq(sequencer.core_start),
            self.job.eq(fetcher.jobs.payload),
            self.heads.eq(loader.heads),
            self.weight_zero_point.eq(loader.zero_point),
            self.weights_are_unsigned.eq(loader.is_unsigned),
            self.weights_are_tables.eq(loader.is_table),
            self.weights_are_packed.eq(loader.is_packed),
        ]

    def _transfers(
        self,
        m: Module,
        clear: ResetInserter,
        unit: CommandUnit,
        sequencer: Sequencer,
        ranges: ProtectionRanges,
        readers: list[DmaReader],
        writer: DmaWriter,
    ) -> None:
        """Connect the way of transfers, and the accesses to the scratchpad."""
        fetcher = TransferFetcher(scratchpad_bytes=self.scratchpad_bytes)
        transfers = TransferUnit()
        m.submodules.transfer_fetcher = clear(fetcher)
        m.submodules.transfer_unit = clear(transfers)
        wiring.connect(m, readers[_TRANSFERS].beats, fetcher.beats)
        wiring.connect(m, fetcher.transfers, transfers.transfers)
        wiring.connect(m, transfers.requests, ranges.requests[_TRANSFER_DATA])
        wiring.connect(m, readers[_TRANSFER_DATA].beats, transfers.loaded)
        wiring.connect(m, transfers.stored, writer.beats)
        grant, reads = ranges.grants[_TRANSFER_DATA], readers[_TRANSFER_DATA].requests
        is_store = transfers.requests.payload.is_write
        m.d.comb += [
            reads.payload.eq(grant.payload),
            reads.valid.eq(grant.valid & ~is_store),
            writer.requests.payload.eq(grant.payload),
            writer.requests.valid.eq(grant.valid & is_store),
            grant.ready.eq(Mux(is_store, writer.requests.ready, reads.ready)),
            fetcher.jobs.eq(sequencer.list.jobs),
            transfers.jobs_done.eq(sequencer.jobs_done),
            transfers.writer_has_room.eq(writer.has_room),
            transfers.writer_is_idle.eq(writer.is_idle),
            transfers.read_data.eq(self.read_data),
            unit.read_data.eq(self.read_data),
            sequencer.errors.transfer.eq(fetcher.error),
            sequencer.transfer_done.eq(transfers.done),
            # One of the two is idle.
            self.accesses.valid.eq(transfers.accesses.valid | unit.accesses.valid),
            self.accesses.payload.eq(
                Mux(sequencer.is_running, transfers.accesses.payload, unit.accesses.payload)
            ),
            transfers.accesses.ready.eq(self.accesses.ready),
            unit.accesses.ready.eq(self.accesses.ready),
        ]
