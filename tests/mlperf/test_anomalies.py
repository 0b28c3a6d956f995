"""How well distances tell broken machines."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.mlperf.anomalies import area_under_curve, distances, read_recordings
from kiwicha.sim.reference import executor as reference


def test_the_area_is_the_share_of_pairs_in_the_right_order() -> None:
    assert area_under_curve([1, 2, 3, 4], [False, False, True, True]) == 1
    assert area_under_curve([4, 3, 2, 1], [False, False, True, True]) == 0
    assert area_under_curve([1, 3, 2, 3], [False, False, True, True]) == (1 + 0 + 1 + 0.5) / 4


def test_recordings_are_files_of_the_benchmark_or_arrays(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.float32)
    for name in ("normal_id_01_0.bin", "anomaly_id_01_0.bin"):
        values.tofile(tmp_path / name)
    found = read_recordings(tmp_path, 4)
    assert [(one.is_anomaly, one.windows.shape) for one in found] == [
        (True, (3, 4)),
        (False, (3, 4)),
    ]
    arrays = tmp_path / "ad.npz"
    np.savez(arrays, x=np.stack([values.reshape(3, 4)] * 2), y=[0, 1])
    assert [one.is_anomaly for one in read_recordings(arrays, 4)] == [False, True]


def test_other_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be of normal and anomaly machines"):
        read_recordings(tmp_path, 4)
    np.zeros(4, np.float32).tofile(tmp_path / "machine.bin")
    with pytest.raises(UsageError, match="name must begin with normal_ or anomaly_"):
        read_recordings(tmp_path, 4)
    np.savez(tmp_path / "a.npz", z=[1])
    with pytest.raises(UsageError, match=r"^recordings must be readable: "):
        read_recordings(tmp_path / "a.npz", 4)


def test_a_score_is_the_mean_distance_of_windows(
    zoo_model: Callable[[str], Path], tmp_path: Path
) -> None:
    program = compile_model(zoo_model("mlperf_ad01_int8"), NATIVE_CONFIG)
    rng = np.random.default_rng(2)
    x = rng.normal(-20, 15, (2, 3, 640)).astype(np.float32)
    np.savez(tmp_path / "ad.npz", x=x, y=[0, 1])
    found = distances(program, read_recordings(tmp_path / "ad.npz", 640), lambda _: None)
    tensor, output = program.inputs[0], program.outputs[0]
    for score, windows in zip(found, x, strict=True):
        means = []
        for row in windows:
            steps = np.round(row / np.float32(tensor.scale)) + tensor.zero_point
            raw = steps.clip(-128, 127).astype(np.int8).reshape(tensor.shape)
            (answer,) = reference.run(program, [raw])
            reals = (answer.reshape(-1).astype(float) - output.zero_point) * output.scale
            means.append(np.mean((reals - row) ** 2))
        assert score == pytest.approx(np.mean(means), rel=1e-6)
