"""``kiwicha console``."""

import os
import pty
import subprocess
import sys
import threading
import tty

from tests.support.commands.command_line import Command


def test_a_port_that_is_not_there_is_reported(kiwicha: Command) -> None:
    error = kiwicha.error("console", "--port", "/dev/no-such-port")
    assert error.startswith("serial port must be one that can be opened: ")


def test_what_is_sent_and_what_comes_pass() -> None:
    host, port = pty.openpty()
    tty.setraw(port)
    heard: list[bytes] = []

    def answer() -> None:
        heard.append(os.read(host, 100))
        os.write(host, b"ready\n\x01\xff")

    board = threading.Thread(target=answer)
    board.start()
    done = subprocess.run(
        [sys.executable, "-m", "kiwicha.cli", "console", "--port", os.ttyname(port)],
        input=b"hello",
        capture_output=True,
        check=False,
        timeout=60,
    )
    board.join()
    os.close(host)
    os.close(port)
    assert done.returncode == 0, done.stderr
    assert heard == [b"hello"]
    assert done.stdout == b"ready\n.."


def test_ctrl_bracket_ends_it_and_the_terminal_is_as_before() -> None:
    host, port = pty.openpty()
    tty.setraw(port)
    keyboard, screen = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "kiwicha.cli", "console", "--port", os.ttyname(port)],
        stdin=screen,
        stdout=screen,
        stderr=screen,
    ) as process:
        assert b"Ctrl-] ends" in os.read(keyboard, 200)
        os.write(keyboard, b"k")
        assert os.read(host, 10) == b"k"
        os.write(keyboard, b"\x1d")
        assert process.wait(60) == 0
    for end in (host, port, keyboard, screen):
        os.close(end)
