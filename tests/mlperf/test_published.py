"""What others published."""

import pytest

from kiwicha.mlperf.published import published


def test_latencies_are_those_of_the_round() -> None:
    found = published()
    assert (found.name, found.division) == ("v1.1", "closed")
    assert "mlcommons/tiny_results_v1.1" in found.source
    by_name = {(one.submitter, one.system): one for one in found.systems}
    zedboard = by_name["fpgaconvnet", "zedboard"]
    assert zedboard.milliseconds("kws") == pytest.approx(1e3 / 3087.887)
    assert zedboard.milliseconds("ad") is None
    assert by_name["syntiant", "syntiant_9120_1v1_98mhz"].clock == "98.7 MHz"
    assert all(one.inferences_per_second and one.clock.endswith("MHz") for one in found.systems)
