"""Which sentences of a thread are follow-ups, and which are people talking to each other."""

from __future__ import annotations

import pytest

from bot.followup.change import Change
from bot.followup.intent import Intent, intent

HOSTS = ("CT129", "CT130", "gpu-7")

ASKED = {
    "why not NCCL?": "why_not",
    "why not nccl": "why_not",
    "<@U012AB3CD> why not NCCL?": "why_not",
    "ok, but why not the cuda graphs?": "why_not",
    "is it the power cap?": "why_not",
    "could it be the riser?": "why_not",
    "did you check the ECC counters?": "why_not",
    "have you ruled out NUMA?": "why_not",
    "what about NCCL": "why_not",
    "and what about the overlap schedule?": "why_not",
    "is it not peer access?": "why_not",
    "are you sure it's not thermal throttling?": "why_not",
    "is custom all-reduce working?": "why_not",
    "why not --enable-dp-attention?": "why_not",
    "nccl?": "why_not",
    "what about GPU 1?": "gpu",
    "and gpu0?": "gpu",
    "GPU 1?": "gpu",
    "is gpu #3 ok?": "gpu",
    "how is GPU 0 doing": "gpu",
    "what's different about gpu 1?": "gpu",
    "what if we had NVLink?": "what_if",
    "what if we had an nvlink bridge": "what_if",
    "what if the link was fixed": "what_if",
    "what if it ran at gen3 x8?": "what_if",
    "what would gen4 give us?": "what_if",
    "how fast would it be with tp 4?": "what_if",
    "would an NVLink bridge help?": "what_if",
    "what if the accept length was 3.75?": "what_if",
    "what if we had no p2p?": "what_if",
    "what if we enable the prefix cache": "what_if",
    "check again": "again",
    "can you check it again please?": "again",
    "again": "again",
    "rerun": "again",
    "is it fixed now?": "again",
    "compare with CT130": "compare",
    "compare it to gpu-7 please": "compare",
    "what's different from ct130?": "compare",
    "what changed?": "compare",
    "compare with the last run": "compare",
    "show me the log lines": "log_lines",
    "show the log": "log_lines",
    "which lines prove that?": "log_lines",
    "show E5": "evidence",
    "E3 and E14?": "evidence",
    "what is E7?": "evidence",
    "show me the evidence": "evidence",
    "show the lspci output": "evidence",
    "who set disable_piecewise_cuda_graph?": "who_set",
    "who turned off the prefix cache?": "who_set",
    "where does disable_piecewise_cuda_graph come from?": "who_set",
    "why is disable_radix_cache on?": "who_set",
    "grep the log for retract": "grep",
    'grep "out of memory"': "grep",
    "show me the log lines with mamba": "grep",
    "does the log mention fallback?": "grep",
    "and prefill?": "rejudge",
    "what about decode?": "rejudge",
    "how about time to first token?": "rejudge",
    "why?": "why",
    "how do you know that?": "why",
    "explain": "why",
    "explain it like I am new": "why",
    "eli5": "why",
    "explain it in simple words please": "why",
    "how sure are you?": "sure",
    "are you sure?": "sure",
    "what should I do?": "todo",
    "what now?": "todo",
    "how do we fix it?": "todo",
    "what could you not check?": "unchecked",
    "what didn't you check?": "unchecked",
    "what is still open?": "unchecked",
    "thanks": "thanks",
    "thank you so much!": "thanks",
    "thanks! what should I do?": "todo",
    "help": "help",
    "what can you do?": "help",
}

TALK = (
    "ok will do",
    "I think the riser is bad, let me ask Bob",
    "thanks Bob, will check again tomorrow",
    "I will check again tonight",
    "let's check again tomorrow when Bob is in",
    "we should compare with CT130 before we order parts",
    "did you see the email about the network?",
    "did you check with the data centre?",
    "is it lunch time yet?",
    "is it ok if I reboot it at 18:00?",
    "why not reboot it?",
    "why not just swap the cards tonight?",
    "why don't we ask the vendor?",
    "what about tomorrow?",
    "what about lunch?",
    "and Bob?",
    "what if we ask Bob?",
    "what if we buy H100s instead?",
    "what if Bob brings the bridge on Monday?",
    "what if we order an NVLink bridge next week?",
    "what if the riser breaks again?",
    "what if this breaks production?",
    "would Tuesday help?",
    "I set disable_radix_cache because of the crash last month",
    "who set up this host?",
    "who changed the rack?",
    "who is on call?",
    "how do we tell the customer?",
    "what should I do about the invoice for the cards?",
    "what time is it in Berlin?",
    "the log shows nothing",
    "I grep the log every morning",
    "show me the ticket",
    "show him the dashboard",
    "show me your calendar",
    "GPU 1 was replaced in March",
    "gpu 1 and gpu 2 arrive on Monday",
    "I'd check NCCL too",
    "NCCL is fine, trust me",
    "nccl was slow on the old cluster",
    "could be the power cap",
    "it is the power cap, I bet",
    "power cycling it now",
    "rebooting now",
    "done",
    "lol",
    "+1",
    "👍",
    "ok",
    "great",
    "see E5 in the design doc, chapter 3",
    "E2E tests are green",
    "the difference is 20 euros",
    "how sure are you that Bob has the keys?",
    "why was I not told?",
    "why is the coffee machine off?",
    "what did you do to my branch?",
    "what could we not afford last year?",
    "explain that to my boss",
    "what is the plan for Friday?",
    "compare notes with Alice",
    "compare the quotes from both vendors",
    "is the network team around?",
    "are the keys in use?",
    "can you check again whether the invoice arrived?",
    "can you help me move the server?",
    "prefill is what hurts the agents team the most",
    "who has the BIOS password?",
    "what about the other rack, is it also affected by the power outage?",
    "Let me grep that. Bob, do you have access to the log?",
    "why? because nobody told us",
    "is it worth it? I'd say we wait for the bridge. What do you think, Alice?",
    "",
    "   ",
    "?",
    "https://wiki.example.org/why-not-nccl",
)


