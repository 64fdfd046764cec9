"""Over a real sshd: reached as OpenSSH would reach it, by aliases, jump hosts, agents, certificates and hashed names."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tenacity import RetryCallState, Retrying

from tests.hosts.asks import Ask
from tests.lab.sshd import Lab, Sshd, free_port, make_key, wait_for
from tools.errors import HostKeyRefused, Unreachable
from tools.hosts.ssh import SshHost
from tools.hosts.ssh.connection import LOGINS, Shed, Transient, _Enough
from tools.hosts.ssh.route import resolve


def hello(config: Path, alias: str = "lab", **options: object) -> str:
    told: Any = {"connect_s": 4, **options}
    with SshHost(alias, config_file=config, **told) as host:
        return str(host.answer([Ask("sh", "-c", "echo $SSH_CONNECTION")])[0].stdout)


@pytest.fixture
def bastion(lab: Lab, tmp_path: Path) -> Iterator[Sshd]:
    server = Sshd(tmp_path / "bastion", lab.folder / "authorized_keys")
    yield server
    server.stop()


def jump_block(lab: Lab, bastion: Sshd, known: Path) -> str:
    return (
        f"Host bastion\n  HostName 127.0.0.1\n  Port {bastion.port}\n  User {lab.user}\n  IdentityFile {lab.key}\n"
        f"  IdentityAgent none\n  UserKnownHostsFile {known}\n  GlobalKnownHostsFile /dev/null\n"
    )


def test_a_jump_host_carries_the_connection(lab: Lab, bastion: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(bastion.known_hosts_line())
    config = lab.configure("jump", ProxyJump="bastion")
    config.write_text(jump_block(lab, bastion, known) + config.read_text())
    assert hello(config).split()[3] == str(lab.sshd.port)
    wait_for(lambda: not bastion.connections(), "the way is not closed with the connection")


def test_two_jump_hosts_carry_it_too(lab: Lab, bastion: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(bastion.known_hosts_line())
    config = lab.configure("jumps", ProxyJump=f"bastion,{lab.user}@bastion:{bastion.port}")
    config.write_text(jump_block(lab, bastion, known) + config.read_text())
    assert hello(config).split()[3] == str(lab.sshd.port)


def test_the_key_of_a_jump_host_must_be_known_as_well(lab: Lab, bastion: Sshd) -> None:
    config = lab.configure("jump_unknown", ProxyJump="bastion", StrictHostKeyChecking="no")
    config.write_text(jump_block(lab, bastion, Path("/dev/null")) + config.read_text())
    with pytest.raises(Unreachable, match=r"through bastion: .*Host key verification failed"):
        hello(config)


def test_a_jump_host_that_is_down_is_said(lab: Lab) -> None:
    config = lab.configure("jump_down", ProxyJump=f"127.0.0.1:{free_port()}")
    with pytest.raises(Unreachable, match=r"cannot be reached through \[?127.0.0.1.*refused"):
        hello(config)


@contextmanager
def before_login(server: Sshd) -> Iterator[None]:
    """Have a place of those that are not logged in yet, and say nothing."""
    greeted: list[socket.socket] = []

    def let_in() -> bool:
        line = socket.create_connection(("127.0.0.1", server.port))
        if line.recv(256).startswith(b"SSH-2.0"):
            greeted.append(line)
        else:
            line.close()
        return bool(greeted)

    wait_for(let_in, "it has no place for anybody")
    with greeted[0]:
        yield


def test_a_jump_host_without_room_for_one_more_login_is_tried_again(
    lab: Lab, tmp_path: Path
) -> None:
    narrow = Sshd(tmp_path / "narrow", lab.folder / "authorized_keys", extra="MaxStartups 1")
    known = tmp_path / "known"
    known.write_text(narrow.known_hosts_line())
    config = lab.configure("narrow", ProxyJump="bastion")
    config.write_text(jump_block(lab, narrow, known) + config.read_text())
    try:
        with (
            before_login(narrow),
            pytest.raises(Transient, match=r"through bastion: .*MaxStartups"),
        ):
            hello(config)
        assert hello(config)
    finally:
        narrow.stop()


def test_many_hosts_behind_one_jump_host_log_in_there_a_few_at_a_time(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.hosts.ssh.connection.LOGIN_S", 60.0)  # every host behind it greets
    narrow = Sshd(
        tmp_path / "narrow", lab.folder / "authorized_keys", extra=f"MaxStartups {LOGINS + 2}"
    )
    known = tmp_path / "known"
    known.write_text(narrow.known_hosts_line())
    config = lab.configure("crowd", ProxyJump="bastion")
    config.write_text(jump_block(lab, narrow, known) + config.read_text())
    try:
        with ThreadPoolExecutor(4 * LOGINS) as pool:
            told = list(pool.map(lambda _: hello(config, connect_s=60), range(8 * LOGINS)))
    finally:
        narrow.stop()
    assert all(told)
    assert "MaxStartups" not in narrow.log()


def test_a_proxy_command_of_the_users_carries_it(lab: Lab, bastion: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(bastion.known_hosts_line())
    config = lab.configure(
        "command", ProxyCommand=f"ssh -F {lab.folder / 'command'} -W %h:%p bastion"
    )
    config.write_text(jump_block(lab, bastion, known) + config.read_text())
    assert hello(config).split()[3] == str(lab.sshd.port)


def test_port_and_user_of_the_settings_win(lab: Lab) -> None:
    config = lab.configure("overrides", Port="1", User="nobody-here")
    assert hello(config, user=lab.user, port=lab.sshd.port)


def test_included_files_and_match_blocks_count(lab: Lab, tmp_path: Path) -> None:
    inner = lab.configure("inner", Port="22")
    inner.write_text(inner.read_text().replace("  Port 22\n", ""))
    config = tmp_path / "outer"
    config.write_text(
        f'Include {inner}\nMatch originalhost lab exec "true"\n  Port {lab.sshd.port}\n'
    )
    assert hello(config)


def test_keys_of_the_agent_let_us_in(lab: Lab, agent: dict[str, str], tmp_path: Path) -> None:
    subprocess.run(["ssh-add", "-q", str(lab.key)], env=os.environ | agent, check=True)
    assert hello(
        lab.configure(
            "agent", IdentityFile=str(tmp_path / "none"), IdentityAgent=agent["SSH_AUTH_SOCK"]
        )
    )


def test_a_public_half_names_the_key_of_the_agent(
    lab: Lab, agent: dict[str, str], tmp_path: Path
) -> None:
    for key in (*(make_key(tmp_path / f"other{n}") for n in range(8)), lab.key):
        subprocess.run(["ssh-add", "-q", str(key)], env=os.environ | agent, check=True)
    public = tmp_path / "id.pub"
    public.write_text(Path(f"{lab.key}.pub").read_text())
    socket = agent["SSH_AUTH_SOCK"]
    assert hello(
        lab.configure(
            "agent_named", IdentityFile=str(public), IdentityAgent=socket, IdentitiesOnly="yes"
        )
    )


def test_the_agent_of_the_environment_is_used(
    lab: Lab, agent: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["ssh-add", "-q", str(lab.key)], env=os.environ | agent, check=True)
    monkeypatch.setenv("SSH_AUTH_SOCK", agent["SSH_AUTH_SOCK"])
    config = lab.configure("agent_env", IdentityFile=str(tmp_path / "none"))
    config.write_text(config.read_text().replace("  IdentityAgent none\n", ""))
    assert hello(config)


def test_an_agent_that_is_gone_is_no_trouble(lab: Lab, tmp_path: Path) -> None:
    assert hello(lab.configure("agent_gone", IdentityAgent=str(tmp_path / "gone")))


@pytest.fixture
def certified(tmp_path: Path) -> Iterator[tuple[Lab, Path]]:
    """A server that trusts a certificate authority and no key, and a key with its certificate."""
    authority = make_key(tmp_path / "ca")
    lab = Lab(tmp_path / "lab", extra=f"TrustedUserCAKeys {authority}.pub")
    (lab.folder / "authorized_keys").write_text("")
    key = make_key(tmp_path / "cert_id")
    sign = [
        "ssh-keygen",
        "-q",
        "-s",
        str(authority),
        "-I",
        "me",
        "-n",
        lab.user,
        "-V",
        "-5m:+1h",
        f"{key}.pub",
    ]
    subprocess.run(sign, check=True, stderr=subprocess.DEVNULL)
    yield lab, key
    lab.stop()


def test_a_certificate_beside_the_key_lets_us_in(certified: tuple[Lab, Path]) -> None:
    lab, key = certified
    assert hello(lab.configure("cert", IdentityFile=str(key)))


def test_a_certificate_named_in_the_configuration_lets_us_in(
    certified: tuple[Lab, Path], tmp_path: Path
) -> None:
    lab, key = certified
    elsewhere = Path(f"{key}-cert.pub").rename(tmp_path / "signed.pub")
    assert hello(lab.configure("cert_named", IdentityFile=str(key), CertificateFile=str(elsewhere)))


def test_a_certificate_in_the_agent_lets_us_in(
    certified: tuple[Lab, Path], agent: dict[str, str], tmp_path: Path
) -> None:
    lab, key = certified
    subprocess.run(["ssh-add", "-q", str(key)], env=os.environ | agent, check=True)
    config = lab.configure(
        "cert_agent", IdentityFile=str(tmp_path / "none"), IdentityAgent=agent["SSH_AUTH_SOCK"]
    )
    assert hello(config)


def test_hashed_names_are_known(lab: Lab, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(lab.sshd.known_hosts_line())
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(known)], check=True, capture_output=True)
    assert "127.0.0.1" not in known.read_text()
    assert hello(lab.configure("hashed", UserKnownHostsFile=str(known)))


def test_lines_that_cannot_be_read_are_passed_over(lab: Lab, tmp_path: Path) -> None:
    known = tmp_path / "known"
    key = Path(f"{make_key(tmp_path / 'ca')}.pub").read_text()
    lines = f"@cert-authority * {key}# a comment\n\nbroken\nx ssh-rsa !!!\n|1|x|y ssh-ed25519 AAAA\n\xff\n"
    known.write_text(lines + lab.sshd.known_hosts_line(), encoding="latin-1")
    assert hello(lab.configure("authority", UserKnownHostsFile=str(known)))


def test_a_known_authority_alone_is_not_enough_and_it_is_said_why(lab: Lab, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text("@cert-authority * " + Path(f"{make_key(tmp_path / 'ca')}.pub").read_text())
    with pytest.raises(HostKeyRefused, match="certificate authority is known"):
        hello(lab.configure("authority_only", UserKnownHostsFile=str(known)))


def test_a_host_key_alias_is_looked_up_instead(lab: Lab, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(lab.sshd.known_hosts_line("the-lab"))
    assert hello(lab.configure("key_alias", UserKnownHostsFile=str(known), HostKeyAlias="the-lab"))


def test_the_kind_of_key_that_is_known_is_the_one_asked_for(tmp_path: Path) -> None:
    """A server with two kinds of key; only the one that paramiko likes less is known."""
    rsa = tmp_path / "rsa"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", str(rsa)], check=True
    )
    lab = Lab(tmp_path / "lab", extra=f"HostKey {rsa}")
    try:
        known = tmp_path / "known"
        known.write_text(f"[127.0.0.1]:{lab.sshd.port} {Path(f'{rsa}.pub').read_text()}")
        assert hello(lab.configure("rsa", UserKnownHostsFile=str(known)))
    finally:
        lab.stop()


def test_a_route_says_what_openssh_says(lab: Lab) -> None:
    route = resolve("lab", config_file=lab.config)
    assert (route.hostname, route.port, route.user) == ("127.0.0.1", lab.sshd.port, lab.user)
    assert route.identities == (lab.key,)
    assert route.agent is None
    assert route.known_as == f"[127.0.0.1]:{lab.sshd.port}"
    assert lab.known_hosts in route.known_hosts


def test_a_machine_without_openssh_is_told_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unreachable, match="OpenSSH client"):
        SshHost("gpu-1").answer([Ask("true")])


def test_who_waits_for_room_waits_on_and_three_real_failures_are_enough() -> None:
    def tried(*failed: type[Transient]) -> list[bool]:
        enough, said = _Enough(), []
        for number, kind in enumerate(failed, 1):
            state = RetryCallState(Retrying(), None, (), {})
            state.attempt_number = number
            state.set_exception((kind, kind("no"), None))
            said.append(enough(state))
        return said

    assert tried(Transient, Transient, Transient) == [False, False, True]
    assert tried(Shed, Shed, Shed, Shed, Transient, Shed, Transient, Transient) == [False] * 7 + [
        True
    ]
