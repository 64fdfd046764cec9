// Slack's mrkdwn and entities as elements: <@U1>, <#C1|gpu>, <https://…|label>, *bold*, `code`.

import { el, link } from "./element.js";
import { emoji } from "./emoji.js";
import { world } from "./state.js";

const ENTITY = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const plain = (text) => text.replace(/&(?:lt|gt|amp);/g, (found) => ENTITY[found]);

export function mention(user) {
  const known = world.users[user];
  return el("span", { class: user === world.me ? "mention me" : "mention" }, `@${known ? known.name : user}`);
}

export function channelName(id, label) {
  const known = world.channels.find((one) => one.id === id);
  return el("span", { class: "mention" }, `#${label || (known ? known.name : id)}`);
}

function entity(inner) {
  const [what, label] = [inner.split("|")[0], inner.split("|").slice(1).join("|")];
  if (what.startsWith("@")) return mention(what.slice(1));
  if (what.startsWith("#")) return channelName(what.slice(1), plain(label));
  if (what.startsWith("!")) return el("span", { class: "mention all" }, `@${plain(label) || what.slice(1).split("^").pop()}`);
  return link(plain(what), plain(label || what));
}

const STYLES = { "*": "strong", "_": "em", "~": "s" };
const TOKEN = /<([^<>\n]+)>|`([^`\n]+)`|(?<![\p{L}\p{N}*_~])([*_~])(?=\S)(.+?)(?<=\S)\3(?![\p{L}\p{N}*_~])|:([a-z0-9_+-]{1,40}):/gu;

function inline(text) {
  const made = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    made.push(plain(text.slice(at, found.index)));
    at = found.index + found[0].length;
    if (found[1] !== undefined) made.push(entity(found[1]));
    else if (found[2] !== undefined) made.push(el("code", {}, plain(found[2])));
    else if (found[3] !== undefined) made.push(el(STYLES[found[3]], {}, inline(found[4])));
    else made.push(emoji(found[5]));
  }
  made.push(plain(text.slice(at)));
  return made.filter((one) => one !== "");
}

function paragraphs(text) {
  const made = [];
  let quote = null;
  text.split("\n").forEach((line, number, all) => {
    const quoted = line.match(/^(?:&gt;|>) ?(.*)$/);
    if (quoted) {
      if (!quote) made.push((quote = el("blockquote")));
      else quote.append(el("br"));
      quote.append(...inline(quoted[1]).map((one) => (one instanceof Node ? one : document.createTextNode(one))));
      return;
    }
    quote = null;
    made.push(...inline(line));
    if (number < all.length - 1) made.push("\n");
  });
  return made;
}

export function mrkdwn(text) {
  return String(text ?? "").split(/```\n?/).map((part, number) => {
    if (number % 2) return el("pre", {}, plain(part.replace(/\n$/, "")));
    return paragraphs(part);
  });
}

// A text object of Block Kit.
export function words(object) {
  if (!object) return [];
  if (object.type === "mrkdwn") return mrkdwn(object.text);
  return String(object.text ?? "").split(/(:[a-z0-9_+-]{1,40}:)/).map((part, number) => (
    number % 2 && object.emoji !== false ? emoji(part.slice(1, -1)) : part
  ));
}
