"""The page on verification says what is recorded, and nothing else."""

import json
import subprocess
from pathlib import Path

from tests.support.requirements import REPOSITORY
from tools.documents.verification_page import verification_page
from tools.documents.verification_plan import FOUND


def record(folder: Path, name: str, **counts: int) -> None:
    rows = [
        {"number": n, "line": 1, "change": f"{result} {n}", "result": result, "seconds": 1.0}
        for result, count in counts.items()
        for n in range(count)
    ]
    path = folder / "docs" / "results" / "verification" / "mutation" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_scores_and_stages_come_from_the_records(tmp_path: Path) -> None:
    record(tmp_path, "numerics.all", killed=50, broken=3)
    record(tmp_path, "numerics.sample", killed=10)
    record(tmp_path, "numerics.most", killed=8, hangs=1, survived=1)
    record(tmp_path, "gateware.all", killed=10, equivalent=2)
    record(tmp_path, "gateware.few", killed=3)
    page = verification_page(tmp_path)
    assert "| `numerics.all` | 50 | 50 | 0 | 0 | 100% |" in page
    assert "| `numerics.most` | 10 | 9 | 0 | 1 | 90% |" in page
    assert "| `gateware.all` | 10 | 10 | 2 | 0 | 100% |" in page
    assert "- `numerics.most`, line 1: `survived 0`" in page
    stages = {
        "numerics.all": 3,
        "numerics.sample": 2,
        "numerics.most": 2,
        "gateware.all": 2,
        "gateware.few": 1,
    }
    assert all(f"| `{name}` | V{stage} |" in page for name, stage in stages.items())


def test_proofs_are_listed_with_what_they_assume(tmp_path: Path) -> None:
    path = tmp_path / "tests" / "proof_of.py"
    path.parent.mkdir()
    path.write_text(
        'def sound():\n    """State that all is\n    well.\n\n    Assumed: much.\n    """\n'
        'def free():\n    """State that it is."""\ndef _other(): pass\n'
    )
    page = verification_page(tmp_path)
    assert "| `sound` | all is well. | much. |" in page
    assert "| `free` | it is. | nothing |" in page
    assert "_other" not in page


def test_executions_are_shown_once_they_are_recorded(tmp_path: Path) -> None:
    assert "Hostile input" not in verification_page(tmp_path)
    path = tmp_path / "docs" / "results" / "verification" / "fuzz.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps([{"input": "it", "executions": 1234, "crashes": 0, "hangs": 1}]))
    assert "| it | 1,234 | 0 | 1 |" in verification_page(tmp_path)


def test_commits_that_mended_faults_exist() -> None:
    """Where the history is there."""
    done = subprocess.run(
        ["git", "log", "--format=%s"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    subjects = set(done.stdout.splitlines())
    if len(subjects) > len(FOUND):
        assert {commit for _, commit in FOUND} <= subjects
