// The line to the server: events come in by one stream, what a person does goes out by POST.

import { changed, forget, take } from "./state.js";

const token = document.querySelector("meta[name=token]").content;

export const line = { broken: false };

export function listen() {
  const source = new EventSource("events");
  source.addEventListener("snapshot", (event) => {
    forget();
    take(JSON.parse(event.data));
  });
  source.addEventListener("message", (event) => take(JSON.parse(event.data)));
  source.addEventListener("open", () => { line.broken = false; changed(); });
  source.addEventListener("error", () => { line.broken = true; changed(); });
}

async function post(path, body) {
  const headers = { "X-Perfsleuth-Token": token };
  if (!(body instanceof FormData)) headers["Content-Type"] = "application/json";
  let answer = null;
  try {
    answer = await fetch(path, { method: "POST", headers, body: body instanceof FormData ? body : JSON.stringify(body) });
  } catch {
    return { error: "The demo does not answer: is it still running in your terminal?" };
  }
  const said = await answer.json().catch(() => ({}));
  return answer.ok ? said : { error: said.error || `The demo answered ${answer.status}.` };
}

export function say(channel, text, threadTs, files = []) {
  const form = new FormData();
  form.set("channel", channel);
  form.set("text", text);
  if (threadTs) form.set("thread_ts", threadTs);
  for (const file of files) form.append("file", file, file.name || "pasted.txt");
  return post("say", form);
}

export const press = (body) => post("press", body);
export const command = (channel, text) => post("command", { channel, text });
export const submit = (view, values) => post("submit", { view, values });
export const dismiss = (view) => post("dismiss", { view });
export const stop = (channel, threadTs) => post("stop", { channel, thread_ts: threadTs });
export const shortcut = (channel, ts) => post("shortcut", { channel, ts });
export const openHome = () => post("home", {});
export const openDirect = (channel) => post("assistant", { channel });
