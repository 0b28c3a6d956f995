"""What notebooks show of an interpreter."""

import re

import pytest

from kiwicha import Interpreter
from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.html_report.sorts import CAUSE_COLOURS
from kiwicha.interpreter.notebook import layers_as_html
from kiwicha.zoo import models as zoo
from tests.support.models.tflite_builder import ModelBuilder


def test_predicted_cycles_stand_beside_each_layer() -> None:
    text = Interpreter("demo", config="64")._repr_html_()
    program = compile_stages(zoo.demo_model()[0], "64").program
    predicted = predict_layers(program)
    rows = re.findall(r"<tr><td[^>]*>(\d+)</td>", text)
    assert rows == [str(layer.index) for layer in program.layers]
    for cycles in predicted:
        assert f">{cycles:,}</td>" in text
    assert f">{sum(predicted):,}</th>" in text
    assert "cycles, predicted" in text
    widths = [float(width) for width in re.findall(r'<rect x="0.0" width="([\d.]+)"', text)]
    assert max(widths) == 220
    assert len(widths) == sum(cycles > 0 for cycles in predicted)


def test_without_an_engine_nothing_is_predicted() -> None:
    text = Interpreter("demo")._repr_html_()
    assert "<rect" not in text
    assert "demo on simd" in text
    assert "target=&#39;sim&#39; counts the cycles" in text


@pytest.mark.verilator
def test_simulated_cycles_are_split_by_cause() -> None:
    made = Interpreter("demo", config="64", target="sim")
    made.allocate_tensors()
    made.invoke()
    text = made._repr_html_()
    assert f">{made.cycles:,}</th>" in text
    assert "simulated: " in text
    assert text.count(CAUSE_COLOURS["arithmetic"]) > 10
    assert "<title>arithmetic: " in text


def test_names_are_escaped() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), name=name, scale=0.5) for name in "xy")
    builder.operator("RELU", [x], [y])
    compilation = compile_stages(builder.build([x], [y]), "baseline")
    assert "&lt;b&gt; on baseline" in layers_as_html("<b>", compilation, None)
