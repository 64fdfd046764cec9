// rich_text: sections, lists, code, quotes; and the elements that stand in them.

import { el, link } from "./element.js";
import { emoji } from "./emoji.js";
import { channelName, mention } from "./words.js";

function bare(one) {
  switch (one.type) {
    case "text": return one.text;
    case "link": return link(one.url, one.text || one.url);
    case "emoji": return emoji(one.name, one.unicode);
    case "user": return mention(one.user_id);
    case "channel": return channelName(one.channel_id);
    case "usergroup": return el("span", { class: "mention" }, `@${one.usergroup_id}`);
    case "broadcast": return el("span", { class: "mention all" }, `@${one.range}`);
    case "date": return one.fallback || new Date(one.timestamp * 1000).toLocaleString();
    default: return `[${one.type}]`;
  }
}

const STYLES = [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"], ["underline", "u"]];

function styled(one) {
  return STYLES.reduce((inner, [style, tag]) => (one.style?.[style] ? el(tag, {}, inner) : inner), bare(one));
}

const inline = (elements) => (elements ?? []).map(styled);

function list(one) {
  const made = el(one.style === "ordered" ? "ol" : "ul", { class: `indent-${Math.min(Number(one.indent) || 0, 8)}` });
  if (one.offset) made.start = Number(one.offset) + 1;
  made.append(...(one.elements ?? []).map((item) => el("li", {}, inline(item.elements))));
  return made;
}

export function richText(block) {
  return el("div", { class: "rich" }, (block.elements ?? []).map((one) => {
    if (one.type === "rich_text_list") return list(one);
    if (one.type === "rich_text_preformatted") return el("pre", {}, inline(one.elements));
    if (one.type === "rich_text_quote") return el("blockquote", {}, inline(one.elements));
    return el("div", { class: "rich-section" }, inline(one.elements));
  }));
}