@pytest.mark.parametrize(("text", "kind"), ASKED.items())
def test_a_follow_up_is_understood(text: str, kind: str) -> None:
    found = intent(text, HOSTS)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize("text", TALK)
def test_people_who_talk_to_each_other_do_not_wake_us(text: str) -> None:
    assert intent(text, HOSTS) is None


def test_there_are_sixty_sentences_on_both_sides() -> None:
    assert min(len(ASKED), len(TALK)) >= 60


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("what about GPU 1?", "gpu", 1),
        ("gpu12?", "gpu", 12),
        ("compare with ct130", "host", "CT130"),
        ("compare with gpu-9", "host", "gpu-9"),
        ("what changed?", "host", None),
        ("E3 and e14?", "looks", ("E3", "E14")),
        ("show E5", "looks", ("E5",)),
        ("show me the evidence", "looks", ()),
        ("who set --disable-piecewise-cuda-graph?", "text", "disable-piecewise-cuda-graph"),
        ("who set disable_piecewise_cuda_graph?", "text", "disable_piecewise_cuda_graph"),
        ("who set NCCL_IB_DISABLE?", "text", "NCCL_IB_DISABLE"),
        ('grep the log for "out of memory"', "text", "out of memory"),
        ("grep retract in the log", "text", "retract"),
        ("show me the log lines about mamba", "text", "mamba"),
        ("explain it like I am new", "plain", True),
        ("why?", "plain", False),
        ("and prefill?", "text", "prefill"),
        ("what if we had NVLink?", "text", "we had NVLink"),
    ],
)
def test_what_is_named_is_kept(text: str, field: str, value: object) -> None:
    assert getattr(intent(text, HOSTS), field) == value


@pytest.mark.parametrize(
    ("text", "suspect"),
    [
        ("why not NCCL?", "nccl"),
        ("is it the power cap?", "power_cap_low"),
        ("what about cuda graphs?", "cuda_graph_disabled"),
        ("could it be ECC?", "ecc_on_gddr6"),
        ("who turned off the prefix cache?", "prefix_cache_off"),
    ],
)
def test_what_is_suspected_is_kept(text: str, suspect: str) -> None:
    found = intent(text, HOSTS)
    assert found is not None
    assert suspect in found.suspects


def test_who_speaks_to_us_may_name_what_no_rule_knows() -> None:
    assert intent("why not the moon?", HOSTS) is None
    assert intent("why not the moon?", HOSTS, addressed=True) == Intent("why_not", text="the moon")
    assert intent("what if we paint it red?", HOSTS, addressed=True) == Intent(
        "what_if", text="we paint it red"
    )
    used = intent("what if we used H100s?", HOSTS, addressed=True)
    assert used == Intent("what_if", text="we used H100s")
    assert intent("tell me a joke", HOSTS, addressed=True) is None


def test_any_other_question_can_be_judged_on_the_same_looks() -> None:
    assert Intent.rejudging("nccl and 30 tok/s at night").suspects >= {"nccl"}


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("we had NVLink", Change(nvlink=True)),
        ("gen3 x8", Change(gen=3, width=8)),
        ("PCIe 5.0", Change(gen=5)),
        ("tp 4", Change(tp=4)),
        ("tp=1", Change(tp=1)),
        ("it ran on one GPU", Change(tp=1)),
        ("the accept length was 3,75", Change(accept_len=3.75)),
        ("accept len 4", Change(accept_len=4.0)),
        ("without P2P", Change(no_peer=True)),
        ("the link was fixed", Change(repaired=True)),
        ("without the link fault", Change(repaired=True)),
        ("we had H100s", Change()),
    ],
)
def test_a_change_is_read_out_of_words(text: str, change: Change) -> None:
    assert Change.of(text) == change


def test_a_long_or_hostile_text_is_looked_at_quickly_and_wakes_nobody() -> None:
    for text in (
        "why not " + "a " * 50_000,
        "gpu " * 20_000,
        "show " + "x" * 200,
        "why not " + "_a" * 110,
    ):
        assert intent(text, HOSTS) is None or len(text) < 300
