"""The bring-up design: a custom function unit behind a serial line, without a CPU."""

from amaranth import Cat, Module, Signal
from amaranth.back import verilog as backend
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.configs import Config
from kiwicha.contract.serial import (
    NO_STATUS,
    SERIAL_BAUD,
    SERIAL_MAGIC,
    SERIAL_VERSION,
    SerialHello,
)
from kiwicha.gateware.bringup.bit_time import bit_cycles
from kiwicha.gateware.bringup.bridge import LAMPS, Bridge
from kiwicha.gateware.bringup.uart_receiver import UartReceiver
from kiwicha.gateware.bringup.uart_transmitter import UartTransmitter
from kiwicha.gateware.cfu import Cfu

__all__ = ["BringUp", "bring_up_hello", "bring_up_verilog", "check_parameters"]

_HEARTBEAT_HZ = 1


def bring_up_hello(config: Config, clock_hz: int) -> SerialHello:
    """Return what the bring-up design says of itself.

    Parameters
    ----------
    config : Config
        What the CFU has.
    clock_hz : int
        Frequency of the clock.
    """
    return SerialHello(
        magic=SERIAL_MAGIC,
        version=SERIAL_VERSION,
        config_hash=config.hash,
        sys_clk_hz=clock_hz,
        dram_bytes=0,
        last_status=NO_STATUS,
        runs=0,
    )


def check_parameters(config: Config, clock_hz: int, baud: int) -> None:
    """Check what a bring-up design is made of.

    Raises
    ------
    ValueError
        If the configuration has an engine, or the clock is too slow for the line.
    """
    if config.engine_macs:
        raise ValueError(f"config must be one without an engine, not {config.name}")
    bit_cycles(clock_hz, baud)


class BringUp(wiring.Component):
    """Join a custom function unit to a serial line.

    Parameters
    ----------
    config : Config
        One without an engine, which would need DRAM.
    clock_hz : int
        Frequency of the clock.
    baud : int
        Bits per second of the line.

    Members
    -------
    rx : ``In(1)``
        The line from the host, asynchronous; high when idle.
    tx : ``Out(1)``
        The line to the host; high when idle.
    lamps : ``Out(2 + LAMPS)``
        From bit 0: blinks every second; a request has come; "passed"; "failed".

    Raises
    ------
    ValueError
        If the configuration has an engine, or the clock is too slow for the line.
    """

    def __init__(self, *, config: Config, clock_hz: int, baud: int = SERIAL_BAUD) -> None:
        check_parameters(config, clock_hz, baud)
        self.config = config
        self.clock_hz = clock_hz
        self.baud = baud
        super().__init__({"rx": In(1, init=1), "tx": Out(1, init=1), "lamps": Out(2 + LAMPS)})

    def elaborate(self, platform: object) -> Module:
        """Build the parts, and the heartbeat."""
        m = Module()
        speed = {"clock_hz": self.clock_hz, "baud": self.baud}
        m.submodules.receiver = receiver = UartReceiver(**speed)
        m.submodules.transmitter = transmitter = UartTransmitter(**speed)
        m.submodules.bridge = bridge = Bridge(hello=bring_up_hello(self.config, self.clock_hz))
        m.submodules.cfu = cfu = Cfu(config=self.config)
        wiring.connect(m, receiver.o, bridge.i)
        wiring.connect(m, bridge.o, transmitter.i)
        wiring.connect(m, bridge.commands, cfu.cmd)
        wiring.connect(m, cfu.rsp, bridge.responses)
        half_period = self.clock_hz // (2 * _HEARTBEAT_HZ)
        cycle = Signal(range(half_period))
        is_on = Signal()
        m.d.sync += cycle.eq(cycle + 1)
        with m.If(cycle == half_period - 1):
            m.d.sync += [cycle.eq(0), is_on.eq(~is_on)]
        m.d.comb += [
            cfu.reset.eq(bridge.resets),
            receiver.rx.eq(self.rx),
            bridge.has_error.eq(receiver.has_error),
            self.tx.eq(transmitter.tx),
            self.lamps.eq(Cat(is_on, bridge.has_answered, bridge.lamps)),
        ]
        return m


def bring_up_verilog(config: Config, clock_hz: int, baud: int = SERIAL_BAUD) -> str:
    """Return the Verilog of module ``bring_up`` with ports ``clk rst rx tx lamps``.

    Parameters
    ----------
    config : Config
        One without an engine.
    clock_hz : int
        Frequency of the clock.
    baud : int
        Bits per second of the line.
    """
    design = BringUp(config=config, clock_hz=clock_hz, baud=baud)
    ports = [design.rx, design.tx, design.lamps]
    return str(
        backend.convert(
            design, name="bring_up", ports=ports, emit_src=False, strip_internal_attrs=True
        )
    )
