// Panel 1: the verdict in one line, beside what it must beat.
function verdictPanel() {
  const v = data.verdict, about = data.about, [low, high] = v.interval_95;
  const place = document.getElementById("main");
  document.title = about.title ? `${about.title} · mvdfq report` : "mvdfq report";
  document.getElementById("panels").append(h("a", { href: "#verdict" }, "Verdict"));
  place.append(h("section", { id: "verdict", class: "hero", "aria-labelledby": "verdict-title", tabindex: "-1" },
    h("h1", { id: "verdict-title" }, about.title || "How well are the sequences told apart?"),
    h("div", { class: "score" },
      h("span", { class: "big num", id: "accuracy" }, percent(v.accuracy)),
      h("p", {}, `${v.right} of ${v.n} ${v.seeds.length > 1 ? "predictions right" : "sequences recognised"}. The true accuracy lies between ${percent(low)} and ${percent(high)}, with 95 % confidence (${v.interval_name}). ${beats(v)}`)),
    v.remarks.map((text) => h("p", { class: "soft" }, text)),
    scale(v, low, high),
    behind(() => tableOf(["classifier", "accuracy"],
      [["this classifier", v.accuracy], ...v.baselines.map((b) => [`${b.name}: ${b.about}`, b.accuracy])], "Accuracy in the same folds")),
    groupBars(v.groups),
    facts(v, about)));
}

// The accuracy of each group, the lowest first: new groups may be like any of them.
function groupBars(groups) {
  if (!groups.length) return null;
  const items = [...groups].sort((a, b) => a.accuracy - b.accuracy)
    .map((g) => ({ name: g.group, value: g.accuracy, text: `${percent(g.accuracy)} (${g.right} of ${g.n})` }));
  const box = h("div", { id: "groups" }, h("h3", {}, "Accuracy of each group"), longBars(items, 12, ["group", "accuracy"]));
  box.querySelectorAll(".bars i").forEach((bar, k) => { bar.style.width = percent(items[k].value).replace(" ", ""); });  // of 100 %, not of the highest
  return box;
}

// The title of a page about one sequence.
function titleAlone() {
  document.title = `${data.about.title} \u00b7 mvdfq`;
  document.getElementById("main").append(h("section", { id: "verdict", class: "hero" },
    h("h1", {}, `Why ${data.about.title} is put into the class ${className(sequences.predicted[0])}`)));
}

function beats(v) {
  const best = [...v.baselines].sort((a, b) => b.accuracy - a.accuracy)[0];
  if (!best) return "";
  const gain = v.accuracy - best.accuracy;
  if (Math.abs(gain) < 5e-5) return `The baseline \u201c${best.name}\u201d is as good.`;
  return `The best baseline, ${best.name}, reaches ${percent(best.accuracy)}: ${percent(Math.abs(gain))} points ${gain > 0 ? "less" : "more"}.`.replace(" % points", " points");
}

// One axis from 0 to 100 %: the interval as a band, the accuracy as a dot, baselines as ticks.
function scale(v, low, high) {
  const draw = () => {
    box.replaceChildren();
    const width = Math.max(box.clientWidth, 280), pad = 14;
    const x = (value) => pad + value * (width - 2 * pad);
    const below = (k) => 66 + 17 * k;
    // all lines first: where a line meets a name, the name has a rim in the colour of the page
    const marks = [...v.baselines.map((b, k) => svg("line", { x1: x(b.accuracy), x2: x(b.accuracy), y1: 26, y2: below(k) + 3, stroke: "var(--soft)", "stroke-width": 2 })),
      ...v.baselines.map((b, k) => {
        const side = b.accuracy > 0.5 ? "end" : "start";
        return svg("text", { class: "rim", x: x(b.accuracy) + (side === "end" ? -7 : 7), y: below(k), "text-anchor": side }, `${b.name} ${percent(b.accuracy)}`);
      })];
    const label = `Accuracy ${percent(v.accuracy)}, interval ${percent(low)} to ${percent(high)}; ` +
      v.baselines.map((b) => `${b.name} ${percent(b.accuracy)}`).join(", ");
    box.replaceChildren(svg("svg", { role: "img", "aria-label": label, width, height: 76 + 17 * v.baselines.length, viewBox: `0 0 ${width} ${76 + 17 * v.baselines.length}` },
      svg("title", {}, label),
      svg("line", { x1: x(0), x2: x(1), y1: 36, y2: 36, stroke: "var(--line)", "stroke-width": 6, "stroke-linecap": "round" }),
      [0, 0.25, 0.5, 0.75, 1].map((t) => svg("text", { x: x(t), y: 16, "text-anchor": t === 0 ? "start" : t === 1 ? "end" : "middle" }, `${100 * t} %`)),
      marks,
      svg("line", { x1: x(low), x2: x(high), y1: 36, y2: 36, stroke: "var(--good)", "stroke-width": 12, opacity: 0.35 }),
      svg("circle", { cx: x(v.accuracy), cy: 36, r: 9, fill: "var(--good)", stroke: "var(--paper)", "stroke-width": 3 })));
  };
  const box = h("div", {});
  redraws.push(draw);
  return box;
}

function facts(v, about) {
  const seeds = /-fold$/.test(v.protocol) || v.seeds.length > 1 ? `, ${plural(v.seeds.length, "seed")} (${v.seeds.join(", ")})` : "";
  const protocol = { split: "the given split: learn from one part, judge the other", "fitted classifier": "a fitted classifier judges the given sequences",
    group: "whole groups are judged by classifiers that have not seen them", "leave-group-out": "each group is judged by a classifier that has not seen it" }[v.protocol] || v.protocol;
  const rows = [
    ["protocol", `${protocol}; ${plural(v.n_folds, "fold")}${seeds}`],
    ["command", about.command && h("code", {}, about.command)],
    ["mean over folds", v.n_folds > 1 && `accuracy ${percent(v.mean_over_folds)}, standard deviation ${percent(v.std_over_folds)}`],
    ["probabilities", `log loss ${number(v.log_loss)}, expected calibration error ${percent(v.calibration_error)}`],
    ["F1", `${number(v.f1_mean_of_classes)} (mean of classes)`],
    ["version", `mvdfq ${about.version}`],
    ["classifier", h("code", {}, about.classifier)],
  ].filter((row) => row[1]);
  return h("dl", { class: "facts" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]).flat());
}
