"""Everything that the hardware is generated from counts for the keys of what was generated."""

from kiwicha.sim.soc.sources import hardware_sources
from tests.support.loaded import loaded_files


def test_what_the_generator_loads_counts() -> None:
    used = loaded_files("kiwicha.sim.soc.elaborate")
    assert len(used) > 40
    assert used <= {path.resolve() for path in hardware_sources()}
