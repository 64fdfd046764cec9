"""Who may ask and who may approve: users, user groups and channels; strangers must be named."""

from __future__ import annotations

import pytest

from bot.access import Access, Asker, refusal_here
from bot.settings import Access as AccessSettings
from bot.settings import HostSettings, Settings

EVERYBODY = None


class Workspace:
    """SAM and ANA work here, ANA is in SOPS; EVE is a guest."""

    def members(self, group_id: str, /) -> frozenset[str]:
        return {"SOPS": frozenset({"UANA"}), "SOUT": frozenset({"UEVE"})}.get(group_id, frozenset())

    def stranger(self, user: str, /) -> bool:
        return user == "UEVE"


def access(
    ask: tuple[str, ...] | None = EVERYBODY,
    host_ask: tuple[str, ...] | None = None,
    approve: tuple[str, ...] = (),
    host_approve: tuple[str, ...] | None = None,
) -> Access:
    host = HostSettings(ask=host_ask, approve=host_approve)
    settings = Settings(
        hosts={"CT129": host, "CT130": HostSettings()},
        access=AccessSettings(ask=ask, approve=approve),
    )
    return Access(settings, Workspace())


@pytest.mark.parametrize(
    ("general", "narrow", "user", "may"),
    [
        (EVERYBODY, None, "USAM", True),
        (EVERYBODY, None, "UEVE", False),
        (("USAM",), None, "USAM", True),
        (("USAM",), None, "UANA", False),
        (("SOPS",), None, "UANA", True),
        (("SOPS",), None, "USAM", False),
        (("SNIX",), None, "UANA", False),
        (("CGPU",), None, "USAM", True),
        (("CGPU",), None, "UEVE", False),  # a shared channel lets nobody in from outside
        (("CELSE",), None, "USAM", False),
        (("UEVE",), None, "UEVE", True),
        (("SOUT",), None, "UEVE", True),
        ((), None, "USAM", False),
        (EVERYBODY, ("UANA",), "UANA", True),
        (EVERYBODY, ("UANA",), "USAM", False),
        (EVERYBODY, ("UEVE",), "UEVE", True),
        (EVERYBODY, ("CGPU",), "UEVE", False),
        (("USAM",), ("UANA",), "UANA", False),  # a host narrows, it grants nothing
        (("USAM",), ("UANA",), "USAM", False),
        (("USAM", "UANA"), ("SOPS",), "UANA", True),
        (("UEVE",), ("CGPU",), "UEVE", False),
    ],
)
def test_who_may_ask_about_a_host(
    general: tuple[str, ...] | None, narrow: tuple[str, ...] | None, user: str, may: bool
) -> None:
    refusal = access(general, narrow).refusal(Asker(user, "CGPU"), "CT129")
    assert (refusal is None) is may, refusal


def test_a_host_is_found_whatever_its_case() -> None:
    assert access(EVERYBODY, ("UANA",)).refusal(Asker("USAM", "CGPU"), "ct129")


def test_what_one_host_says_is_nothing_to_another() -> None:
    narrow = access(EVERYBODY, ("UANA",))
    assert narrow.refusal(Asker("USAM", "CGPU"), "CT130") is None
    assert narrow.refusal(Asker("USAM", "CGPU")) is None


@pytest.mark.parametrize(
    ("general", "narrow", "user", "says"),
    [
        (EVERYBODY, ("UANA",), "USAM", "ask me about CT129 here. That is open to some people only"),
        (("SOPS", "CELSE"), None, "USAM", "ask me here. That is open to some user groups and some channels only"),
        (EVERYBODY, None, "UEVE", "ask me here. Guests and people of other workspaces must be named first"),
        ((), None, "USAM", "That is open to nobody only"),
    ],
)  # fmt: skip
def test_a_refusal_says_whom_to_ask_and_names_nobody(
    general: tuple[str, ...] | None, narrow: tuple[str, ...] | None, user: str, says: str
) -> None:
    refusal = access(general, narrow).refusal(Asker(user, "CGPU"), "CT129") or ""
    assert says in refusal
    assert refusal.endswith("Whoever runs me can add you, your user group or this channel in hosts.toml.")  # fmt: skip
    assert "UANA" not in refusal


@pytest.mark.parametrize(
    ("general", "narrow", "user", "may"),
    [
        ((), None, "USAM", False),
        ((), ("USAM",), "USAM", False),
        (("USAM",), None, "USAM", True),
        (("SOPS",), None, "UANA", True),
        (("USAM", "SOPS"), ("UANA",), "UANA", True),
        (("USAM", "SOPS"), ("UANA",), "USAM", False),
        (("CGPU",), None, "USAM", True),
        (("UEVE",), None, "UEVE", False),  # who may not ask may not approve
    ],
)
def test_who_may_approve_a_change(
    general: tuple[str, ...], narrow: tuple[str, ...] | None, user: str, may: bool
) -> None:
    judged = access(approve=general, host_approve=narrow)
    assert judged.may_approve(Asker(user, "CGPU"), "CT129") is may


def test_who_is_named_to_approve_is_told() -> None:
    assert access(approve=("USAM", "SOPS")).approvers("CT129") == ("USAM", "SOPS")
    assert access(approve=("USAM",), host_approve=("UANA",)).approvers("CT129") == ("UANA",)
    assert access(host_approve=("UANA",)).approvers("CT129") == ()


@pytest.mark.parametrize(
    ("approve", "host_approve", "may"),
    [
        ((), None, True),  # nobody is named: who can log in could do it by hand
        (("USAM",), None, False),
        (("USAM", "local:sam"), None, True),
        (("local:ana",), None, False),
        (("local:sam",), ("local:ana",), False),
        (("local:sam",), ("local:sam",), True),
        ((), ("local:sam",), True),
        ((), (), False),
    ],
)
def test_from_a_terminal_who_is_named_approves_or_everybody_where_nobody_is(
    approve: tuple[str, ...], host_approve: tuple[str, ...] | None, may: bool
) -> None:
    settings = Settings(
        hosts={"CT129": HostSettings(approve=host_approve)}, access=AccessSettings(approve=approve)
    )
    refused = refusal_here(settings, "ct129", "sam")
    assert (refused is None) is may
    assert refused is None or "local:sam is not among them" in refused
