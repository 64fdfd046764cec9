// Block Kit as elements; a block that this page does not know says so.

import { action } from "./actions.js";
import { el } from "./element.js";
import { image } from "./files.js";
import { input } from "./inputs.js";
import { markdown } from "./markdown.js";
import { plan, task } from "./plan.js";
import { richText } from "./rich_text.js";
import { table } from "./table.js";
import { words } from "./words.js";

function section(block, place) {
  const fields = (block.fields ?? []).map((field) => el("div", { class: "field" }, words(field)));
  return el("div", { class: "section" },
    el("div", { class: "section-text" },
      block.text ? el("div", { class: "text" }, words(block.text)) : null,
      fields.length ? el("div", { class: "fields" }, fields) : null),
    block.accessory ? el("div", { class: "accessory" }, element(block.accessory, block, place)) : null);
}

function element(one, block, place) {
  if (one.type === "image") return image(one.image_url, one.alt_text, "thumb");
  if (one.type === "mrkdwn" || one.type === "plain_text") return el("span", {}, words(one));
  return action(one, block, place);
}

const LEVELS = new Set(["info", "warning", "error", "success"]);

const KINDS = {
  section,
  rich_text: richText,
  header: (block) => el("h3", { class: "header" }, words(block.text)),
  divider: () => el("hr"),
  context: (block, place) => el("div", { class: "context" }, block.elements.map((one) => element(one, block, place))),
  actions: (block, place) => el("div", { class: "actions" }, block.elements.map((one) => action(one, block, place))),
  context_actions: (block, place) => el("div", { class: "context-actions" }, block.elements.map((one) => action(one, block, place))),
  image: (block) => el("figure", {},
    block.title ? el("figcaption", {}, words(block.title)) : null, image(block.image_url, block.alt_text)),
  markdown: (block) => el("div", { class: "markdown" }, markdown(block.text)),
  table,
  alert: (block) => el("div", { class: `alert ${LEVELS.has(block.level) ? block.level : "info"}`, role: "note" },
    el("span", { class: "alert-sign", "aria-hidden": "true" }), el("div", { class: "alert-text" }, words(block.text))),
  task_card: (block, place) => task(block, place.key),
  plan,
  input,
};

export function blockOf(block, place) {
  const known = Object.hasOwn(KINDS, block.type) ? KINDS[block.type] : null;
  const made = known ? known(block, place) : el("div", { class: "context" }, `This page cannot show a block "${block.type}".`);
  made.classList.add("block");
  return made;
}

export const blocksOf = (list, place) => (list ?? []).map((block) => blockOf(block, place));
