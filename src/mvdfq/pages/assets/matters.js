// Panel 5: what would be lost without each channel and each term, with intervals.
function mattersPanel() {
  const m = data.matters, parts = [m.channels, m.terms].filter((one) => one && one.length > 1);
  if (!parts.length && !m.removal && !m.note) return; // one channel and one term are everything
  panel("matters", "What matters", finding(m.channels),
    m.note && h("p", { class: "warn" }, m.note),
    m.channels && h("p", { class: "lead" }, `Measured on ${m.source}: all of them get the mean evidence of the channel instead of their own. ` +
      "The log loss (how far the probability of the true class is from 1) then rises; a channel of noise has about 0, " +
      "and of two channels that say the same, either has little alone."),
    h("div", { class: "grid" },
      m.channels && m.channels.length > 1 && h("div", {}, h("h3", {}, "Lost without a channel"), lostBars(m.channels, "channel")),
      m.removal && h("div", {}, h("h3", {}, "Accuracy lost without a channel (evaluated again)"), removalBars(m.removal)),
      m.terms && m.terms.length > 1 && h("div", {}, h("h3", {}, "Lost without a term of the classifier"), lostBars(m.terms, "term"))));
}
function finding(channels) {
  if (!channels || channels.length < 2) return "What matters";
  const [first, second] = [...channels].sort((a, b) => b.log_loss[0] - a.log_loss[0]);
  if (first.log_loss[1] <= 0) return "No channel alone is needed";
  return first.log_loss[1] > second.log_loss[0] ? `Most would be lost without ${first.name}` : "Several channels matter about alike";
}
function lostBars(parts, word) {
  const points = (value) => `${value < 0 ? "\u2212" : ""}${(100 * Math.abs(value)).toFixed(1)}`;
  const range = (three, shown) => `${shown(three[0])} (${shown(three[1])} to ${shown(three[2])})`;
  const rounded = (value) => `${value < 0 ? "\u2212" : ""}${Math.abs(value).toFixed(3)}`;
  const sorted = [...parts].sort((a, b) => b.log_loss[0] - a.log_loss[0]);
  const items = sorted.map((one) => ({ name: one.name, value: one.log_loss[0], text: rounded(one.log_loss[0]) }));
  return h("div", {}, bars(items.slice(0, 20), rounded, (item) => item.value < 0),
    behind(() => pagedTable([word, "rise of the log loss (95 % interval)", "fall of the accuracy in points"], sorted.length,
      (k) => [sorted[k].name, range(sorted[k].log_loss, rounded), range(sorted[k].accuracy, points)], `Lost without each ${word}`), "As a table, with intervals"));
}
function removalBars(removal) {
  const items = removal.map((one) => ({ name: data.channels[one.channel], value: one.lost })).sort((a, b) => b.value - a.value);
  return bars(items, (value) => `${value < 0 ? "\u2212" : ""}${percent(Math.abs(value))}`, (item) => item.value < 0);
}
