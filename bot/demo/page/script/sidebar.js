// Where one can go: the channels, the direct message with the bot, its Home.

import { el, fill, icon } from "./element.js";
import { avatar } from "./message.js";
import { messages, shown, world } from "./state.js";

const seen = new Map(); // place -> newest ts that was looked at
let told = "";

function newest(channel) {
  return [...(messages.get(channel)?.keys() ?? [])].sort().at(-1) ?? "";
}

function entry(place, sign, name, unread, go) {
  const here = shown.place === place;
  return el("button", { class: `place${here ? " here" : ""}${unread ? " unread" : ""}`, type: "button",
    "aria-current": here ? "page" : undefined, data: { place }, on: { click: () => go(place) } },
  sign, el("span", { class: "place-name" }, name), unread ? el("span", { class: "new", "aria-label": "new messages" }) : null);
}

export function drawSidebar(into, go) {
  if (shown.place !== "home") seen.set(shown.place, newest(shown.place));
  const places = world.channels.map((one) => [one, newest(one.id) > (seen.get(one.id) ?? "")]);
  const now = JSON.stringify([places, shown.place, world.botState]);
  if (now === told) return;
  told = now;
  const of = (kind) => places.filter(([one]) => one.kind === kind);
  fill(into,
    el("div", { class: "team" }, el("span", { class: "team-name" }, "Lab"),
      el("span", { class: `lamp ${world.botState}`, title: `The bot is ${world.botState}` })),
    el("nav", { "aria-label": "Places" },
      el("h2", {}, "Channels"),
      of("channel").map(([one, unread]) => entry(one.id, icon("hash"), one.name, unread, go)),
      el("h2", {}, "Direct messages"),
      of("im").map(([one, unread]) => entry(one.id, avatar(world.users[one.user] ?? { name: one.name, bot: true }), one.name, unread, go)),
      el("h2", {}, "Apps"),
      entry("home", icon("home"), "perfsleuth Home", false, go)),
    el("p", { class: "about" }, "A pretend Slack on this machine. The bot is the real one; its two hosts answer from recorded cases. Nothing leaves this machine."));
}
