"""A requantizer of the depthwise unit alone, with the parameters of its groups."""

from amaranth import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.depthwise import PARAMETER_PLACES, UNIT_CHANNELS
from kiwicha.gateware.engine.depthwise.depthwise_unit import UNIT_RESULT
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS, JOB
from kiwicha.gateware.engine.requantize.requantizer import Requantizer
from kiwicha.gateware.engine.weights.interfaces import UNIT_PARAMETERS
from kiwicha.gateware.engine.weights.parameter_memory import ParameterMemory

__all__ = ["UNIT_BYTES", "UnitRequantizer"]

UNIT_BYTES = data.StructLayout({"address": ADDRESS_BITS, "octets": 8 * UNIT_CHANNELS})
"""The bytes of a pixel's 8 channels, and where they go."""


class UnitRequantizer(wiring.Component):
    """Turn sums of the depthwise unit into bytes.

    Latency: `PARAMETER_CYCLES` and `REQUANTIZER_CYCLES`. Throughput: a beat per cycle.

    Members
    -------
    job : ``In(JOB)``
        Stable from the first beat until its last bytes are there.
    parameters : ``In(UNIT_PARAMETERS)``
        What ``beat`` is, if it is to be stored.
    beat : ``In(128)``
        A beat of a fill.
    takes : ``In(1)``
        There is a ``result``.
    result : ``In(UNIT_RESULT)``
        Sums, where their bytes go, and the place of their parameters.
    written : ``Out(stream.Signature(UNIT_BYTES, always_ready=True))``
        Their bytes.
    """

    def __init__(self) -> None:
        super().__init__({
            "job": In(JOB),
            "parameters": In(UNIT_PARAMETERS),
            "beat": In(8 * BEAT_BYTES),
            "takes": In(1),
            "result": In(UNIT_RESULT),
            "written": Out(stream.Signature(UNIT_BYTES, always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the memory of parameters and the requantizer behind it."""
        m = Module()
        m.submodules.parameters = parameters = ParameterMemory(
            lanes=UNIT_CHANNELS, beats=1, places=PARAMETER_PLACES
        )
        m.submodules.requantizer = requantizer = Requantizer(
            lanes=UNIT_CHANNELS, tag_bits=ADDRESS_BITS
        )
        beats, results = requantizer.beats, requantizer.results
        m.d.comb += [
            parameters.write.eq(self.parameters.write),
            parameters.writes_place.eq(1),
            parameters.write_place.eq(self.parameters.place),
            parameters.block.eq(self.parameters.block),
            parameters.field.eq(self.parameters.field),
            parameters.beat.eq(self.beat),
            parameters.reads_place.eq(1),
            parameters.read_place.eq(self.result.place),
            beats.payload.parameters.eq(parameters.parameters),
            requantizer.zero_point.eq(self.job.output_zero_point),
            requantizer.minimum.eq(self.job.activation_min),
            requantizer.maximum.eq(self.job.activation_max),
            self.written.valid.eq(results.valid),
            self.written.payload.address.eq(results.payload.tag),
            self.written.payload.octets.eq(results.payload.values),
        ]
        # Beside their parameters, which are read meanwhile.
        m.d.sync += beats.valid.eq(self.takes)
        with m.If(self.takes):
            m.d.sync += beats.payload.tag.eq(self.result.address)
            m.d.sync += [beats.payload.sums[k].eq(one) for k, one in enumerate(self.result.sums)]
        return m
