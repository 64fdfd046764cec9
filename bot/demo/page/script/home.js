// The App Home of the bot.

import { blocksOf } from "./blocks.js";
import { el, fill } from "./element.js";
import { world } from "./state.js";

let told = null;

export function drawHome(into) {
  const now = JSON.stringify(world.home);
  if (told === now) return;
  told = now;
  const blocks = world.home?.blocks;
  fill(into, el("div", { class: "home" }, blocks
    ? blocksOf(blocks, { key: "home", of: { view: "home" } })
    : el("p", { class: "empty" }, "The bot has not shown its Home yet.")));
}
