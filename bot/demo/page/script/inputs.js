// Inputs of a modal, and what was entered in them.

import { el } from "./element.js";
import { words } from "./words.js";

let count = 0;

function field(one, id) {
  const common = { id, class: "field-input", name: id, placeholder: one.placeholder?.text };
  switch (one.type) {
    case "plain_text_input": {
      const made = one.multiline ? el("textarea", { ...common, rows: 4 }) : el("input", { ...common, type: "text" });
      made.value = one.initial_value ?? "";
      if (one.max_length) made.maxLength = one.max_length;
      return made;
    }
    case "static_select":
      return el("select", common, el("option", { value: "" }, one.placeholder?.text || "Choose"),
        one.options.map((option) => el("option", { value: option.value }, option.text.text)));
    case "radio_buttons":
    case "checkboxes":
      return el("div", { id, class: "choices" }, one.options.map((option) => el("label", {},
        el("input", { type: one.type === "checkboxes" ? "checkbox" : "radio", name: id, value: option.value }), " ", words(option.text))));
    default:
      return el("input", { ...common, type: "text" });
  }
}

export function input(block) {
  const id = `input-${(count += 1)}`;
  const made = el("div", { class: "input", data: { block: block.block_id, action: block.element.action_id, kind: block.element.type } },
    el("label", { for: id }, words(block.label), block.optional ? el("span", { class: "optional" }, " (optional)") : null),
    field(block.element, id),
    block.hint ? el("div", { class: "hint" }, words(block.hint)) : null,
    el("div", { class: "input-error", role: "alert" }));
  return made;
}

function value(one, kind) {
  const chosen = [...one.querySelectorAll("input:checked")].map((box) => box.value);
  if (kind === "checkboxes" || kind === "radio_buttons") return chosen[0] ?? null;
  return one.querySelector(".field-input").value || null;
}

// What was entered, by action id.
export function valuesOf(form) {
  return Object.fromEntries([...form.querySelectorAll(".input")].map((one) => [one.dataset.action, value(one, one.dataset.kind)]));
}

export function showErrors(form, errors) {
  for (const one of form.querySelectorAll(".input")) {
    one.querySelector(".input-error").textContent = errors[one.dataset.block] ?? "";
  }
}
