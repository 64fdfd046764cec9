// Modals of the bot (views.open), and a button's question before it acts.

import { blocksOf } from "./blocks.js";
import { el, fill, icon } from "./element.js";
import { showErrors, valuesOf } from "./inputs.js";
import { world } from "./state.js";
import { dismiss, submit } from "./wire.js";
import { words } from "./words.js";

const dialog = document.getElementById("modal");
let open = "";

function frame(title, body, foot, onClose) {
  const close = el("button", { class: "icon-button", type: "button", "aria-label": "Close", on: { click: onClose } }, icon("close"));
  return el("form", { class: "modal" },
    el("header", {}, el("h2", { id: "modal-title" }, title), close),
    el("div", { class: "modal-body" }, body),
    el("footer", {}, foot));
}

function view(one) {
  const close = () => dismiss(one.id);
  const send = one.submit ? el("button", { class: "button primary", type: "submit" }, words(one.submit)) : null;
  const form = frame(words(one.title), blocksOf(one.blocks, { key: one.id, of: { view: one.id } }),
    [el("button", { class: "button", type: "button", on: { click: close } }, one.close ? words(one.close) : "Close"), send], close);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = await submit(one.id, valuesOf(form));
    if (said.errors) showErrors(form, said.errors);
    if (said.error) form.querySelector("footer").prepend(el("p", { class: "input-error", role: "alert" }, said.error));
  });
  return form;
}

export function showViews() {
  const top = world.views.at(-1);
  const wanted = top ? JSON.stringify({ ...top, errors: undefined }) : ""; // what was typed survives an error
  if (wanted === open) return;
  open = wanted;
  if (!top) {
    dialog.close();
    return;
  }
  fill(dialog, view(top));
  dialog.oncancel = (event) => {
    event.preventDefault();
    dismiss(top.id);
  };
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("textarea, input, select")?.focus();
}

export function ask(confirm) {
  return new Promise((resolve) => {
    const box = el("dialog", { class: "dialog", "aria-label": confirm.title?.text });
    const end = (yes) => () => { box.close(); box.remove(); resolve(yes); };
    box.append(frame(words(confirm.title), words(confirm.text), [
      el("button", { class: "button", type: "button", on: { click: end(false) } }, words(confirm.deny)),
      el("button", { class: `button ${confirm.style === "danger" ? "danger" : "primary"}`, type: "button", on: { click: end(true) } }, words(confirm.confirm)),
    ], end(false)));
    box.addEventListener("cancel", end(false));
    document.body.append(box);
    box.showModal();
  });
}
