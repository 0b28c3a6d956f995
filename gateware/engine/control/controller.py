"""Everything of the engine but its data path."""

from amaranth import Cat, Module, Mux, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES, EngineCounter
from kiwicha.gateware.engine.control.command_unit import CommandUnit
from kiwicha.gateware.engine.control.counters import Counters
from kiwicha.gateware.engine.control.job_dispatcher import JobDispatcher
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from kiwicha.gateware.engine.interfaces import DatapathSignature, EngineSignature
from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.float_converter import FloatConverter
from kiwicha.gateware.engine.memory.interfaces import LineSource
from kiwicha.gateware.engine.memory.line_words import LineWords
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from kiwicha.gateware.engine.memory.transfer_unit import TransferUnit
from kiwicha.gateware.engine.weights.weight_loader import WeightLoader

__all__ = ["Controller"]

_JOBS, _TRANSFERS, _WEIGHTS, _TRANSFER_DATA = range(4)
_READERS = 4


class Controller(wiring.Component):
    """Instructions, lists, descriptors, weights and transfers, for one `Datapath`.

    Parameters
    ----------
    macs : int
        Products per cycle of the data path.
    scratchpad_bytes : int
        Size of its scratchpad.
    has_codec : bool
        Weights can be coded.
    has_blocks : bool
        The code is that of blocks.
    is_resident : bool
        Words of weights can be kept.
    has_softmax : bool
        There are SOFTMAX jobs.
    has_depthwise : bool
        There is a depthwise unit.
    is_preemptible : bool
        Lists can pause.
    has_int16 : bool
        There are jobs of int16.
    has_recurrent : bool
        There are RECURRENT jobs.

    Members
    -------
    reset : ``In(1)``
        Reset of everything, beside that of the domain, which can be without.
    clear : ``Out(1)``
        Reset of the data path, and of all here but what outlives an error. A register.
    datapath : ``Out(DatapathSignature(macs, has_pairs=has_blocks))``
        The data path.
    commands, responses, memory
        See `EngineSignature`.
    is_running : ``Out(1)``
        Only if ``is_preemptible``: a list runs.
    """

    def __init__(
        self,
        *,
        macs: int,
        scratchpad_bytes: int,
        has_codec: bool = True,
        has_blocks: bool = False,
        is_resident: bool = False,
        has_softmax: bool = False,
        has_depthwise: bool = False,
        is_preemptible: bool = False,
        has_int16: bool = False,
        has_recurrent: bool = False,
    ) -> None:
        self.macs = macs
        self.scratchpad_bytes = scratchpad_bytes
        self.has_codec = has_codec
        self.has_blocks = has_blocks
        self.is_resident = is_resident
        self.has_softmax = has_softmax
        self.has_depthwise = has_depthwise
        self.is_preemptible = is_preemptible
        self.has_int16 = has_int16
        self.has_recurrent = has_recurrent
        self.loader = WeightLoader(
            macs=macs,
            has_codec=has_codec,
            has_blocks=has_blocks,
            is_resident=is_resident,
            has_depthwise=has_depthwise,
        )
        super().__init__({
            **EngineSignature().flip().members,
            **({"is_running": Out(1)} if is_preemptible else {}),
            "reset": In(1),
            "clear": Out(1),
            "datapath": Out(
                DatapathSignature(
                    macs=macs,
                    has_pairs=has_blocks,
                    is_resident=is_resident,
                    has_depthwise=has_depthwise,
                )
            ),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect the components; all but those that outlive an error are reset after it."""
        m = Module()
        reset, clear = ResetInserter(self.reset), ResetInserter(self.clear)
        sequencer = Sequencer(has_depthwise=self.has_depthwise, is_preemptible=self.is_preemptible)
        unit, counters = CommandUnit(is_preemptible=self.is_preemptible), Counters()
        port = MemoryPort(readers=_READERS)
        m.submodules.unit = reset(unit)
        m.submodules.sequencer = reset(sequencer)
        m.submodules.counters = reset(counters)
        m.submodules.port = reset(port)
        ranges, writer = ProtectionRanges(clients=_READERS), DmaWriter()
        readers = [DmaReader() for _ in range(_READERS)]
        m.submodules.ranges = clear(ranges)
        m.submodules.writer = clear(writer)
        for number, reader in enumerate(readers):
            m.submodules[f"reader_{number}"] = clear(reader)
            wiring.connect(m, reader.port, port.readers[number])
        wiring.connect(m, writer.port, port.writer)
        wiring.connect(m, port.port, wiring.flipped(self.memory))
        wiring.connect(m, unit.ranges, ranges.setting)
        if self.is_preemptible:
            m.d.comb += self.is_running.eq(sequencer.lists.is_running)
        m.d.comb += [
            self.clear.eq(sequencer.clear),
            port.halt.eq(sequencer.halt),
            sequencer.memory_is_idle.eq(port.is_idle),
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
        self._jobs(m, clear, sequencer, counters, ranges, readers)
        self._transfers(m, clear, unit, sequencer, ranges, readers, writer)
        return m

    def _instructions(
        self, m: Module, unit: CommandUnit, sequencer: Sequencer, counters: Counters
    ) -> None:
        """Connect what instructions set and read."""
        wiring.connect(m, wiring.flipped(self.commands), unit.commands)
        wiring.connect(m, unit.responses, wiring.flipped(self.responses))
        wiring.connect(m, unit.sequencer, sequencer.lists)
        wiring.connect(m, unit.counters, counters.read)
        events = {
            EngineCounter.TOTAL: sequencer.lists.is_running,
            EngineCounter.BUSY: self.datapath.counts.busy,
            EngineCounter.WAIT_WEIGHTS: self.datapath.counts.waits_weights,
            EngineCounter.WAIT_TRANSFERS: sequencer.waits_transfers,
            EngineCounter.WAIT_REQUANTIZER: self.datapath.counts.waits_requantizer,
        }
        m.d.comb += [
            sequencer.cycles.eq(counters.total),
            counters.clear.eq(unit.sequencer.start),
            counters.events.eq(Cat(events[counter] for counter in EngineCounter)),
        ]
        if not self.has_depthwise:
            m.d.comb += [
                counters.job_ends.eq(self.datapath.done),
                counters.job_number.eq(sequencer.jobs_done),
            ]

    def _jobs(
        self,
        m: Module,
        clear: ResetInserter,
        sequencer: Sequencer,
        counters: Counters,
        ranges: ProtectionRanges,
        readers: list[DmaReader],
    ) -> None:
        """Connect the way of jobs and their weights."""
        fetcher = JobFetcher(
            scratchpad_bytes=self.scratchpad_bytes,
            macs=self.macs,
            has_codec=self.has_codec,
            has_blocks=self.has_blocks,
            is_resident=self.is_resident,
            has_softmax=self.has_softmax,
            has_depthwise=self.has_depthwise,
            has_int16=self.has_int16,
            has_recurrent=self.has_recurrent,
        )
        loader = self.loader
        m.submodules.job_fetcher = clear(fetcher)
        m.submodules.loader = clear(loader)
        wiring.connect(m, readers[_JOBS].beats, fetcher.beats)
        wiring.connect(m, fetcher.weights, loader.jobs)
        wiring.connect(m, loader.requests, ranges.requests[_WEIGHTS])
        wiring.connect(m, readers[_WEIGHTS].beats, loader.stored)
        wiring.connect(m, loader.fill, wiring.flipped(self.datapath.fill))
        if self.has_depthwise:
            self._dispatch(m, clear, fetcher, sequencer, counters)
        else:
            wiring.connect(m, fetcher.jobs, sequencer.jobs)
            m.d.comb += self.datapath.job.eq(fetcher.jobs.payload)
        m.d.comb += [
            fetcher.transfers.eq(sequencer.lists.list.transfers),
            sequencer.fetched_jobs.eq(fetcher.number),
            sequencer.errors.job.eq(fetcher.error),
            sequencer.errors.bad_stream.eq(loader.is_bad_stream),
            sequencer.loaded_jobs.eq(loader.number),
            sequencer.is_quiet.eq(loader.is_idle & sequencer.memory_is_idle),
            sequencer.datapath_done.eq(self.datapath.done),
            self.datapath.start.eq(sequencer.datapath_start),
        ]

    def _dispatch(
        self,
        m: Module,
        clear: ResetInserter,
        fetcher: JobFetcher,
        sequencer: Sequencer,
        counters: Counters,
    ) -> None:
        """Connect the way of jobs to the array and to the depthwise unit."""
        dispatcher = JobDispatcher()
        m.submodules.dispatcher = clear(dispatcher)
        wiring.connect(m, fetcher.jobs, dispatcher.jobs)
        wiring.connect(m, dispatcher.array, sequencer.jobs)
        wiring.connect(m, dispatcher.unit, sequencer.unit_jobs)
        datapath = self.datapath
        m.d.comb += [
            datapath.job.eq(dispatcher.array.payload),
            datapath.unit_job.eq(dispatcher.unit.payload),
            datapath.unit_start.eq(sequencer.unit_start),
            sequencer.unit_done.eq(datapath.unit_done),
            sequencer.unit_rows_done.eq(datapath.unit_rows_done),
            sequencer.complete_jobs.eq(dispatcher.complete),
            counters.job_ends.eq(dispatcher.ends),
            counters.job_number.eq(dispatcher.ended_number),
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
        wiring.connect(m, transfers.store, writer.store)
        grant, reads = ranges.grants[_TRANSFER_DATA], readers[_TRANSFER_DATA].requests
        self._lines(m, clear, unit, sequencer, transfers)
        is_store = transfers.requests.payload.is_write
        m.d.comb += [
            reads.payload.eq(grant.payload),
            reads.valid.eq(grant.valid & ~is_store),
            writer.requests.payload.eq(grant.payload),
            writer.requests.valid.eq(grant.valid & is_store),
            grant.ready.eq(Mux(is_store, writer.requests.ready, reads.ready)),
            fetcher.jobs.eq(sequencer.lists.list.jobs),
            transfers.jobs_done.eq(sequencer.jobs_done),
            sequencer.errors.transfer.eq(fetcher.error),
            sequencer.transfer_done.eq(transfers.done),
        ]

    def _lines(
        self,
        m: Module,
        clear: ResetInserter,
        unit: CommandUnit,
        sequencer: Sequencer,
        transfers: TransferUnit,
    ) -> None:
        """Connect the accesses to the scratchpad: of transfers while a list runs, else of PEEK."""
        converter = FloatConverter()
        m.submodules.float_converter = clear(converter)
        m.submodules.line_words = words = LineWords()
        wiring.connect(m, transfers.conversion, converter.conversion)
        lines, others = self.datapath.lines, self.datapath.other_lines
        access = lines.accesses.payload
        is_running = sequencer.lists.is_running
        word = Mux(is_running, converter.conversion.data, unit.accesses.payload.data[:32])
        m.d.comb += [
            transfers.lines.read_data.eq(lines.read_data),
            others.source.eq(Mux(is_running, converter.source, LineSource.MEMORY)),
            others.loaded.eq(transfers.lines.accesses.payload.data),
            others.converted.eq(converter.converted),
            words.line.eq(lines.read_data),
            words.takes.eq(converter.takes_line | ~is_running),
            words.index.eq(Mux(is_running, converter.index, unit.index)),
            converter.word.eq(words.word),
            unit.word.eq(words.word),
            # One of the two is idle.
            lines.accesses.valid.eq(transfers.lines.accesses.valid | unit.accesses.valid),
            access.eq(
                Mux(
                    is_running,
                    transfers.lines.accesses.payload,
                    unit.accesses.payload,
                )
            ),
            # Both that write words write the same one everywhere, and a mask says where.
            access.data.eq(
                Mux(
                    is_running & ~converter.conversion.mask.any(),
                    transfers.lines.accesses.payload.data,
                    word.replicate(LINE_BYTES // 4),
                )
            ),
            transfers.lines.accesses.ready.eq(lines.accesses.ready),
            unit.accesses.ready.eq(lines.accesses.ready),
        ]
