// What can be pressed: buttons, feedback, menus; each press goes to the bot as Slack would send it.

import { el, icon, link } from "./element.js";
import { ask } from "./modal.js";
import { expect } from "./pane.js";
import { press } from "./wire.js";
import { tell } from "./toast.js";

const given = new Map(); // feedback that was given stays marked

async function send(one, block, place, value, sender) {
  if (one.confirm && !(await ask(one.confirm))) return;
  expect();
  sender?.classList.add("sent");
  const said = await press({ ...place.of, block_id: block.block_id ?? "", action_id: one.action_id, kind: one.type, value });
  sender?.classList.remove("sent");
  if (said.error) tell(said.error);
}

function button(one, block, place) {
  const style = ["primary", "danger"].includes(one.style) ? one.style : "";
  if (one.url) {
    const made = link(one.url, one.text.text);
    made.className = `button ${style}`;
    made.addEventListener("click", () => send(one, block, place, one.value));
    return made;
  }
  const made = el("button", { class: `button ${style}`, type: "button", "aria-label": one.accessibility_label, data: { action: one.action_id } }, one.text.text);
  made.addEventListener("click", () => send(one, block, place, one.value, made));
  return made;
}

function feedback(one, block, place) {
  const key = `${place.key}/${one.action_id}`;
  const half = (told, shape) => {
    const made = el("button", { class: "icon-button", type: "button", title: told.text.text,
      "aria-label": told.accessibility_label || told.text.text, "aria-pressed": String(given.get(key) === shape),
      data: { action: `${one.action_id}:${shape}` } }, icon(shape));
    made.addEventListener("click", () => {
      given.set(key, shape);
      for (const other of made.parentElement.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === made));
      send(one, block, place, told.value, made);
    });
    return made;
  };
  return el("div", { class: "feedback", role: "group", "aria-label": "Feedback" },
    half(one.positive_button, "up"), half(one.negative_button, "down"));
}

function iconButton(one, block, place) {
  const made = el("button", { class: "icon-button", type: "button", title: one.text?.text, "aria-label": one.text?.text }, icon("close"));
  made.addEventListener("click", () => send(one, block, place, one.value, made));
  return made;
}

function menu(one, block, place) {
  const options = one.options ?? (one.option_groups ?? []).flatMap((group) => group.options);
  const made = el("select", { class: "select", "aria-label": one.placeholder?.text || "More" },
    el("option", { value: "" }, one.placeholder?.text || "More…"),
    options.map((option) => el("option", { value: option.value }, option.text.text)));
  made.addEventListener("change", () => {
    if (made.value) send(one, block, place, made.value, made);
    if (one.type === "overflow") made.value = "";
  });
  return made;
}

export function action(one, block, place) {
  switch (one.type) {
    case "button": return button(one, block, place);
    case "feedback_buttons": return feedback(one, block, place);
    case "icon_button": return iconButton(one, block, place);
    case "overflow":
    case "static_select": return menu(one, block, place);
    default: return el("span", { class: "context" }, `This page cannot show "${one.type}".`);
  }
}
