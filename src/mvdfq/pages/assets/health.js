// Panel 8: what may be wrong with the data.
function healthPanel() {
  const d = data.health, problems = findings(d), near = d.near_duplicates;
  panel("health", "Data health", problems.length ? `${plural(problems.length, "thing")} to look at in the data` : "The data look healthy",
    problems.length > 0 && h("ul", {}, problems.map((text) => h("li", {}, text))),
    h("div", { class: "grid" },
      h("div", {}, h("h3", {}, `Lengths: ${d.lengths.shortest} to ${d.lengths.longest} frames, median ${number(d.lengths.median)}`), lengths(d.lengths),
        behind(() => tableOf(["from", "below", "sequences"], d.lengths.counts.map((n, k) => [d.lengths.edges[k], d.lengths.edges[k + 1], n]), "Lengths in frames"))),
      h("div", {}, h("h3", {}, "Class balance"), longCounts(d)),
      h("div", {}, h("h3", {}, "Facts"), h("dl", { class: "facts" }, [
        ["sequences", d.n_sequences], ["channels", d.n_channels], ["frames per second", d.sampling_rate || "unknown"],
        ["sequences with gaps", d.sequences_with_gaps], ["constant channels", listed(d.constant_channels) || "none"],
        ["equal sequences", d.exact_duplicates.n], ["near duplicates across folds", near ? near.n_sequences : "not computed: too many pairs"],
        ["groups on both sides", d.groups_on_both_sides === null ? "no groups known" : d.groups_on_both_sides],
      ].map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]).flat())),
      h("div", {}, d.exact_duplicates.n > 0 && [h("h3", {}, "Equal sequences"), pagedTable(["names"], d.exact_duplicates.sets.length, (k) => [d.exact_duplicates.sets[k].join(" = ")], "Sets of equal sequences")],
        near && near.n > 0 && [h("h3", {}, `Kernel value of at least ${near.threshold}`), pagedTable(["judged", "training", "kernel value"], near.pairs.length, (k) => [sequenceButton(near.pairs[k].sequence), near.pairs[k].training, near.pairs[k].similarity], "Near duplicates across folds")],
        d.idle.some((share) => share > 0) && [h("h3", {}, "Frames without any change: silence, padding"), longBars(d.idle.map((value, c) => ({ name: className(c), value })).sort((a, b) => b.value - a.value), 12, ["class", "share of frames"])],
        d.missing.some((m) => m > 0) && [h("h3", {}, "Missing values"), longBars(d.missing.map((value, c) => ({ name: data.channels[c], value })).sort((a, b) => b.value - a.value), 12, ["channel", "missing"])])));
}

// Names of channels; a name that could be read as two names stands in quotes.
const listed = (channels) => channels.map((c) => data.channels[c]).map((name) => (/[,"]|^none$/.test(name) ? JSON.stringify(name) : name)).join(", ");

function findings(d) {
  const found = [], sizes = d.classes.filter((n) => n > 0), near = d.near_duplicates;
  const most = Math.max(...sizes), least = Math.min(...sizes);
  if (d.exact_duplicates.n_across) found.push(`${plural(d.exact_duplicates.n_across, "set")} of equal sequences ${d.exact_duplicates.n_across === 1 ? "is" : "are"} both in training and in test: the accuracy may be too high.`);
  if (d.exact_duplicates.n_labels_differ) found.push(`${plural(d.exact_duplicates.n_labels_differ, "set")} of equal sequences with different labels.`);
  if (near && near.n_sequences) found.push(`${plural(near.n_sequences, "sequence")} nearly equal to a training sequence (kernel value at least ${near.threshold}).`);
  if (d.groups_on_both_sides) found.push(`${plural(d.groups_on_both_sides, "group")} on both sides of a fold: evaluate with --protocol group.`);
  if (d.constant_channels.length) found.push(`${plural(d.constant_channels.length, "channel")} without any change: ${listed(d.constant_channels)}.`);
  if (d.sequences_with_gaps) found.push(`${plural(d.sequences_with_gaps, "sequence")} with missing values.`);
  if (d.idle_differs) {
    const order = d.idle.map((share, c) => c).filter((c) => d.classes[c] > 0).sort((a, b) => d.idle[b] - d.idle[a]), last = order[order.length - 1];
    found.push(`Classes differ in frames without any change, such as digital silence and padding: ${percent(d.idle[order[0]])} of ${className(order[0])}, ${percent(d.idle[last])} of ${className(last)}. The classifier may tell classes by these frames.`);
  }
  if (most > 5 * least) found.push(`The largest class has ${most} sequences, the smallest ${least}: look at recall, not only at accuracy.`);
  if (d.lengths.shortest < 3) found.push("Some sequences have fewer than 3 frames, too short for most words.");
  return found;
}

function lengths(one) {
  const most = Math.max(...one.counts), low = one.edges[0], high = one.edges[one.edges.length - 1];
  return fluid((width) => plot("Histogram of the lengths", [width, 0.45 * width + 40], [low, high], [0, most], { x: "frames", y: "sequences" }, (x, y) => one.counts.map((n, k) => {
    const from = x(one.edges[k]);
    return svg("rect", { x: from + 0.5, y: y(n), width: Math.max(x(one.edges[k + 1]) - from - 1, 0.5), height: y(0) - y(n), fill: "var(--good)", opacity: 0.75 });
  })));
}
function longCounts(d) {
  const items = d.classes.map((value, c) => ({ name: className(c), value }));
  const box = h("div", {}, bars(items.slice(0, 20), String));
  if (items.length > 20) box.append(behind(() => tableOf(["class", "sequences"], items.map((item) => [item.name, item.value]), "All classes")));
  return box;
}
