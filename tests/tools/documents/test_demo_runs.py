"""What the package knows of runs of its model."""

from tests.tools.documents.test_result_tables import run
from tools.documents.demo_runs import demo_runs
from tools.results.kinds import BENCH, DEMO
from tools.results.result import Result


def test_cycles_and_a_hash_are_kept() -> None:
    measured = [run(inputs={"program": "1"}), run(config="64", inputs={"program": "2"})]
    result = Result(DEMO, "docs/results/demo/demo.json", measured)
    found = demo_runs([Result(BENCH, "docs/results/bench/a.json", measured), result])
    assert [one["config"] for one in found] == [one["config"] for one in measured]
    assert [one["cycles"] for one in found] == [one["cycles"] for one in measured]
    assert found[0]["layers"] == [layer["cycles"] for layer in measured[0]["layers"]]
    assert {one["digest"] for one in found} == {result.digest}
    assert demo_runs([]) == []
