// What is known of the workspace, kept up to date by the server's events.

export const world = {
  me: "", bot: "", users: {}, channels: [], suggestions: {}, home: null, views: [], botState: "starting",
};
export const messages = new Map(); // channel -> Map(ts -> message)
export const statuses = new Map(); // channel/thread -> {status, loading}
export const sessions = new Map(); // channel/thread -> {status, title}
export const shown = { place: "", thread: null }; // place: a channel's id or "home"; thread: {channel, ts}

const listeners = new Set();
let waiting = false;

export const watch = (act) => listeners.add(act);

export function changed() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const act of listeners) act();
  });
}

const TAKE = {
  world: (event) => Object.assign(world, event.world),
  message: ({ message }) => {
    if (!messages.has(message.channel)) messages.set(message.channel, new Map());
    messages.get(message.channel).set(message.ts, message);
  },
  gone: ({ channel, ts }) => messages.get(channel)?.delete(ts),
  status: (event) => statuses.set(`${event.channel}/${event.thread_ts}`, event),
  session: (event) => sessions.set(`${event.channel}/${event.thread_ts}`, event),
  home: ({ view }) => { world.home = view; },
  views: ({ views }) => { world.views = views; },
  bot: ({ state }) => { world.botState = state; },
  suggestions: (event) => { world.suggestions = { ...world.suggestions, [event.channel]: event }; },
};

export function take(events) {
  for (const event of events) TAKE[event.type]?.(event);
  changed();
}

export function forget() {
  messages.clear();
  statuses.clear();
  sessions.clear();
}

const byTime = (one, other) => (one.ts < other.ts ? -1 : 1);

export const isReply = (message) => Boolean(message.thread_ts) && message.thread_ts !== message.ts;

export function inChannel(channel) {
  return [...(messages.get(channel)?.values() ?? [])].filter((one) => !isReply(one)).sort(byTime);
}

export function replies(channel, ts) {
  return [...(messages.get(channel)?.values() ?? [])].filter((one) => isReply(one) && one.thread_ts === ts).sort(byTime);
}

export const message = (channel, ts) => messages.get(channel)?.get(ts);

export function userOf(one) {
  return world.users[one.user] ?? { name: one.username || "app", bot: true };
}

export const channelOf = (id) => world.channels.find((one) => one.id === id);
