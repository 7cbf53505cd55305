"""How the command meets signals: with an answer if there is one, at once if there is none, after files it writes."""

from __future__ import annotations

import os
import signal

import pytest

from treeplex import system
from treeplex.system import Command, Interrupted, ctrl_c


class LeftError(BaseException):
    """Stands for ``os._exit``, after which nothing is done."""


@pytest.fixture
def command(monkeypatch) -> Command:
    """A command that has taken over, without real handlers."""

    def leave(code: int) -> None:
        assert code == 1
        raise LeftError

    monkeypatch.setattr(os, "_exit", leave)
    made = Command()
    made._running = True
    return made


def press(command: Command, number: int = signal.SIGTERM) -> None:
    command._handle(number, None)


def test_without_an_answer_it_leaves_at_once(command, capfd) -> None:
    with pytest.raises(LeftError):
        press(command)
    assert capfd.readouterr().err == "interrupted by SIGTERM, before there was an answer.\n"
    with command.answering() as stop, pytest.raises(LeftError):
        press(command, signal.SIGINT)  # a run has begun, and its first iteration is not done
    assert not stop.is_set()


def test_with_an_answer_the_first_signal_ends_the_run_and_the_second_the_process(command, capfd) -> None:
    with command.answering() as stop:
        stop.answerable = True
        press(command, signal.SIGHUP)
        assert stop.is_set()
        with pytest.raises(LeftError):
            press(command)
    said = "interrupted by SIGHUP; what was computed since the last checkpoint is lost.\n"
    assert capfd.readouterr().err == said


def test_files_are_completed_first_and_a_third_signal_is_heeded(command) -> None:
    with command.answering() as stop:
        stop.answerable = True
        with pytest.raises(Interrupted), command.finishing():
            press(command)
            with command.finishing():  # one file of several
                press(command)
    command = Command()
    with pytest.raises(LeftError), command.finishing():
        press(command)
        press(command)
        press(command)


def test_a_signal_while_a_file_is_written_ends_the_command_after_it(command) -> None:
    with pytest.raises(Interrupted), command.finishing():
        press(command)
    assert command.received == [signal.SIGTERM]


def test_a_run_inside_a_comparison_shares_its_event(command) -> None:
    with command.answering() as outer:
        with command.answering() as inner:
            assert inner is outer
            inner.answerable = True
        press(command)
        assert outer.is_set()
    with command.answering() as later:
        assert not later.is_set()


def test_what_must_be_tidied_is_when_it_leaves(command, tmp_path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(LeftError), command.leaving((tmp_path / "a").unlink):
        press(command)
    assert not list(tmp_path.iterdir())


def test_what_is_ignored_stays_so(monkeypatch) -> None:
    """As under ``nohup``; SIGTERM is never ignored."""
    before = {number: signal.getsignal(number) for number in system.SIGNALS}
    try:
        for number in system.SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        made = Command()
        made.take_over()
        after = {number: signal.getsignal(number) for number in system.SIGNALS}
        assert after == {signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: made._handle, signal.SIGHUP: signal.SIG_IGN}
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with ctrl_c() as pressed:
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGINT)
            assert not pressed.is_set()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("number", system.SIGNALS, ids=lambda number: number.name)
def test_a_python_program_gets_its_answer_on_every_signal(number) -> None:
    before = signal.getsignal(number)
    with ctrl_c() as pressed:
        os.kill(os.getpid(), number)
        assert pressed.is_set()
        assert signal.getsignal(number) is before
