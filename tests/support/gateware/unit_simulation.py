"""A component in Amaranth's simulator, which many tests share."""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from amaranth.sim import Simulator, SimulatorContext

__all__ = ["UnitSimulation"]

Component = TypeVar("Component")


class UnitSimulation(Generic[Component]):
    """A component that is elaborated once, for many benches one after the other.

    Each bench finds it as after power-up.

    Parameters
    ----------
    component : Component
        What is simulated; its domain is ``sync``.
    """

    def __init__(self, component: Component) -> None:
        self.component = component
        self._simulator: Simulator | None = None
        self._bench: Callable[[SimulatorContext], Awaitable[None]] | None = None

    def run(self, bench: Callable[[SimulatorContext], Awaitable[None]]) -> None:
        """Run a bench to its end."""
        simulator = self._reset()
        self._bench = bench
        # What a failed bench waited for stays behind: the next one gets another simulator.
        self._simulator = None
        simulator.run()
        self._simulator = simulator

    def _reset(self) -> Any:
        if self._simulator is not None:
            self._simulator.reset()
            return self._simulator
        simulator = Simulator(self.component)
        simulator.add_clock(1e-6)
        simulator.add_testbench(self._run_bench)
        return simulator

    async def _run_bench(self, ctx: SimulatorContext) -> None:
        assert self._bench is not None
        await self._bench(ctx)
