"""Over a real sshd: each way of not getting in has its own sentence, and none of them is retried blindly."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hosts.asks import Ask
from tests.lab.sshd import Lab, free_port, make_key
from tools.errors import HostError, HostKeyRefused, LoginRefused, Unreachable
from tools.hosts.ssh import SshHost

ASK = Ask("echo", "hello")


def refusal(
    lab: Lab,
    name: str,
    kind: type[HostError],
    python: str = "python3",
    alias: str = "lab",
    **changes: str,
) -> str:
    """Ask with some words of ssh_config changed, and return the one sentence that comes of it."""
    config = lab.configure(name, **changes)
    with (
        SshHost(alias, config_file=config, connect_s=2, python=python) as host,
        pytest.raises(HostError) as caught,
    ):
        host.answer([ASK])
    said = str(caught.value)
    assert type(caught.value) is kind or issubclass(type(caught.value), kind), said
    assert "\n" not in said
    assert "lab" in said
    return said


def fingerprint(lab: Lab) -> str:
    done = subprocess.run(
        ["ssh-keygen", "-lf", f"{lab.sshd.host_key}.pub"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()[1]


def test_an_unknown_host_key_is_refused_with_what_to_do(lab: Lab) -> None:
    said = refusal(lab, "unknown_key", HostKeyRefused, UserKnownHostsFile="/dev/null")
    assert "unknown" in said
    assert "`ssh lab`" in said
    assert fingerprint(lab) in said


def test_accept_new_in_the_configuration_does_not_make_us_trust(lab: Lab) -> None:
    refusal(
        lab,
        "accept_new",
        HostKeyRefused,
        UserKnownHostsFile="/dev/null",
        StrictHostKeyChecking="no",
    )


def test_a_changed_host_key_is_refused_and_named_as_such(lab: Lab, tmp_path: Path) -> None:
    other = Path(f"{make_key(tmp_path / 'other')}.pub").read_text()
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{lab.sshd.port} {other}")
    said = refusal(lab, "changed_key", HostKeyRefused, UserKnownHostsFile=str(known))
    assert "is not the one in" in said
    assert str(known) in said
    assert "stands in between" in said
    assert fingerprint(lab) in said


def test_a_revoked_host_key_is_refused(lab: Lab, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(
        lab.sshd.known_hosts_line()
        + "@revoked * "
        + lab.sshd.known_hosts_line("x").partition(" ")[2]
    )
    assert "revoked" in refusal(lab, "revoked_key", HostKeyRefused, UserKnownHostsFile=str(known))


def test_a_wrong_key_is_refused_with_what_was_tried(lab: Lab, tmp_path: Path) -> None:
    wrong = make_key(tmp_path / "wrong")
    said = refusal(lab, "wrong_key", LoginRefused, IdentityFile=str(wrong))
    assert str(wrong) in said
    assert "authorized_keys" in said


def test_no_key_at_all_is_said(lab: Lab, tmp_path: Path) -> None:
    assert "no key to try" in refusal(
        lab, "no_key", LoginRefused, IdentityFile=str(tmp_path / "none")
    )


def test_a_locked_key_is_said_to_be_locked(lab: Lab, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(locked)], check=True
    )
    said = refusal(lab, "locked_key", LoginRefused, IdentityFile=str(locked))
    assert "passphrase" in said
    assert "ssh-add" in said


def test_a_closed_port_is_said(lab: Lab) -> None:
    port = str(free_port())
    said = refusal(lab, "closed_port", Unreachable, Port=port)
    assert f"nothing listens on port {port}" in said


def test_an_unknown_name_is_said(lab: Lab) -> None:
    said = refusal(lab, "unknown_name", Unreachable, HostName="no-such-host-lab.invalid")
    assert "no-such-host-lab.invalid is unknown" in said


def test_a_configuration_that_openssh_cannot_read_is_said(lab: Lab) -> None:
    said = refusal(lab, "broken", Unreachable, NoSuchWord="x")
    assert "cannot resolve lab" in said
    assert "NoSuchWord".lower() in said.lower()


@pytest.mark.parametrize("name", ["-oProxyCommand=touch x", "a b", "", "x;y", "$(x)", "a\nb"])
def test_what_cannot_be_a_host_is_never_given_to_openssh(name: str) -> None:
    with pytest.raises(Unreachable, match="is no name of a host"):
        SshHost(name).answer([ASK])


@pytest.fixture
def mute_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_that_never_greets_is_given_up(lab: Lab, mute_port: int) -> None:
    said = refusal(lab, "mute", Unreachable, Port=str(mute_port))
    assert "greeted" in said


def test_a_server_that_sheds_load_is_tried_again(lab: Lab) -> None:
    """The first connection is dropped before a greeting, as MaxStartups does; the second one is carried."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve() -> None:
            server.accept()[0].close()
            near = server.accept()[0]
            far = socket.create_connection(("127.0.0.1", lab.sshd.port))
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=carry, args=(source, target), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        config = lab.configure(
            "shedding", Port=str(port), HostKeyAlias=f"[127.0.0.1]:{lab.sshd.port}"
        )
        with SshHost("lab", config_file=config, connect_s=5) as host:
            assert host.answer([ASK])[0].stdout == "hello\n"


def carry(source: socket.socket, target: socket.socket) -> None:
    with source, suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)


def test_a_host_without_python_is_said_and_the_setting_named(lab: Lab) -> None:
    said = refusal(lab, "no_python", Unreachable, python="python3-not-there")
    assert "no python3-not-there" in said
    assert "`python`" in said


def test_an_interpreter_that_is_none_is_quoted(lab: Lab) -> None:
    said = refusal(lab, "no_interpreter", Unreachable, python="cat")
    assert "cannot run what is asked" in said
    assert "cat --help" in said


def test_an_account_that_only_greets_is_quoted(own_lab: Lab) -> None:
    config = own_lab.folder / "sshd" / "sshd_config"
    config.write_text(config.read_text() + "ForceCommand echo This account is closed.\n")
    own_lab.sshd.kill()
    own_lab.sshd.start()
    assert "This account is closed." in refusal(own_lab, "greeter", Unreachable)


def test_a_host_that_takes_passwords_only_says_so(own_lab: Lab) -> None:
    config = own_lab.folder / "sshd" / "sshd_config"
    config.write_text(
        "PubkeyAuthentication no\n"
        + config.read_text().replace("PasswordAuthentication no", "PasswordAuthentication yes")
    )
    own_lab.sshd.kill()
    own_lab.sshd.start()
    assert "by password only" in refusal(own_lab, "passwords", LoginRefused)


def test_too_many_keys_in_the_agent_are_said(own_lab: Lab, agent: dict[str, str]) -> None:
    for n in range(8):
        subprocess.run(
            ["ssh-add", "-q", str(make_key(own_lab.folder / f"many{n}"))],
            env=os.environ | agent,
            check=True,
        )
    said = refusal(
        own_lab,
        "many",
        LoginRefused,
        IdentityFile=str(own_lab.folder / "none"),
        IdentityAgent=agent["SSH_AUTH_SOCK"],
    )
    assert "IdentitiesOnly" in said
