"""The training command from end to end, on a few batches."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("torch", "skimage", "ai_edge_litert"):
    pytest.importorskip(package, reason="the optional extra 'train' is not installed")


@pytest.mark.nightly
def test_same_command_gives_same_bytes_and_says_what_it_wrote(tmp_path: Path) -> None:
    contents = []
    for name in ("first.tflite", "second.tflite"):
        command = [sys.executable, "-m", "kiwicha.training", "--steps", "5", "-o", tmp_path / name]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        contents.append((tmp_path / name).read_bytes())
        digest = hashlib.sha256(contents[-1]).hexdigest()
        assert f"{len(contents[-1])} bytes, sha256 {digest}" in run.stdout
        assert "fold 0: 160 to learn from, 40 held out" in run.stdout
        assert run.stdout.count("/40 right") == run.stdout.count("/400 right") == 2
    assert contents[0] == contents[1]
