// The window: draws what is shown whenever something changed, and opens a thread when the bot answers.

import { Composer } from "./composer.js";
import { el, fill, icon } from "./element.js";
import { drawHome } from "./home.js";
import { rowOf } from "./message.js";
import { showViews } from "./modal.js";
import { day, divider, flash, follow, stay } from "./pane.js";
import { drawSidebar } from "./sidebar.js";
import { channelOf, changed, inChannel, replies, shown, userOf, watch, world } from "./state.js";
import { buildThread, drawThread } from "./thread.js";
import { line, listen, openDirect, openHome } from "./wire.js";

const main = document.getElementById("main");
const sidebar = document.getElementById("sidebar");
const list = el("div", { class: "messages", role: "log", "aria-label": "Messages" });
const welcome = el("div", { class: "welcome" });
const scroller = el("div", { class: "scroller", tabindex: 0 }, welcome, list);
const homePane = el("div", { class: "scroller", tabindex: 0, hidden: true });
const heading = el("h1");
const sub = el("span", { class: "pane-sub" });
const banner = document.getElementById("banner");
let waiting = ""; // the ts of the last question, whose answer opens its thread

const composer = new Composer(() => {
  const place = channelOf(shown.place);
  const name = !place ? "" : place.kind === "im" ? `Message ${place.name}` : `Message #${place.name}`;
  return { channel: shown.place, thread: null, name, mention: place?.kind === "channel" };
}, (said) => { waiting = said.ts ?? waiting; });

function go(place) {
  if (shown.place === place) return;
  shown.place = place;
  shown.thread = null;
  if (place === "home") openHome();
  else if (channelOf(place)?.kind === "im") openDirect(place).then((said) => { waiting = said.ts ?? waiting; changed(); });
  composer.suggested = null;
  composer.draw();
  changed();
  requestAnimationFrame(() => { scroller.scrollTop = scroller.scrollHeight; });
}

function openThread(channel, ts) {
  shown.thread = { channel, ts };
  changed();
}

function closeThread() {
  shown.thread = null;
  changed();
  composer.box.focus();
}

function greet(place, empty) {
  const key = `${place?.id}/${empty}`;
  if (welcome.dataset.told === key) return;
  welcome.dataset.told = key;
  if (!place) return;
  fill(welcome, empty ? [
    el("img", { class: "welcome-sign", src: "static/avatar.svg", alt: "" }),
    el("h2", {}, place.kind === "im" ? "Ask perfsleuth" : `#${place.name}: ask why a server is slow`),
    el("p", {}, "It looks at the host by itself, read-only, tells each look while it happens, and ends in a verdict with what costs how much and what to do. Press a question below, or write your own."),
  ] : []);
}

function drawChannel() {
  const place = channelOf(shown.place);
  const home = shown.place === "home";
  homePane.hidden = !home;
  scroller.hidden = home;
  composer.root.hidden = home;
  fill(heading, home ? icon("home") : place?.kind === "im" ? null : icon("hash"), home ? "perfsleuth" : place?.name ?? "");
  sub.textContent = home ? "Home" : place?.topic ?? "";
  if (home) {
    drawHome(homePane);
    return;
  }
  const all = inChannel(shown.place);
  const rows = all.flatMap((one, number) => {
    const date = day(one.ts);
    const fresh = number === 0 || day(all[number - 1].ts) !== date;
    const before = fresh ? undefined : all[number - 1];
    return [fresh ? divider(shown.place, date) : null, rowOf("main", one, before, openThread)].filter(Boolean);
  });
  greet(place, all.length === 0);
  follow(scroller, list, rows);
  composer.suggest(shown.thread ? [] : world.suggestions[shown.place]?.first ?? []);
  if (all.length === 0) welcome.append(composer.chips);
  else composer.root.prepend(composer.chips);
}

function openWhenAnswered() {
  if (!waiting || shown.place === "home") return;
  const answered = replies(shown.place, waiting).some((one) => userOf(one).bot);
  if (!answered) return;
  openThread(shown.place, waiting);
  waiting = "";
}

function drawBanner() {
  const text = line.broken ? "The demo does not answer. Is it still running in your terminal? Trying again…"
    : world.botState === "starting" ? "The bot is starting…"
      : world.botState === "gone" ? "The bot has stopped. Look into your terminal, and start the demo again." : "";
  banner.hidden = !text;
  if (banner.textContent !== text) banner.textContent = text;
}

document.addEventListener("click", (event) => {
  const jump = event.target.closest?.("a[data-jump]");
  if (!jump) return;
  event.preventDefault();
  const [channel, ts] = jump.dataset.jump.split("/");
  const find = () => [...document.querySelectorAll("article")].find((one) => one.dataset.ts === ts && one.dataset.channel === channel);
  const row = find();
  if (row) flash(row);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && shown.thread && !document.querySelector("dialog[open]")) closeThread();
});

fill(main, el("header", { class: "pane-head" }, heading, sub), scroller, homePane, composer.root);
buildThread(closeThread);
stay(scroller, list);
watch(() => {
  if (!shown.place && world.channels.length) {
    shown.place = world.channels[0].id;
    composer.draw();
    composer.box.focus();
  }
  openWhenAnswered();
  drawSidebar(sidebar, go);
  drawChannel();
  drawThread();
  drawBanner();
  showViews();
});
listen();
