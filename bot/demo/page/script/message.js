// One message as a row.

import { blockOf } from "./blocks.js";
import { el, icon } from "./element.js";
import { fileOf } from "./files.js";
import { patch } from "./patch.js";
import { replies, userOf, world } from "./state.js";
import { tell } from "./toast.js";
import { shortcut } from "./wire.js";
import { mrkdwn } from "./words.js";

const NEAR_S = 300;
const rows = new Map(); // pane/channel/ts -> {framed, row, content, parts}

export const clock = (ts) => new Date(Number(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

export function avatar(user) {
  if (user.bot) return el("img", { class: "avatar", src: "static/avatar.svg", alt: "" });
  const hue = [...user.name].reduce((sum, sign) => sum + sign.charCodeAt(0), 0) % 6;
  return el("span", { class: `avatar person hue-${hue}`, "aria-hidden": "true" }, user.name.slice(0, 1).toUpperCase());
}

function parts(message, pane, openThread) {
  const place = { pane, key: `${message.channel}/${message.ts}`, of: { channel: message.channel, ts: message.ts } };
  const made = (message.blocks ?? []).map((block) => ({ told: JSON.stringify(block), make: () => blockOf(block, place) }));
  if (!made.length && message.text) {
    made.push({ told: message.text, make: () => el("div", { class: "text block" }, mrkdwn(message.text)) });
  }
  for (const file of message.files ?? []) made.push({ told: JSON.stringify(file), make: () => fileOf(file) });
  if (message.edited) made.push({ told: "edited", make: () => el("span", { class: "edited" }, "(edited)") });
  if (message.streaming && message.blocks?.at(-1)?.type === "markdown") {
    made.push({ told: "cursor", make: () => el("span", { class: "cursor", "aria-hidden": "true" }) });
  }
  const all = openThread ? replies(message.channel, message.ts) : [];
  if (all.length) made.push({ told: JSON.stringify(all.map((one) => [one.ts, one.user])), make: () => answers(message, all, openThread) });
  return made;
}

function answers(message, all, openThread) {
  const faces = [...new Set(all.map((one) => one.user))].slice(0, 3).map((id) => avatar(world.users[id] ?? { name: "app", bot: true }));
  return el("button", { class: "replies", type: "button", on: { click: () => openThread(message.channel, message.ts) } },
    el("span", { class: "faces" }, faces),
    el("strong", {}, `${all.length} ${all.length === 1 ? "reply" : "replies"}`),
    el("span", { class: "when" }, `Last reply ${clock(all.at(-1).ts)}`), icon("fold"));
}

// The message shortcut that the app has.
function diagnose(message) {
  const made = el("button", { class: "shortcut", type: "button", title: "A shortcut of perfsleuth: look at this text or these files" }, "Diagnose this");
  made.addEventListener("click", async () => {
    const said = await shortcut(message.channel, message.ts);
    if (said.error) tell(said.error);
  });
  return made;
}

function frame(message, user, compact) {
  const head = compact ? null : el("div", { class: "message-head" },
    el("span", { class: "author" }, user.name), user.bot ? el("span", { class: "badge" }, "APP") : null,
    el("time", { class: "when" }, clock(message.ts)));
  const kind = `message${compact ? " compact" : ""}${message.ephemeral ? " ephemeral" : ""}${user.bot ? " of-app" : ""}`;
  const content = el("div", { class: "content" });
  const row = el("article", { class: kind, data: { ts: message.ts, channel: message.channel }, "aria-label": `${user.name}, ${clock(message.ts)}` },
    el("div", { class: "gutter" }, compact ? el("time", { class: "when" }, clock(message.ts)) : avatar(user)),
    el("div", { class: "message-body" }, head,
      message.ephemeral ? el("div", { class: "only-you" }, "Only visible to you") : null, content),
    user.bot || message.ephemeral ? null : diagnose(message));
  return { row, content, parts: [] };
}

export function rowOf(pane, message, before, openThread) {
  const user = userOf(message);
  const compact = Boolean(before) && before.user === message.user && !before.ephemeral && !message.ephemeral
    && message.ts - before.ts < NEAR_S && !(openThread && replies(before.channel, before.ts).length);
  const key = `${pane}/${message.channel}/${message.ts}`;
  const framed = JSON.stringify([user, compact]);
  if (rows.get(key)?.framed !== framed) rows.set(key, { framed, ...frame(message, user, compact) });
  const shown = rows.get(key);
  shown.parts = patch(shown.content, shown.parts, parts(message, pane, openThread));
  return shown.row;
}
