"""Everything that a point is measured by counts for the name of a study."""

from kiwicha.explore.sources import measure_sources
from tests.support.loaded import loaded_files


def test_what_measures_a_point_counts() -> None:
    used = loaded_files("kiwicha.explore.points")
    assert len(used) > 60
    assert used <= {path.resolve() for path in measure_sources()}
