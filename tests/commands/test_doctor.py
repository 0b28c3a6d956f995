"""``kiwicha doctor``."""

import json

import pytest

from kiwicha import doctor
from tests.support.commands.command_line import Command


def test_doctor_exits_1_without_a_required_tool(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tool(name: str, is_required: bool) -> doctor.Tool:
        return doctor.Tool(name, "work", is_required, None, "", f"get [{name}]")

    monkeypatch.setattr(doctor, "examine", lambda: (tool("extra", False),))
    code, out, _ = kiwicha("doctor")
    assert code == 0
    assert "no (optional)" in out
    assert "install extra: get [extra]\n" in out
    monkeypatch.setattr(doctor, "examine", lambda: (tool("core", True),))
    code, out, _ = kiwicha("doctor", "--json", "-")
    assert (code, json.loads(out)[0]["name"]) == (1, "core")
