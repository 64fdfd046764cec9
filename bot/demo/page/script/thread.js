// The thread at the right: its first message, the replies, who is working, and where to write.

import { Composer } from "./composer.js";
import { el, fill, icon } from "./element.js";
import { rowOf } from "./message.js";
import { divider, follow, stay } from "./pane.js";
import { channelOf, message, replies, sessions, shown, statuses, world } from "./state.js";
import { stop } from "./wire.js";

const panel = document.getElementById("thread");
const list = el("div", { class: "messages", role: "log", "aria-label": "Thread" });
const status = el("div", { class: "status", role: "status" });
const scroller = el("div", { class: "scroller", tabindex: 0 }, list, status);
const title = el("span", { class: "pane-sub" });
const composer = new Composer(() => {
  const { channel, ts } = shown.thread ?? {};
  return { channel, thread: ts, name: "Reply…", mention: false };
});
let drawn = "";

export function buildThread(close) {
  const leave = el("button", { class: "icon-button", type: "button", title: "Close the thread", "aria-label": "Close the thread", on: { click: close } }, icon("close"));
  fill(panel, el("header", { class: "pane-head" }, el("h2", {}, "Thread"), title, el("span", { class: "grow" }), leave), scroller, composer.root);
  composer.draw();
  stay(scroller, list);
}

function drawStatus(channel, ts) {
  const told = statuses.get(`${channel}/${ts}`)?.status ?? "";
  const busy = sessions.get(`${channel}/${ts}`)?.status === "processing";
  const key = `${channel}/${ts}/${told}/${busy}`;
  if (status.dataset.told === key) return;
  status.dataset.told = key;
  fill(status, told ? [el("span", { class: "shimmer" }, `perfsleuth ${told}`)] : [],
    busy ? el("button", { class: "button small", type: "button", title: "Slack's own Stop", on: { click: () => stop(channel, ts) } }, icon("stop"), "Stop") : []);
}

const hasVerdict = (all) => all.some((one) => JSON.stringify(one.blocks ?? "").includes('"check_again"'));

export function drawThread() {
  panel.hidden = !shown.thread;
  document.body.classList.toggle("with-thread", Boolean(shown.thread));
  if (!shown.thread) return;
  const { channel, ts } = shown.thread;
  const root = message(channel, ts);
  const all = replies(channel, ts);
  const place = channelOf(channel);
  title.textContent = place ? (place.kind === "im" ? place.name : `#${place.name}`) : "";
  const count = divider(`${channel}/${ts}`, all.length === 1 ? "1 reply" : `${all.length} replies`);
  const rows = all.map((one, number) => rowOf("thread", one, all[number - 1]));
  const fresh = drawn !== `${channel}/${ts}`;
  drawn = `${channel}/${ts}`;
  drawStatus(channel, ts);
  follow(scroller, list, [root ? rowOf("thread", root) : null, all.length ? count : null, ...rows].filter(Boolean));
  if (fresh) scroller.scrollTop = scroller.scrollHeight;
  composer.suggest(hasVerdict(all) ? world.suggestions[channel]?.after ?? [] : sessions.get(`${channel}/${ts}`)?.prompts ?? []);
}
