// The emoji that the bot and people use here, by Slack's names.

const SIGNS = {
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", rotating_light: "🚨", mag: "🔍",
  mag_right: "🔎", hourglass: "⌛", hourglass_flowing_sand: "⏳", bulb: "💡", wrench: "🔧", gear: "⚙️",
  hammer_and_wrench: "🛠️", chart_with_upwards_trend: "📈", chart_with_downwards_trend: "📉", bar_chart: "📊",
  information_source: "ℹ️", question: "❓", grey_question: "❔", exclamation: "❗", thumbsup: "👍", "+1": "👍",
  thumbsdown: "👎", "-1": "👎", eyes: "👀", wave: "👋", pray: "🙏", tada: "🎉", rocket: "🚀", fire: "🔥",
  snail: "🐌", zap: "⚡", stopwatch: "⏱️", octagonal_sign: "🛑", no_entry: "⛔", lock: "🔒", paperclip: "📎",
  page_facing_up: "📄", memo: "📝", speech_balloon: "💬", thinking_face: "🤔", smile: "😄", slightly_smiling_face: "🙂",
  large_green_circle: "🟢", large_yellow_circle: "🟡", large_orange_circle: "🟠", red_circle: "🔴",
  white_circle: "⚪", large_blue_circle: "🔵", point_right: "👉", arrow_right: "➡️", repeat: "🔁", seedling: "🌱",
};

export function emoji(name, unicode) {
  if (unicode && /^[0-9a-f-]+$/i.test(unicode)) {
    try {
      return String.fromCodePoint(...unicode.split("-").map((part) => parseInt(part, 16)));
    } catch {
      return `:${name}:`;
    }
  }
  return SIGNS[name] ?? `:${name}:`;
}
