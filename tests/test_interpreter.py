"""The interpreter takes the place of LiteRT's: only the import line of a script changes."""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import random_models, requirements

from kiwicha import Interpreter
from kiwicha.errors import ModelError, UsageError

LITERT = "from ai_edge_litert.interpreter import Interpreter"
KIWICHA = "from kiwicha.interpreter import Interpreter"
SCRIPT = """
import sys
import numpy as np
{import_line}

interpreter = Interpreter(model_path=sys.argv[1], num_threads=1)
interpreter.allocate_tensors()
image = interpreter.get_input_details()[0]
scores = interpreter.get_output_details()[0]
for details in (image, scores):
    print([(key, str(details[key])) for key in sorted(details)])
info = np.iinfo(image["dtype"])
rng = np.random.default_rng(1)
pixels = rng.integers(info.min, info.max + 1, image["shape"], image["dtype"])
interpreter.set_tensor(image["index"], pixels)
interpreter.invoke()
result = interpreter.get_tensor(scores["index"])[0].astype(int)
scale, zero_point = scores["quantization"]
print([(int(k), float(scale * (int(result[k]) - zero_point))) for k in np.argsort(-result)[:3]])
"""


def run_script(import_line: str, model: Path) -> str:
    code = SCRIPT.format(import_line=import_line)
    command = [sys.executable, "-c", code, str(model)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


def test_only_the_import_line_of_a_script_changes(zoo_model: Callable[[str], Path]) -> None:
    if importlib.util.find_spec("ai_edge_litert") is None:
        requirements.unavailable("needs ai-edge-litert, which this Python has no wheel of")
    model = zoo_model("mlperf_pretrainedResnet_quant")
    printed = run_script(KIWICHA, model)
    assert len(printed.splitlines()) == 3
    assert printed == run_script(LITERT, model)


def test_the_simulated_system_gives_the_same_and_counts_cycles() -> None:
    case = random_models.network(5)
    results = []
    for target in ("reference", "sim"):
        interpreter = Interpreter(model_content=case.model, target=target)
        assert interpreter.cycles is None
        invoke(interpreter, case.inputs)
        output = interpreter.get_output_details()[0]
        results.append(interpreter.get_tensor(output["index"]))
        assert list(results[-1].shape) == output["shape"].tolist()
    assert results[0].any()
    assert np.array_equal(*results)
    assert interpreter.cycles is not None
    assert interpreter.cycles > 1000


def invoke(interpreter: Interpreter, inputs: Any) -> None:
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()


def test_tensors_are_copies() -> None:
    case = random_models.network(5)
    interpreter = Interpreter(model_content=case.model)
    invoke(interpreter, case.inputs)
    index = interpreter.get_output_details()[0]["index"]
    first = interpreter.get_tensor(index)
    interpreter.get_tensor(index)[...] = 0
    value = np.array(case.inputs[0])
    place = interpreter.get_input_details()[0]["index"]
    interpreter.set_tensor(place, value)
    value[...] = 0
    interpreter.invoke()
    assert first.any()
    assert np.array_equal(interpreter.get_tensor(index), first)


def test_a_wrong_model_is_refused_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "short.tflite"
    path.write_bytes(random_models.network(5).model[:200])
    with pytest.raises(ModelError, match=f"^{re.escape(str(path))}: the file must be a whole "):
        Interpreter(path)


def test_wrong_use_is_refused_in_words() -> None:
    model = random_models.network(5).model
    with pytest.raises(UsageError, match=r"^model_path or model_content must be .* neither"):
        Interpreter()
    with pytest.raises(UsageError, match=r"not both"):
        Interpreter("model.tflite", model)
    with pytest.raises(UsageError, match=r"^target must be reference or sim, not 'fpga'"):
        Interpreter(model_content=model, target="fpga")
    interpreter = Interpreter(model_content=model)
    image = interpreter.get_input_details()[0]
    value = np.zeros(image["shape"], image["dtype"])
    for act in (lambda: interpreter.set_tensor(image["index"], value), interpreter.invoke):
        with pytest.raises(UsageError, match=r"^allocate_tensors must be called first"):
            act()
    interpreter.allocate_tensors()
    with pytest.raises(UsageError, match=r"^tensor_index must be .* not 99"):
        interpreter.set_tensor(99, value)
    with pytest.raises(UsageError, match=r"must be int8, not float32"):
        interpreter.set_tensor(image["index"], value.astype(np.float32))
    with pytest.raises(UsageError, match=r"must have shape .* not \["):
        interpreter.set_tensor(image["index"], value[..., :-1])
    with pytest.raises(UsageError, match=r"^invoke must be called before an output is read"):
        interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
