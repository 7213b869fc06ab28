// Panel 6: what a class looks like, and the kernel matrix ordered by class.
function classesPanel() {
  const known = data.stretches.some((mine) => mine.length);
  const box = h("div", { class: "card" });
  const tabs = data.classes.map((name, c) => h("button", { type: "button", "aria-pressed": "false", onclick: () => show(c) }, mark(c), name));
  function show(c) {
    tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(k === c)));
    const mine = data.stretches[c];
    box.replaceChildren(h("h3", {}, `What speaks most for ${className(c)}`),
      mine.length ? h("div", { class: "words" }, mine.map((one) => stretchFigure(one, c))) : h("p", {}, "Nothing speaks for this class."));
  }
  panel("classes", "Classes", "What each class looks like",
    known ? h("p", { class: "lead" }, isText ? "Stretches of real sequences with the most evidence for the class." : "Stretches of real sequences with the most evidence for the class, in grey, with the channels that speak most for it there.") : h("p", { class: "warn" }, "This kernel does not count words, so nothing can be shown."),
    known && h("div", { class: "legend", role: "group", "aria-label": "Class" }, tabs), known && box, kernelMatrix());
  if (known) show(0);
}

const nOf = ([n, all]) => `${n} of ${all}`;
function stretchFigure(one, c) {
  const [from, to] = one.frames, places = between(from, to);
  const about = h("figcaption", {}, h("b", {}, one.what ? `${one.what}. ` : ""),
    `Evidence ${signed(one.evidence)}. At least half as much is in a stretch of ${nOf(one.in_class)} of the sequences of ${className(c)}, and of ${nOf(one.in_others)} of the others. `,
    sequenceButton(one.sequence, (from + to) / 2), `, ${places}. `,
    clipOf(one.sequence) && h("button", { type: "button", class: "link", onclick: () => playClip(one.sequence, from, to) }, "Play it"));
  return h("figure", {}, one.letters ? [h("div", { class: "word" }, one.letters), one.n_logo > 1 && logoOf(one)] : one.channels.map((channel, k) => stretchCurve(one, channel, one.curves[k])), about);
}

// Letters piled up by position, as high as the information they hold.
const letterColours = { A: 2, C: 0, G: 1, T: 4, U: 4 };
function logoOf(one) {
  const n = one.logo.length, wide = 22, tall = 74, label = `The letters of ${plural(one.n_logo, "sequence")} of the class at this stretch, as high as their information in bits`;
  const most = Math.max(...one.logo.map((pile) => pile.reduce((sum, [, height]) => sum + height, 0)), 1);
  const isBase = data.stretches.flat().every((other) => /^[ACGTUN?]*$/i.test(other.letters || ""));
  const drawn = one.logo.flatMap((pile, k) => {
    let base = tall;
    return pile.map(([letter, height]) => {
      const high = (height / most) * tall, text = svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(${(k + 0.5) * wide} ${base}) scale(1 ${high / 14.2})`, class: "pile" }, letter);
      base -= high;
      text.style.fill = colour(isBase ? letterColours[letter.toUpperCase()] ?? 6 : letter.charCodeAt(0) % 7);
      return high > 0.4 ? text : null;
    });
  });
  return h("div", {}, svg("svg", { viewBox: `0 0 ${n * wide} ${tall + 2}`, role: "img", "aria-label": label, class: "logo" }, svg("title", {}, label), ...drawn),
    h("div", { class: "small soft" }, `${plural(one.n_logo, "sequence")} of the class, at most ${number(Number(most.toPrecision(2)))} bits a letter`));
}

function stretchCurve(one, channel, values) {
  const [first, last] = one.window, scale = rate || 1, step = (last - first) / values.length;
  const points = values.map((value, k) => [(first + (k + 0.5) * step) / scale, value]).filter((point) => point[1] !== null);
  if (!points.length) return null;
  const [low, high] = extent(points.map((point) => point[1])), label = `${data.channels[channel]} in this stretch, from ${number(low)} to ${number(high)}`;
  return h("div", {}, h("div", { class: "small soft" }, plainName(channel)),
    plot(label, [260, 110], [first / scale, last / scale], [low, high], { x: unit, y: unitOf(channel) }, (x, y) => [
      svg("rect", { x: x(one.frames[0] / scale), width: x(one.frames[1] / scale) - x(one.frames[0] / scale), y: y(high), height: y(low) - y(high), fill: "var(--soft)", opacity: 0.15 }),
      line(points.map((point) => [x(point[0]), y(point[1])]), { stroke: "var(--good)" }),
    ]));
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
