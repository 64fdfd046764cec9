// Makes elements; text becomes text, never markup.

const PLAIN = new Set([
  "class", "id", "type", "title", "role", "value", "placeholder", "rows", "name", "alt", "src",
  "tabindex", "for", "open", "disabled", "checked", "autofocus", "maxlength", "datetime", "loading",
  "multiple", "hidden", "spellcheck", "enterkeyhint",
]);

export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [kind, act] of Object.entries(value)) made.addEventListener(kind, act);
    else if (name === "data") Object.assign(made.dataset, value);
    else if (PLAIN.has(name) || name.startsWith("aria-")) made.setAttribute(name, value === true ? "" : String(value));
    else throw new Error(`no attribute ${name} here`);
  }
  put(made, children);
  return made;
}

export function put(into, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    into.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function fill(into, ...children) {
  into.replaceChildren();
  put(into, children);
}

// Only addresses of the web become links; all else stays text.
export function link(address, label) {
  let url = null;
  try {
    url = new URL(String(address));
  } catch {
    return el("span", {}, label ?? address);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return el("span", {}, label ?? address);
  const made = el("a", {}, label ?? address);
  made.href = url.href;
  made.target = "_blank";
  made.rel = "noopener noreferrer";
  const place = url.pathname.match(/^\/archives\/([A-Z0-9]+)\/p(\d{10})(\d{6})$/);
  if (place) {
    made.dataset.jump = `${place[1]}/${place[2]}.${place[3]}`;
    made.title = "Show this message";
  }
  return made;
}

const SHAPES = {
  hash: "M7 3 5.5 17M14.5 3 13 17M3.5 7.5h14M2.5 12.5h14",
  home: "M3 9.5 10 3l7 6.5V17h-4.5v-5h-5v5H3z",
  send: "M3 3.5 17.5 10 3 16.5 5 10.8 11 10 5 9.2z",
  close: "M5 5l10 10M15 5 5 15",
  back: "M12 4l-6 6 6 6",
  clip: "M7 9.5v4a3 3 0 0 0 6 0V6a2 2 0 0 0-4 0v7a1 1 0 0 0 2 0V7.5",
  done: "M4 10.5l4 4 8-9",
  failed: "M10 4.5v7M10 14.5v1",
  fold: "M7 4l6 6-6 6",
  up: "M3 9.5h3v7.5H3zM6 10l3.5-7c1.5 0 2.3 1 2 2.600L11 8h4.500c1 0 1.700 1 1.400 2l-1.500 5.500c-.3 1-1 1.500-2 1.500H6",
  down: "M3 10.500h3V3H3zM6 10l3.500 7c1.500 0 2.300-1 2-2.600L11 12h4.500c1 0 1.700-1 1.400-2l-1.500-5.500c-.3-1-1-1.500-2-1.500H6",
  stop: "M5.500 5.500h9v9h-9z",
  file: "M5 2.500h6.500L15.500 6.500v11H5zM11 2.500V7h4.500",
  mention: "M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0zm0 0c0 3.500 4 3 4 0a7 7 0 1 0-3 5.700",
};

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", SHAPES[name]);
  svg.append(path);
  return svg;
}

// Spinners that are made anew go on where the others are.
export function spinner() {
  const made = el("span", { class: "spinner" });
  made.style.animationDelay = `${-(performance.now() % 900)}ms`;
  return made;
}
