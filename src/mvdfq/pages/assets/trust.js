// Panel 7: can the probabilities be trusted?
function trustPanel() {
  const t = data.trust, rest = t.without_doubtful_tenth, sure = (i) => `${percent(sequences.confidence[i], 0)} sure`;
  panel("trust", "Trust", `Without the doubtful tenth, ${percent(rest.accuracy)} are right`,
    h("div", { class: "grid" },
      h("div", {}, h("h3", {}, "Calibration: are 90 % right where it is 90 % sure?"), calibrationPlot(t),
        h("p", { class: "small soft" }, `Expected calibration error ${percent(t.calibration_error)}. Dots on the dashed line would be perfect; large dots stand for many sequences, lines for 95 % intervals.`),
        behind(() => tableOf(["predicted probability", "sequences", "mean probability", "accuracy"], t.bins.map((b) => [`${percent(b.low, 0)} to ${percent(b.high, 0)}`, b.n, percent(b.confidence), percent(b.accuracy)]), "Calibration"))),
      h("div", {}, h("h3", {}, "Accuracy if the doubtful are left out"), coveragePlot(t),
        behind(() => tableOf(["left out", "accuracy of the rest"], t.coverage.map((c) => [percent(c.left_out, 0), percent(c.accuracy)]), "Leaving out the doubtful"))),
      t.sets ? setsOf(t.sets) : null,
      h("div", {}, h("h3", {}, "Least sure"), sequenceList(t.least_sure, (i) => (isWrong(i) ? "wrong, " : "right, ") + sure(i))),
      h("div", {}, h("h3", {}, "Most confidently wrong"), t.confidently_wrong.length ? sequenceList(t.confidently_wrong, (i) => `${className(sequences.truth[i])} \u2192 ${className(sequences.predicted[i])}, ${sure(i)}`) : h("p", {}, "No sequence is wrong."))));
}

// Sets of classes that hold the true class in 90 % of cases, by p values of the inner folds.
function setsOf(s) {
  const rows = s.by_class.map((value, c) => [className(c), value === null ? "" : percent(value)]);
  return h("div", {}, h("h3", {}, `Sets of classes, to hold the true class in ${percent(s.asked, 0)} of cases`),
    h("p", {}, `The sets hold the true class in ${percent(s.coverage)} of cases. A set has ${s.mean_size.toFixed(2)} classes on average; ${percent(s.empty)} of the sets are empty (none of these), ${percent(s.several)} have several classes (not sure).`),
    behind(() => tableOf(["class", "sets that hold the class"], rows, "Sets of classes")));
}
const share = (value) => `${Math.round(100 * value)} %`;
function calibrationPlot(t) {
  const most = Math.max(...t.bins.map((b) => b.n));
  return fluid((width) => plot("Calibration curve", [width, 0.62 * width + 40], [0, 1], [0, 1], { x: "predicted probability", y: "share that is right", format: share }, (x, y) => [
    line([[x(0), y(0)], [x(1), y(1)]], { stroke: "var(--soft)", "stroke-dasharray": "4 5", "stroke-width": 1.5 }),
    ...t.bins.map((b) => line([[x(b.confidence), y(b.accuracy_95[0])], [x(b.confidence), y(b.accuracy_95[1])]], { stroke: "var(--good)", opacity: 0.35 })),
    ...t.bins.map((b) => svg("circle", { cx: x(b.confidence), cy: y(b.accuracy), r: 3.5 + 7 * Math.sqrt(b.n / most), fill: "var(--good)", "fill-opacity": 0.8, stroke: "var(--paper)" }, svg("title", {}, `${plural(b.n, "sequence")}: predicted ${percent(b.confidence)}, right ${percent(b.accuracy)}`))),
  ]));
}
function coveragePlot(t) {
  const low = Math.max(0, Math.min(...t.coverage.map((c) => c.accuracy)) - 0.02);
  return fluid((width) => plot("Accuracy of the rest if the least sure sequences are left out", [width, 0.62 * width + 40], [0, 0.9], [low, 1], { x: "share left out", y: "accuracy of the rest", format: (v) => `${Number((100 * v).toFixed(1))} %`, formatX: share }, (x, y) => [
    line(t.coverage.map((c) => [x(c.left_out), y(c.accuracy)]), { stroke: "var(--good)" }),
    ...t.coverage.map((c) => svg("circle", { cx: x(c.left_out), cy: y(c.accuracy), r: 4, fill: "var(--good)" }))]));
}
