"""What passes between the CPU, the engine's controller and its data path."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import outputs_of
from kiwicha.gateware.engine.descriptors import JOB
from kiwicha.gateware.engine.memory.interfaces import (
    LinePortSignature,
    LineSourceSignature,
    MemoryPortSignature,
)
from kiwicha.gateware.engine.weights.interfaces import FillSignature

__all__ = ["DATAPATH_COUNTS", "ENGINE_COMMAND", "DatapathSignature", "EngineSignature"]

ENGINE_COMMAND = data.StructLayout({"op": 3, "index": 4, "inputs_0": 32, "inputs_1": 32})
"""An `EngineOp` with its index and operands."""
DATAPATH_COUNTS = data.StructLayout({"busy": 1, "waits_weights": 1, "waits_requantizer": 1})
"""What a cycle of the data path was used for."""


class EngineSignature(wiring.Signature):
    """Interface of the engine, as the CPU's side sees it.

    Members
    -------
    commands : ``Out(stream.Signature(ENGINE_COMMAND))``
        Instructions; the next is taken after the response to the last. See `CommandUnit`.
    responses : ``In(stream.Signature(32))``
        One for each, in order.
    memory : ``In(MemoryPortSignature())``
        Port to DRAM.
    """

    def __init__(self) -> None:
        super().__init__({
            "commands": Out(stream.Signature(ENGINE_COMMAND)),
            "responses": In(stream.Signature(32)),
            "memory": In(MemoryPortSignature()),
        })


class DatapathSignature(wiring.Signature):
    """Interface of the data path, as its controller sees it.

    Parameters
    ----------
    macs : int
        Products per cycle.
    has_depthwise : bool
        There is a depthwise unit.

    Members
    -------
    job : ``Out(JOB)``
        Stable from ``start`` to ``done``; with fields in range.
    start : ``Out(1)``
        Begin; only while not ``is_busy``.
    is_busy, done : ``In(1)``
        From the cycle after ``start`` to ``done``, when every result is in the scratchpad.
    fill : ``Out(FillSignature(outputs, has_pairs=has_pairs))``
        Weights of groups, in the order of jobs and groups; tables for ADD and TABLE.
    lines : ``Out(LinePortSignature())``
        Accesses of the scratchpad beside those of jobs.
    other_lines : ``Out(LineSourceSignature())``
        What ``lines`` shows though it comes from elsewhere.
    counts : ``In(DATAPATH_COUNTS)``
        What this cycle was used for.
    unit_job, unit_start, unit_done
        Only with ``has_depthwise``: as ``job``, ``start`` and ``done``, of the depthwise unit.
    unit_rows_done : ``In(16)``
        Likewise: rows that the unit has written since the last reset.
    """

    def __init__(
        self,
        *,
        macs: int,
        has_pairs: bool = False,
        is_resident: bool = False,
        has_depthwise: bool = False,
    ) -> None:
        unit = {
            "unit_job": Out(JOB),
            "unit_start": Out(1),
            "unit_done": In(1),
            "unit_rows_done": In(16),
        }
        super().__init__({
            **(unit if has_depthwise else {}),
            "job": Out(JOB),
            "start": Out(1),
            "is_busy": In(1),
            "done": In(1),
            "fill": Out(
                FillSignature(
                    outputs=outputs_of(macs), has_pairs=has_pairs, is_resident=is_resident
                )
            ),
            "lines": Out(LinePortSignature()),
            "other_lines": Out(LineSourceSignature()),
            "counts": In(DATAPATH_COUNTS),
        })
