// The box to write in: text, files by button, drop or paste, /commands; suggestions above it.

import { el, fill, icon } from "./element.js";
import { expect } from "./pane.js";
import { tell } from "./toast.js";
import { command, say } from "./wire.js";

const LONG_LINES = 6; // a longer paste becomes a snippet, as a log should

export class Composer {
  // `where()` gives {channel, thread, name, mention}: where a message goes, and whether it needs a mention.
  constructor(where, sent = () => {}) {
    this.where = where;
    this.sent = sent;
    this.files = [];
    this.box = el("textarea", { class: "writing", rows: 1, "aria-label": "Message", enterkeyhint: "send" });
    this.chips = el("div", { class: "chips", role: "group", "aria-label": "Suggestions" });
    this.shown = el("div", { class: "attached" });
    this.hint = el("div", { class: "hint" });
    this.picker = el("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files" });
    this.attach = this.tool("clip", "Attach files: logs, nvidia-smi, lspci", () => this.picker.click());
    this.at = this.tool("mention", "Mention perfsleuth", () => this.mention());
    this.button = el("button", { class: "send", type: "submit", "aria-label": "Send" }, icon("send"));
    this.form = el("form", { class: "composer" }, this.shown, this.box,
      el("div", { class: "tools" }, this.attach, this.at, this.picker, el("span", { class: "grow" }), this.button));
    this.root = el("div", { class: "composing" }, this.chips, this.form, this.hint);
    this.listen();
  }

  tool(shape, name, act) {
    return el("button", { class: "icon-button", type: "button", title: name, "aria-label": name, on: { click: act } }, icon(shape));
  }

  listen() {
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    this.box.addEventListener("input", () => this.grow());
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.send(); }
    });
    this.box.addEventListener("paste", (event) => this.paste(event));
    this.picker.addEventListener("change", () => { this.add([...this.picker.files]); this.picker.value = ""; });
    this.form.addEventListener("dragover", (event) => { event.preventDefault(); this.form.classList.add("over"); });
    this.form.addEventListener("dragleave", () => this.form.classList.remove("over"));
    this.form.addEventListener("drop", (event) => {
      event.preventDefault();
      this.form.classList.remove("over");
      this.add([...event.dataTransfer.files]);
    });
  }

  paste(event) {
    const files = [...event.clipboardData.files];
    const text = event.clipboardData.getData("text/plain");
    if (!files.length && text.split("\n").length <= LONG_LINES) return;
    event.preventDefault();
    this.add(files.length ? files : [new File([text], "pasted.txt", { type: "text/plain" })]);
  }

  add(files) {
    this.files.push(...files);
    this.draw();
    this.box.focus();
  }

  mention() {
    if (!this.box.value.includes("@perfsleuth")) this.box.value = `@perfsleuth ${this.box.value}`;
    this.grow();
    this.box.focus();
  }

  grow() {
    this.box.style.height = "auto";
    this.box.style.height = `${Math.min(this.box.scrollHeight, 200)}px`;
    const text = this.box.value.trim();
    const silent = this.where().mention && text && !text.startsWith("/") && !text.includes("@perfsleuth");
    this.hint.textContent = silent ? "In a channel it listens only to who mentions it: @perfsleuth" : "";
    this.button.disabled = !text && !this.files.length;
  }

  draw() {
    fill(this.shown, this.files.map((file, number) => el("span", { class: "attached-file" }, icon("file"), file.name,
      el("button", { class: "icon-button", type: "button", "aria-label": `Remove ${file.name}`,
        on: { click: () => { this.files.splice(number, 1); this.draw(); } } }, icon("close")))));
    const { name } = this.where();
    this.box.placeholder = name;
    this.grow();
  }

  suggest(texts) {
    const told = JSON.stringify(texts);
    if (this.suggested === told) return;
    this.suggested = told;
    fill(this.chips, texts.map((one) => {
      const { title, message } = typeof one === "string" ? { title: one, message: one } : one;
      return el("button", { class: "chip", type: "button", title: message, on: { click: () => this.send(message) } }, title);
    }));
  }

  async send(suggested) {
    const { channel, thread, mention } = this.where();
    const typed = suggested ?? this.box.value.trim();
    const files = suggested ? [] : this.files;
    if (!typed && !files.length) return;
    if (!suggested) { this.box.value = ""; this.files = []; this.draw(); }
    expect();
    const needs = suggested && mention && !typed.startsWith("/");
    const text = needs ? `@perfsleuth ${typed}` : typed;
    const said = text.startsWith("/") ? await command(channel, text) : await say(channel, text, thread, files);
    if (said.error) {
      tell(said.error);
      if (!suggested) { this.box.value = typed; this.files = files; this.draw(); }
      return;
    }
    this.sent(said);
  }
}
