// Panel 6: what a class looks like, and the kernel matrix ordered by class.
function classesPanel() {
  const known = data.class_words.some((words) => words.length);
  const box = h("div", { class: "card" });
  const tabs = data.classes.map((name, c) => h("button", { type: "button", "aria-pressed": "false", onclick: () => show(c) }, mark(c), name));
  function show(c) {
    tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(k === c)));
    const words = data.class_words[c];
    box.replaceChildren(h("h3", {}, `Strongest words of ${className(c)}`),
      words.length ? h("div", { class: "words" }, words.map(wordFigure)) : h("p", {}, "No word speaks for this class."));
  }
  panel("classes", "Classes", "What each class looks like",
    known ? h("p", { class: "lead" }, isText ? "Words that speak for the class; a dot stands for any letter." : "Each picture is a word that speaks for the class: the mean course of its channel where the word occurs, in the units of the channel. Dots mark the frames that the word reads.") : h("p", { class: "warn" }, "This kernel does not count words, so there are none to show."),
    known && h("div", { class: "legend", role: "group", "aria-label": "Class" }, tabs), known && box, kernelMatrix());
  if (known) show(0);
}

function wordFigure(word) {
  const some = word.looked_at < word.in_class[1] ? ` over ${word.looked_at} of them` : "";
  const about = h("figcaption", {}, word.curve && h("b", {}, plainName(word.channel)),
    word.curve ? ` (${word.row}: ${word.symbols.join("-")}): ` : isText ? null : `${word.row}: `,
    `in ${nOf(word.in_class)} of its sequences, in ${nOf(word.in_others)} of the others; mean evidence ${signed(word.evidence)}${some}; `,
    h("span", {}, "for example in ", sequenceButton(word.sequence, word.frame), ` at ${moment(word.frame)}`));
  return h("figure", {}, word.curve ? wordCurve(word) : h("div", { class: "word" }, spelled(word)), about);
}
const nOf = ([n, all]) => `${n} of ${all}`;

// Letters at their places, dots in the gaps.
function spelled(word) {
  const parts = [];
  word.symbols.forEach((symbol, k) => {
    const gap = k ? word.offsets[k] - word.offsets[k - 1] - 1 : 0;
    if (gap > 0) parts.push(h("em", {}, gap > 8 ? `\u00b7\u00b7${gap}\u00b7\u00b7` : "\u00b7".repeat(gap)));
    parts.push(symbol);
  });
  return parts;
}

function wordCurve(word) {
  const { mean, std, first } = word.curve;
  const points = mean.map((value, k) => [k + first, value, std[k] || 0]).filter((point) => point[1] !== null);
  const low = Math.min(...points.map((p) => p[1] - p[2])), high = Math.max(...points.map((p) => p[1] + p[2]));
  const scale = rate || 1;
  const label = `Mean course of ${data.channels[word.channel]} around the word, from ${number(low)} to ${number(high)}`;
  return plot(label, [260, 150], [points[0][0] / scale, points[points.length - 1][0] / scale], [low, high], { x: unit, y: unitOf(word.channel) }, (x, y) => [
    svg("path", { d: `M${points.map((p) => `${x(p[0] / scale)} ${y(p[1] + p[2])}`).join("L")}L${[...points].reverse().map((p) => `${x(p[0] / scale)} ${y(p[1] - p[2])}`).join("L")}Z`, fill: "var(--good)", opacity: 0.18 }),
    line(points.map((p) => [x(p[0] / scale), y(p[1])]), { stroke: "var(--good)" }),
    ...word.offsets.map((offset) => points.find((p) => p[0] === offset)).filter(Boolean).map((p) => svg("circle", { cx: x(p[0] / scale), cy: y(p[1]), r: 4, fill: "var(--ink)" })),
  ]);
}

function kernelMatrix() {
  const kernel = data.map.kernel, n = kernel.n, codes = bytes(kernel.values.codes);
  const side = longest() > 9 ? 120 : 64;
  const label = "Kernel matrix ordered by class: bright blocks on the diagonal are classes whose members are alike.";
  const { canvas, paint } = canvasOf(label, (width) => Math.min(width - side, 440), (context, width, tall) => {
    const size = tall - 2, cell = size / n;
    context.translate(side, 0);
    // the diagonal is 1 for every sequence: the scale ends at the largest other value
    let high = 1;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j) high = Math.max(high, codes[i * n + j]);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
      context.fillStyle = `rgba(${css("--for")}, ${Math.min(1, (codes[i * n + j] / high) ** 1.3).toFixed(3)})`;
      context.fillRect(j * cell, i * cell, cell + 0.4, cell + 0.4);
    }
    context.fillStyle = css("--ink");
    context.textAlign = "right";
    context.textBaseline = "middle";
    kernel.starts.forEach((start, k) => {
      const end = k + 1 < kernel.starts.length ? kernel.starts[k + 1] : 1;
      if ((end - start) * size > 11) context.fillText(shortened(context, className(kernel.classes[k]), side - 10), -6, ((start + end) / 2) * size);
    });
    for (const start of kernel.starts.slice(1)) {
      context.fillRect(start * size, 0, 0.7, size);
      context.fillRect(0, start * size, size, 0.7);
    }
  });
  redraws.push(paint);
  return h("div", { class: "grid" }, h("div", {}, h("h3", {}, "The kernel matrix, ordered by class"), canvas),
    h("div", {}, h("h3", {}, "Mean similarity of two classes"), h("p", { class: "small soft" }, "A class is easy to recognise if its members are more alike than members of two classes."),
      closest(kernel), behind(() => tableOf(["", ...kernel.classes.map(className)], kernel.means.map((row, a) => [className(kernel.classes[a]), ...row]), "Mean kernel value of two classes"))));
}

function closest(kernel) {
  const pairs = [];
  kernel.means.forEach((row, a) => row.forEach((value, b) => { if (b > a) pairs.push({ name: `${className(kernel.classes[a])} and ${className(kernel.classes[b])}`, value }); }));
  pairs.sort((p, q) => q.value - p.value);
  return bars(pairs.slice(0, 6), number, (pair) => pair.value < 0);
}
