// What a stream shows of work being done: a plan with its tasks, each with details to unfold.

import { el, icon, link, spinner } from "./element.js";
import { line, markdown } from "./markdown.js";
import { patch } from "./patch.js";
import { richText } from "./rich_text.js";

const unfolded = new Map(); // what a person opened or closed stays so while the message changes

function folded(key, otherwise) {
  return unfolded.has(key) ? unfolded.get(key) : otherwise;
}

function remember(key) {
  return { toggle: (event) => unfolded.set(key, event.target.open) };
}

const told = (value) => (value && typeof value === "object" ? richText(value) : markdown(value));

function flat(value) {
  if (!value) return "";
  if (typeof value !== "object") return line(String(value).split("\n")[0]);
  const texts = [];
  const walk = (one) => {
    if (one.text) texts.push(one.text);
    for (const inner of one.elements ?? []) walk(inner);
  };
  walk(value);
  return texts.join("").split("\n")[0];
}

const NAMES = { pending: "waits", in_progress: "is being looked at", complete: "done", error: "not seen" };

function sign(status) {
  if (status === "complete") return icon("done");
  if (status === "error") return icon("failed");
  return status === "in_progress" ? spinner() : el("span", { class: "dot" });
}

function source(one) {
  return el("li", {}, link(one.url ?? "", one.text || one.url));
}

export function task(card, place) {
  const status = NAMES[card.status] ? card.status : "pending";
  const more = card.details || card.output || card.sources?.length;
  const title = [
    el("span", { class: `task-sign ${status}`, role: "img", "aria-label": NAMES[status] }, sign(status)),
    el("span", { class: "task-title" }, card.streamed ? line(card.title) : card.title),
  ];
  if (!more) return el("div", { class: `task ${status}` }, el("div", { class: "task-head" }, title));
  const key = `${place}/${card.task_id ?? card.id}`;
  const preview = flat(card.output) || flat(card.details);
  return el("details", { class: `task ${status}`, open: folded(key, false), on: remember(key) },
    el("summary", { class: "task-head" }, title,
      el("span", { class: "task-preview" }, preview), el("span", { class: "task-more" }, icon("fold"))),
    el("div", { class: "task-body" },
      card.details ? el("div", { class: "task-details" }, told(card.details)) : null,
      card.output ? el("div", { class: "task-output" }, told(card.output)) : null,
      card.sources?.length ? el("ul", { class: "task-sources" }, card.sources.map(source)) : null));
}

const plans = new Map(); // pane and message -> {root, head, body, parts}: a plan is changed in place

function frame(place, key) {
  const head = el("summary", { class: "plan-head" });
  const body = el("div", { class: "plan-body" });
  const root = el("details", { class: "plan", open: folded(key, true), on: remember(key) }, head, body);
  return { root, head, body, heads: [], parts: [] };
}

export function plan(block, place) {
  const tasks = block.tasks ?? [];
  const busy = tasks.some((one) => one.status === "in_progress" || one.status === "pending");
  const known = `${place.pane}/${place.key}`;
  if (!plans.has(known)) plans.set(known, frame(place, `${place.key}/plan`));
  const shown = plans.get(known);
  shown.heads = patch(shown.head, shown.heads, [
    { told: String(busy), make: () => el("span", { class: "task-sign", "aria-hidden": "true" }, busy ? spinner() : icon("done")) },
    { told: block.title, make: () => el("span", { class: "plan-title" }, block.title || "Plan") },
    { told: "more", make: () => el("span", { class: "task-more" }, icon("fold")) },
  ]);
  shown.parts = patch(shown.body, shown.parts,
    tasks.map((one) => ({ told: JSON.stringify(one), make: () => task(one, place.key) })));
  return shown.root;
}
