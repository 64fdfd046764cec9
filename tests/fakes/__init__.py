"""A Slack for tests: the workspace of bot/demo/workspace, in a thread of its own, or in the test's own loop.

    @pytest.fixture
    def slack() -> Iterator[FakeSlack]:
        with FakeSlack(rates=False, ack_s=1.0) as slack:   # keywords: bot/demo/workspace/settings.py
            yield slack

    def test_a_mention_is_answered_in_its_thread(slack):
        bot = subprocess.Popen([...], env={**os.environ, **slack.environment()})
        slack.connected()
        asked = slack.mention("why is CT129 slow?")                    # or say("gpu", "sam", text, files=[(name, bytes)])
        slack.until(lambda: len(slack.replies("gpu", asked.ts)) == 2, within_s=10)
        trail, verdict = slack.replies("gpu", asked.ts)
        assert rendered(verdict).mentions == [] and rendered(verdict).links == []
        slack.press("gpu", verdict.ts, "check_again", "ana")           # command("/perf hosts", "gpu", "sam"), shortcut,
        assert slack.calls("chat.postMessage")[-1].ok                  # submit(slack.open_views("sam")[0], {...}), open_home

Faults: `slack.faults.every(10, "ratelimited")`, `.next("chat.postMessage", "drop_after")`, `.outage(2.0)`,
`.cut_socket_every(20)`; `slack.drop_sockets()`, `slack.refresh_sockets()`, `slack.without("chat.startStream")`,
`slack.settings.scopes.discard("files:read")`, `slack.settings.revoked = True`. Events: `slack.again(delivery)` is a
duplicate, `slack.record.deliveries` have tries and acks. Within a loop: `async with Workspace() as slack:`, the same
names, `await slack.until(...)`, `await slack.connected()`.
"""

from bot.demo.workspace import (
    BOT_USER,
    LIMITS,
    TEAM,
    Call,
    Delivery,
    Message,
    View,
    Workspace,
    faults_of,
)
from bot.demo.workspace.rendered import Rendered, rendered
from tests.fakes.slack import FakeSlack

__all__ = [
    "BOT_USER",
    "LIMITS",
    "TEAM",
    "Call",
    "Delivery",
    "FakeSlack",
    "Message",
    "Rendered",
    "View",
    "Workspace",
    "faults_of",
    "rendered",
]
