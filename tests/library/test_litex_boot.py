"""An application of the SDK, loaded by LiteX's own terminal."""

from pathlib import Path

import pytest

from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.serial import NO_STATUS, SERIAL_BAUD, SerialHello
from kiwicha.library import library, pack, sdk
from kiwicha.sim.soc.system_on_chip import HAS_LOADER
from kiwicha.sim.verilator.simulator import build_simulator, system_headers
from tests.support import library_builds
from tests.support.boards.litex_terminal import LateLine, said_by_terminal
from tests.support.boards.simulated_board import simulated_board

pytestmark = pytest.mark.verilator

SIMD = CONFIGS["simd"]


@pytest.fixture(scope="module")
def application(models: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = library("first", compile_stages(models["first"], SIMD), models["first"])
    # As on a board: an application that ends goes back to the loader.
    headers = {
        name: text.replace(f"{HAS_LOADER} 0", f"{HAS_LOADER} 1")
        for name, text in system_headers(SIMD).items()
    }
    made = sdk("first", SIMD, files, headers)
    root = library_builds.unpack(pack(made, "."), tmp_path_factory.mktemp("sdk"))
    library_builds.build_sdk(root)
    return root / "build" / "application.bin"


def ask(port: str) -> SerialHello:
    """Ask the loader by our own protocol."""
    return Link(open_port(port, SERIAL_BAUD), tries=20, seconds_per_try=5).hello()


@pytest.mark.nightly
@pytest.mark.parametrize("words", [[], ["--safe"]], ids=["fast", "safe"])
def test_litex_term_boots_the_example(
    words: list[str], application: Path, example_output: str, tmp_path: Path
) -> None:
    line = LateLine()
    with simulated_board(build_simulator(SIMD), tmp_path, spoil=line) as port:
        text = said_by_terminal(application, line, port, *words, address=cfu.IMAGE_ADDRESS)
        assert "Received firmware download request from the device." in text
        assert example_output in text
        # The application has come back to the loader, which is there as before.
        said = ask(port)
        assert (said.runs, said.last_status) == (1, Status.OK)


@pytest.mark.nightly
def test_a_lost_byte_is_noticed_and_the_loader_stays(application: Path, tmp_path: Path) -> None:
    # Of a frame in the middle; litex_term gives up then.
    line = LateLine(lose_at=40)
    with simulated_board(build_simulator(SIMD), tmp_path, spoil=line) as port:
        text = said_by_terminal(application, line, port, "--safe", address=cfu.IMAGE_ADDRESS)
        assert line.is_lost
        assert "Upload to device failed due to data corruption (CRC error)" in text
        said = ask(port)
        assert (said.runs, said.last_status) == (0, NO_STATUS)
