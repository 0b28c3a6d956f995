"""Generated documents: ``python -m tools.documents`` writes them, ``--check`` finds old ones.

======================  ===========================================================================
``README.md``           Between two markers: a table of cycles and one of resources
``docs/results.md``     Every run, what weights take, MLPerf Tiny, long runs, sweeps and times
``docs/vela.md``        The runs that ``kiwicha bench --compare vela`` measured
``docs/boards.md``      A section for each file of ``docs/results/boards``
``docs/bring-up.md``    Between two markers: a row for each file of ``docs/results/bringup``
``docs/performance``    Between two markers: what streams, engines, memories and kernels take
``docs/depthwise.md``   Between two markers: cycles beside the depthwise unit
``docs/engine.md``      Between two markers: cycles with decoders of blocks and weights on chip
``docs/energy.md``      Between two markers: what events cost, and the energy of inferences
``docs/timing.md``      Between two markers: the worst paths of each file of ``docs/results/timing``
``docs/guides/beside``  Between two markers: periods, and how long urgent models wait
``docs/guides/sound``   Between two markers: what share of real time hearing words takes
``docs/guides/camera``  Between two markers: how many frames of a camera a model looks at
``docs/guides/tflm``    Between two markers: which models give the same bytes in it
``docs/c-api.md``       Between two markers: what an application in C++ prints on a board
``docs/supported.md``   The compiler's support rules, and ONNX operators beside onnxruntime
``docs/verification``   The plan, the proofs, what tests see, and open holes
``docs/*.schema.json``  The schema of the JSON of runs and studies
``demo_runs.json``      What ``kiwicha demo`` shows beside its run, in ``src/kiwicha/data``
======================  ===========================================================================

All of it is written from committed files and the compiler's rules, in seconds and without measuring
anything. Below each table stands whether it is of the present hardware, as ``make results`` found;
see `tools.results`. Fields of results that no page shows, which are large, are taken out of the
files.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from kiwicha.errors import UsageError
from kiwicha.html_report.schema import json_schema
from tools.documents.beside_tables import beside_tables
from tools.documents.board_pages import boards_page, bring_up_table
from tools.documents.camera_table import camera_table
from tools.documents.demo_runs import demo_runs
from tools.documents.energy_section import energy_section
from tools.documents.freshness import freshness
from tools.documents.mlperf_section import mlperf_section
from tools.documents.onnx_section import onnx_section
from tools.documents.performance_tables import performance_tables
from tools.documents.result_tables import (
    blocks_table,
    overview,
    results_page,
    shown_weights,
    unit_table,
)
from tools.documents.soak_section import soak_section
from tools.documents.sound_section import sound_section
from tools.documents.supported_page import supported_page
from tools.documents.sweep_section import sweep_section
from tools.documents.tflm_table import tflm_table
from tools.documents.times_section import times_section
from tools.documents.timing_tables import timing_tables
from tools.documents.transcript_section import transcript_section
from tools.documents.vela_tables import vela_page
from tools.documents.verification_page import verification_page
from tools.results import present
from tools.results.catalogue import catalogue

__all__ = ["BEGIN", "END", "main", "replaced", "update"]

BEGIN = "<!-- results: written by python -m tools.documents -->"
END = "<!-- end of results -->"
_BESIDE = "docs/guides/beside-the-engine.md"
_BOARDS = "docs/boards.md"
_C_API = "docs/c-api.md"
_CAMERA = "docs/guides/camera.md"
_DEPTHWISE = "docs/depthwise.md"
_ENERGY = "docs/energy.md"
_ENGINE = "docs/engine.md"
_DEMO_RUNS = "src/kiwicha/data/demo_runs.json"
_BRING_UP = "docs/bring-up.md"
_PERFORMANCE = "docs/performance.md"
_SCHEMA = "docs/runs.schema.json"
_SUPPORTED = "docs/supported.md"
_TFLM = "docs/guides/tflm.md"
_TIMING = "docs/timing.md"
_VELA = "docs/vela.md"
_VERIFICATION = "docs/verification.md"
_README = "README.md"
_SOUND = "docs/guides/sound.md"
_RESULTS_PAGE = "docs/results.md"
_UNSHOWN = {"made", "profile"}
"""Fields of runs that are for ``kiwicha report``."""


def replaced(text: str, results: str) -> str:
    """Return a document with the results between its markers replaced.

    Raises
    ------
    UsageError
        If the markers are missing.
    """
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(text):
        raise UsageError(f"document must have the markers {BEGIN} and {END}")
    return pattern.sub(lambda match: f"{BEGIN}\n{results}\n{END}", text, count=1)


def _has_profiles(value: Any) -> bool:
    return isinstance(value, list) and any(_UNSHOWN & run.keys() for run in value)


def _without_profiles(runs: list[dict[str, Any]]) -> str:
    """Return results as JSON without what is for ``kiwicha report`` and no document shows."""
    kept = [{key: item for key, item in run.items() if key not in _UNSHOWN} for run in runs]
    return _text(kept)


def _text(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def update(project: Path, *, is_check: bool) -> list[str]:
    """Write the documents that are stale, or only find them.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    is_check : bool
        Change nothing.

    Returns
    -------
    list of str
        Paths of the documents that were stale.
    """
    found = catalogue(project)

    def measured(*folders: str) -> dict[str, Any]:
        return {one.path: one.contents for one in found if one.kind.folder in folders}

    tables, weights = measured("bench", "area"), measured("weights")
    runs = measured("bench")
    line = freshness(found, present.read(project))
    readme = (project / _README).read_text(encoding="utf-8")
    guide = (project / _BRING_UP).read_text(encoding="utf-8")
    performance = (project / _PERFORMANCE).read_text(encoding="utf-8")
    timing = (project / _TIMING).read_text(encoding="utf-8")
    units = (project / _DEPTHWISE).read_text(encoding="utf-8")
    engine = (project / _ENGINE).read_text(encoding="utf-8")
    energy = (project / _ENERGY).read_text(encoding="utf-8")
    beside = (project / _BESIDE).read_text(encoding="utf-8")
    camera = (project / _CAMERA).read_text(encoding="utf-8")
    c_api = (project / _C_API).read_text(encoding="utf-8")
    guide_of_sound = (project / _SOUND).read_text(encoding="utf-8")
    tflm = (project / _TFLM).read_text(encoding="utf-8")
    wanted = {
        _README: replaced(readme, overview(tables, line)),
        _RESULTS_PAGE: results_page(runs, weights, line)
        + mlperf_section(measured("mlperf"), line)
        + soak_section(measured("soak"), line)
        + sweep_section(measured("sweep"), line)
        + times_section(measured("times"), line),
        _DEPTHWISE: replaced(units, unit_table(runs, line)),
        _ENGINE: replaced(engine, blocks_table(runs, line)),
        _ENERGY: replaced(energy, energy_section(measured("energy"), measured("area"), line)),
        _SCHEMA: _text(json_schema()),
        _SUPPORTED: supported_page() + onnx_section(measured("onnx"), line),
        _VELA: vela_page(runs, line),
        _VERIFICATION: verification_page(project),
        _BOARDS: boards_page(measured("boards"), line),
        _BRING_UP: replaced(guide, bring_up_table(measured("bringup"), line)),
        _PERFORMANCE: replaced(performance, performance_tables(runs)),
        _BESIDE: replaced(beside, beside_tables(measured("beside"), line)),
        _C_API: replaced(c_api, transcript_section(measured("transcript"), line)),
        _CAMERA: replaced(camera, camera_table(measured("camera"), line)),
        _SOUND: replaced(
            guide_of_sound,
            sound_section(measured("sound"), measured("microphone"), measured("area"), line),
        ),
        _TFLM: replaced(tflm, tflm_table(measured("tflm"), line)),
        _TIMING: replaced(timing, timing_tables(measured("timing"), line)),
        _DEMO_RUNS: _text(demo_runs(found)),
        **{
            name: _without_profiles(value)
            for name, value in measured("bench", "demo").items()
            if _has_profiles(value)
        },
        **{name: _text(shown_weights(value, name)) for name, value in weights.items()},
    }
    stale = []
    for name, text in wanted.items():
        path = project / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not is_check:
            path.write_text(text, encoding="utf-8")
    return stale


def main() -> int:
    """Bring the documents of the current folder's project up to date."""
    parser = argparse.ArgumentParser(description="Write the generated documents.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    arguments = parser.parse_args()
    stale = update(Path(), is_check=arguments.check)
    for name in stale:
        sys.stderr.write(f"{name} {'is stale' if arguments.check else 'written'}\n")
    return int(bool(stale) and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
