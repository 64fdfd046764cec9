// A list of messages that follows its end, unless the reader has scrolled up.

import { el } from "./element.js";

const END_PX = 80;
const ABOVE_PX = 8;
const EXPECTED_MS = 15000;

const name = (row) => row.dataset.ts ?? row.textContent;

let expected = 0; // until when the next answer is what the person waits for

export function expect() {
  expected = performance.now() + EXPECTED_MS;
}

const atEnd = (scroller) => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < END_PX;
const following = new WeakMap(); // scroller -> whether it stays at its end while texts and images come

// What loads late grows the list after it was drawn.
export function stay(scroller, list) {
  scroller.addEventListener("scroll", () => following.set(scroller, atEnd(scroller)));
  new ResizeObserver(() => {
    if (following.get(scroller)) scroller.scrollTop = scroller.scrollHeight;
  }).observe(list);
}

function show(scroller, row) {
  scroller.scrollTop = scroller.scrollHeight;
  const top = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  const live = row.querySelector(".spinner, [data-action=stop]");
  if (top < 0 && !live) scroller.scrollTop += top - ABOVE_PX; // a long message is read from its beginning
}

// What came below the fold is told by a button that leads there.
function offer(scroller, row) {
  const place = scroller.parentElement;
  place.querySelector(":scope > .below")?.remove();
  if (!row) return;
  const button = el("button", { class: "below", type: "button" }, "New messages ↓");
  button.addEventListener("click", () => { show(scroller, row); button.remove(); });
  scroller.after(button);
}

export function follow(scroller, list, rows) {
  const stays = atEnd(scroller);
  const wanted = new Set(rows);
  const known = new Set([...list.children].map(name));
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  rows.forEach((row, number) => {
    if (list.children[number] !== row) list.insertBefore(row, list.children[number] ?? null);
  });
  const fresh = known.size ? rows.find((row) => row.dataset.ts && !known.has(name(row))) : null;
  const waited = fresh && performance.now() < expected;
  if (waited && fresh.classList.contains("of-app")) expected = 0;
  if (stays && !fresh) scroller.scrollTop = scroller.scrollHeight;
  else if (fresh && (stays || waited)) show(scroller, fresh);
  if (stays || waited) offer(scroller, null);
  else if (fresh) offer(scroller, fresh);
  following.set(scroller, atEnd(scroller));
}

export function day(ts) {
  const when = new Date(Number(ts) * 1000);
  const today = when.toDateString() === new Date().toDateString();
  return today ? "Today" : when.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}

const dividers = new Map();

export function divider(key, text) {
  const told = `${key}/${text}`;
  if (!dividers.has(told)) dividers.set(told, el("div", { class: "day", role: "separator" }, el("span", {}, text)));
  return dividers.get(told);
}

export function flash(row) {
  row.scrollIntoView({ block: "center", behavior: "smooth" });
  row.classList.remove("flash");
  requestAnimationFrame(() => row.classList.add("flash"));
}
