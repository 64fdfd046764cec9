// The markdown of streams and markdown blocks, as far as Slack shows it.

import { el, link } from "./element.js";
import { emoji } from "./emoji.js";
import { mention } from "./words.js";

const ESCAPED = /\\([\\`*_{}[\]()#+\-.!|>~<&:@])/g;
const UNESCAPE = /\u0001(\d+)\u0002/g;
const ENTITY = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const TOKEN = /`([^`\n]+)`|\*\*(?=\S)(.+?)\*\*|(?<![\p{L}\p{N}_*])([*_])(?=\S)(.+?)\3(?![\p{L}\p{N}_*])|~~(.+?)~~|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|<@([A-Z0-9]+)>|<(https?:\/\/[^>|\s]+)\|?([^>\n]*)>|(https?:\/\/[^\s<>)]+)|:([a-z0-9_+-]{1,40}):/gu;

const plain = (text) => text
  .replace(UNESCAPE, (_, code) => String.fromCodePoint(Number(code)))
  .replace(/&(?:lt|gt|amp);/g, (found) => ENTITY[found]);

function inline(text) {
  const made = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    made.push(plain(text.slice(at, found.index)));
    at = found.index + found[0].length;
    const [, code, bold, , slanted, struck, label, address, user, angled, name, bare, sign] = found;
    if (code !== undefined) made.push(el("code", {}, plain(code)));
    else if (bold !== undefined) made.push(el("strong", {}, inline(bold)));
    else if (slanted !== undefined) made.push(el("em", {}, inline(slanted)));
    else if (struck !== undefined) made.push(el("s", {}, inline(struck)));
    else if (address !== undefined) made.push(link(plain(address), plain(label)));
    else if (user !== undefined) made.push(mention(user));
    else if (angled !== undefined) made.push(link(plain(angled), plain(name || angled)));
    else if (bare !== undefined) made.push(link(plain(bare), plain(bare)));
    else made.push(emoji(sign));
  }
  made.push(plain(text.slice(at)));
  return made;
}

function block(lines) {
  const heading = lines[0].match(/^(#{1,6}) +(.*)$/);
  if (heading) return [el("p", { class: "md-heading" }, inline(heading[2])), ...(lines.length > 1 ? [block(lines.slice(1))] : [])];
  const item = /^ *(?:[-*+]|(\d+)[.)]) +(.*)$/;
  if (item.test(lines[0])) {
    const list = el(lines[0].match(item)[1] ? "ol" : "ul");
    for (const line of lines) {
      const found = line.match(item);
      if (found || !list.lastChild) list.append(el("li", {}, inline(found ? found[2] : line)));
      else list.lastChild.append(" ", ...inline(line));
    }
    return list;
  }
  if (lines.every((line) => line.startsWith(">"))) {
    return el("blockquote", {}, lines.map((line, n) => [n ? el("br") : "", inline(line.replace(/^> ?/, ""))]));
  }
  return el("p", {}, lines.map((line, n) => [n ? "\n" : "", inline(line)]));
}

function blocks(text) {
  const made = [];
  let lines = [];
  for (const line of [...text.split("\n"), ""]) {
    if (line.trim()) {
      lines.push(line);
    } else if (lines.length) {
      made.push(block(lines));
      lines = [];
    }
  }
  return made;
}

// One line of it, without blocks.
export const line = (text) => inline(String(text ?? "").replace(ESCAPED, (_, sign) => `\u0001${sign.codePointAt(0)}\u0002`));

export function markdown(text) {
  return String(text ?? "").split(/```[a-z]*\n?/).map((part, number) => {
    if (number % 2) return el("pre", {}, part.replace(/\n$/, ""));
    return blocks(part.replace(ESCAPED, (_, sign) => `\u0001${sign.codePointAt(0)}\u0002`));
  });
}
