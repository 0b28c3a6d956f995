"""``kiwicha sdk``."""

import json
import tarfile
from pathlib import Path

import pytest

from kiwicha.contract.configs import Config
from kiwicha.sim.verilator import simulator
from tests.support.commands.command_line import Command

HEADERS = {
    "kiwicha_soc.h": "#define KIWICHA_SYS_CLK_HZ 1u\n",
    "generated/csr.h": "#define CSR_UART_BASE 1\n",
}


def contents(path: Path) -> dict[str, bytes]:
    """Return the files of an archive by their paths."""
    with tarfile.open(path) as archive:
        files = {entry.name: archive.extractfile(entry) for entry in archive}
        return {name: file.read() for name, file in files.items() if file is not None}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """Give the configurations of the systems whose headers were asked for; none is generated."""
    configs: list[Config] = []

    def system_headers(config: Config, on_build: object) -> dict[str, str]:
        configs.append(config)
        return HEADERS

    monkeypatch.setattr(simulator, "system_headers", system_headers)
    return configs


@pytest.mark.parametrize("config", ["64-preempt", "simd"])
def test_an_archive_has_what_its_system_needs(
    kiwicha: Command, tiny: Path, tmp_path: Path, asked: list[Config], config: str
) -> None:
    path = tmp_path / "made.tar.gz"
    code, out, err = kiwicha("sdk", "--config", config, "--model", tiny, "-o", path)
    assert code == 0, err
    root = f"kiwicha-sdk-{config}"
    assert f"make -C {root}/system" in out
    assert [item.name for item in asked] == [config]
    files = contents(path)
    assert {name.partition("/")[0] for name in files} == {root}
    system = {
        name.removeprefix(f"{root}/system/") for name in files if name.startswith(f"{root}/system/")
    }
    usual = {"Makefile", "first.c", "first.ld", "application.ld", "machine.c", "machine.h"}
    usual |= {"litex.mk", "litex.c", "litex.ld"}
    interrupts = {"interrupts.c", "interrupts.h", "sleep.c"}
    assert system == usual | set(HEADERS) | {"start.S"} | (
        interrupts if config == "64-preempt" else set()
    )
    for name, text in HEADERS.items():
        assert files[f"{root}/system/{name}"].decode() == text
    if config == "64-preempt":
        text = files[f"{root}/system/sleep.c"].decode()
        assert '#include "model/tiny.h"' in text
        assert "TINY_ARENA_BYTES" in text
        assert "SAMPLE" not in text
    assert json.loads(files[f"{root}/metadata.json"])["config"] == config
    first = path.read_bytes()
    assert kiwicha("sdk", "--config", config, "--model", tiny, "-o", path)[0] == 0
    assert path.read_bytes() == first


def test_it_goes_to_the_build_folder(
    kiwicha: Command,
    tiny: Path,
    tmp_path: Path,
    asked: list[Config],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert kiwicha("sdk", "--config", "simd", "--model", tiny)[0] == 0
    assert (tmp_path / "build" / "kiwicha-sdk-simd.tar.gz").is_file()


@pytest.mark.slow
def test_a_boards_archive_has_its_registers(kiwicha: Command, tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "board.tar.gz"
    words = ("--config", "simd", "--board", "ulx3s_85f", "--model", tiny)
    code, out, err = kiwicha("sdk", *words, "-o", path)
    assert code == 0, err
    assert "make -C kiwicha-sdk-simd-ulx3s_85f/system" in out
    files = contents(path)
    header = files["kiwicha-sdk-simd-ulx3s_85f/system/kiwicha_soc.h"].decode()
    assert "#define KIWICHA_SYS_CLK_HZ 50000000u" in header
    assert "#define KIWICHA_HAS_LOADER 1" in header


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--config", "63"), "config must be one of "),
        (("--model", "nothing"), "model must be "),
        (("--board", "arty"), "board must be one of "),
    ],
)
def test_what_is_unknown_is_refused(kiwicha: Command, words: tuple[str, ...], text: str) -> None:
    assert text in kiwicha.error("sdk", *words)
