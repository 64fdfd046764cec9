// A table block: the first row is its head.

import { el } from "./element.js";
import { richText } from "./rich_text.js";

function content(cell) {
  if (cell.type === "rich_text") return richText(cell);
  return String(cell.text ?? cell.value ?? "");
}

export function table(block) {
  const settings = block.column_settings ?? [];
  const row = (cells, tag, scope) => el("tr", {}, cells.map((cell, column) => {
    const aligned = ["center", "right"].includes(settings[column]?.align) ? settings[column].align : "left";
    const made = el(tag, { class: `${aligned}${settings[column]?.is_wrapped ? " wrapped" : ""}` }, content(cell));
    if (scope) made.scope = scope;
    return made;
  }));
  const [head, ...rows] = block.rows ?? [];
  return el("div", { class: "table", role: "region", "aria-label": "Table", tabindex: 0 }, el("table", {},
    el("thead", {}, head ? row(head, "th", "col") : null),
    el("tbody", {}, rows.map((cells) => row(cells, "td")))));
}
