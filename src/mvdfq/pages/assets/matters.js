// Panel 5: weights of channels, views and layouts; what removing a channel costs.
function mattersPanel() {
  const m = data.matters;
  const channels = m.channels && m.channels.map((value, c) => ({ name: data.channels[c], value })).sort((a, b) => b.value - a.value);
  const named = (items) => items.map((item) => ({ name: item.name, value: item.share }));
  panel("matters", "What matters", finding(channels),
    m.note && h("p", { class: "warn" }, m.note),
    h("div", { class: "grid" },
      channels && channels.length > 1 && h("div", {}, h("h3", {}, "Channels: share in what was learned"), longBars(channels, 20, ["channel", "share"])),
      m.removal && h("div", {}, h("h3", {}, "Accuracy lost without a channel (evaluated again)"), removalBars(m.removal)),
      h("div", {},
        m.views.length > 1 && [h("h3", {}, "Views: share in the evidence"), bars(named(m.views))],
        m.layouts.length > 0 && [h("h3", {}, "Words: which frames they read"), longBars(named(m.layouts), 12, ["frames", "share"])],
        m.rows.length > 0 && behind(() => pagedTable(["row of symbols", "share"], m.rows.length, (k) => [m.rows[k].name, m.rows[k].share], "Share of every row in the evidence"), "Deeper: every row of symbols"))));
}
function finding(channels) {
  if (!channels || channels.length < 2) return "What matters";
  const even = channels[0].value < 1.5 / channels.length;
  return even ? "All channels matter about alike" : `${channels[0].name} matters most`;
}
function removalBars(removal) {
  const items = removal.map((one) => ({ name: data.channels[one.channel], value: one.lost })).sort((a, b) => b.value - a.value);
  return bars(items, (value) => `${value < 0 ? "\u2212" : ""}${percent(Math.abs(value))}`, (item) => item.value < 0);
}
