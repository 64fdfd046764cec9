// Brings what is shown up to date in place: what did not change keeps its element, its focus and its click.

const FOCUSABLE = "button, summary, a, input, select, textarea";

function swap(old, made) {
  const at = [...old.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  old.replaceWith(made);
  if (at >= 0) made.querySelectorAll(FOCUSABLE)[at]?.focus({ preventScroll: true });
}

// `parts` are {told, make}: a part whose `told` is as before stays, another is made anew. Returns what to
// give as `before` the next time.
export function patch(into, before, parts) {
  const after = parts.map(({ told, make }, number) => {
    const old = before[number];
    if (old?.told === told) return old;
    const node = make();
    if (!old) into.append(node);
    else if (old.node !== node) swap(old.node, node);
    return { told, node };
  });
  for (const old of before.slice(parts.length)) old.node.remove();
  return after;
}
