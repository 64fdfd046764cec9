// Files of a message: images are shown, texts as snippets that unfold.

import { el, icon } from "./element.js";

const texts = new Map(); // url -> text, or a promise of it
const LINES = 5;

export function image(address, alt, kind = "") {
  let url = null;
  try {
    url = new URL(address, location.href);
  } catch {
    return el("span", { class: "context" }, alt || "image");
  }
  if (url.origin !== location.origin) return el("span", { class: "context" }, `Image: ${alt}`);
  return el("img", { class: kind, src: url.href, alt: alt ?? "", loading: "lazy" });
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1 << 20 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;
}

async function load(url) {
  if (!texts.has(url)) texts.set(url, fetch(url).then((answer) => (answer.ok ? answer.text() : "The file is gone.")).catch(() => "The file did not come."));
  const text = await texts.get(url);
  texts.set(url, text);
  return text;
}

const unfolded = new Set();

function snippet(file) {
  const code = el("pre", { tabindex: 0, "aria-label": file.title || file.name });
  const more = el("button", { class: "snippet-more", type: "button", hidden: true });
  const show = (text) => {
    const lines = text.replace(/\n$/, "").split("\n");
    const all = unfolded.has(file.id);
    code.textContent = (all ? lines : lines.slice(0, LINES)).join("\n");
    code.classList.toggle("whole", all);
    more.hidden = lines.length <= LINES;
    more.textContent = all ? "Collapse" : `Show all ${lines.length.toLocaleString("en")} lines`;
    more.setAttribute("aria-expanded", String(all));
  };
  more.addEventListener("click", async () => {
    if (!unfolded.delete(file.id)) unfolded.add(file.id);
    show(await load(file.href));
  });
  const known = texts.get(file.href);
  if (typeof known === "string") show(known);
  else load(file.href).then(show);
  return el("div", { class: "snippet" }, head(file), code, more);
}

function head(file) {
  const get = el("a", { class: "file-name" }, file.title || file.name);
  get.href = file.href;
  get.download = file.name || "file";
  return el("div", { class: "file-head" }, icon("file"), get, el("span", { class: "file-size" }, size(file.size ?? 0)));
}

export function fileOf(file) {
  if (file.mimetype?.startsWith("image/")) {
    return el("figure", { class: "file" }, el("figcaption", {}, file.title || file.name), image(file.href, file.alt_txt || file.title || file.name));
  }
  return file.text ? snippet(file) : el("div", { class: "snippet" }, head(file));
}
