// Panel 4: one sequence in the user's own terms; canvas.js draws it.
const view = { place: -1, detail: null, from: 0, to: 1, hover: null, head: null };
const clipOf = (i) => (data.clips || {})[i];
const hasClips = () => Object.keys(data.clips || {}).length > 0;
const rate = data.sampling_rate;
const isText = data.details.length > 0 && data.details.every((d) => d.curves.every((one) => typeof one === "string"));
// Letters are counted from 1, frames from 0, as everywhere in mvdfq.
const moment = (frame) => (rate ? `${number(frame / rate)} s` : isText ? `position ${Math.floor(frame) + 1}` : `frame ${Math.floor(frame)}`);
const unit = rate ? "seconds" : isText ? "position" : "frames";

function sequencePanel() {
  panel("sequence", "Sequence", isText ? "One sequence: which letters spoke for which class" : "One sequence: which channel spoke for which class, and when",
    h("p", { class: "lead" }, `${isText ? "The colour behind a letter" : "Every band is one channel. The colour behind the curve"} is exact evidence: all colours of a sequence add up to the difference of the two decision values, apart from a constant.`),
    count > 1 && picker(), h("div", { id: "one" }));
  if (data.details.length) openSequence(firstToShow(), undefined, true);
}

// A wrong sequence tells more than a right one.
const firstToShow = () => (data.details.find((d) => isWrong(d.sequence)) || data.details[0]).sequence;

function picker() {
  const kinds = [["Wrong", (i) => isWrong(i)], ["Right", (i) => !isWrong(i)]];
  const choose = h("select", { id: "pick", "aria-label": "Sequence", onchange: () => openSequence(Number(choose.value), undefined, true) },
    kinds.map(([label, test]) => h("optgroup", { label }, data.details.filter((d) => test(d.sequence)).map((d) =>
      h("option", { value: d.sequence }, `${sequences.name[d.sequence]} (${percent(sequences.confidence[d.sequence], 0)} sure)`)))));
  const step = (by) => {
    const order = [...choose.options].map((option) => Number(option.value));
    const at = order.indexOf(view.place);
    openSequence(order[(at + by + order.length) % order.length], undefined, true);
  };
  return h("div", { class: "row tools" }, h("button", { type: "button", onclick: () => step(-1) }, "Previous"), choose,
    h("button", { type: "button", id: "next", onclick: () => step(1) }, "Next"),
    h("span", { class: "small soft" }, `${data.details.length} of ${count} sequences have details: wrong, least sure, and typical ones`));
}

function openSequence(i, frame, stay = false) {
  const detail = detailOf.get(i) || null;
  Object.assign(view, { place: i, detail, from: 0, to: detail ? detail.n_frames : 1, hover: null, head: null });
  if (detail && frame !== undefined && frame !== null) zoomAround(frame);
  const box = document.getElementById("one");
  box.replaceChildren(...(detail ? withDetail(i, detail) : withoutDetail(i)));
  const pick = document.getElementById("pick");
  if (pick && detail) pick.value = String(i);
  else if (pick) pick.selectedIndex = -1;
  paintSequence();
  if (!stay) {
    const section = document.getElementById("sequence");
    section.scrollIntoView();
    section.focus({ preventScroll: true });
  }
}

function heading(i) {
  const wrong = isWrong(i);
  return h("div", { class: "row" }, h("h3", { id: "name" }, sequences.name[i]),
    h("span", { class: `tag${wrong ? " wrong" : ""}` }, mark(sequences.predicted[i]), `predicted: ${className(sequences.predicted[i])}, ${percent(sequences.confidence[i])} sure`),
    isKnown(i) && h("span", { class: "tag" }, mark(sequences.truth[i]), wrong ? `true class: ${className(sequences.truth[i])}` : "right"),
    clipOf(i) && h("button", { type: "button", id: "play", onclick: () => playClip(i) }, "Play"));
}

const withoutDetail = (i) => [heading(i), h("p", { class: "warn" },
  "The page holds no curves of this sequence. The option --details all, or details=\"all\", puts all sequences into the page.")];

function withDetail(i, detail) {
  const label = `Channels of ${sequences.name[i]} over time, with evidence. Plus and minus zoom, arrow keys move, 0 shows all.`;
  const { canvas, paint } = canvasOf(label, sequenceHeight, drawSequence);
  canvas.id = "sequence-canvas";
  view.paint = paint;
  listen(canvas);
  const readout = h("div", { class: "readout", id: "readout" }, "Point at a channel to read its value and evidence.");
  const tools = [["Zoom in", () => zoom(0.5), "zoom-in"], ["Zoom out", () => zoom(2), "zoom-out"], ["\u2190", () => pan(-0.3), "left"], ["\u2192", () => pan(0.3), "right"], ["All", () => zoom(1e9), "all"]]
    .map(([text, act, id]) => h("button", { type: "button", id, onclick: act, "aria-label": { "\u2190": "Earlier", "\u2192": "Later", All: "Show all" }[text] || null }, text));
  const said = className(sequences.predicted[i]), other = className(detail.against);
  const key = detail.total && h("div", { class: "row between" },
    h("div", { class: "row" }, h("span", { class: "key" }, h("i", { class: "for" }), `for ${said}`), h("span", { class: "key" }, h("i", { class: "against" }), `for ${other}`)),
    h("div", { class: "row tools" }, tools));
  const sum = detail.total && detail.total.reduce((total, value) => total + value, 0);
  const adds = detail.total && h("p", { class: "small soft" }, `All evidence ${signed(sum)} and the constant ${signed(detail.constant)} add up to ${signed(detail.margin)}: more than 0 means ${said} rather than ${other}.`);
  return [heading(i), detail.note && h("p", { class: "warn" }, detail.note), h("div", { class: "split" },
    h("div", {}, key || h("div", { class: "row tools" }, tools), h("div", { class: "strip" }, canvas), readout, adds,
      detail.by_channel && behind(() => channelTable(detail, said, other), "Evidence of every channel, as a table"),
      detail.words && behind(() => wordTable(detail), "Deeper: the rows and words behind the colours")),
    h("div", {}, h("h3", {}, "Probabilities"), probabilities(detail), neighbourList(detail)))].filter(Boolean);
}

const MOST_CLASSES = 10;
function probabilities(detail) {
  const items = detail.probabilities.map((value, c) => ({ name: className(c), value, c })).sort((a, b) => b.value - a.value);
  const most = items.length > MOST_CLASSES ? MOST_CLASSES - 1 : MOST_CLASSES, shown = items.slice(0, most), rest = items.slice(most);
  if (rest.length) shown.push({ name: plural(rest.length, "other class", "other classes"), value: rest.reduce((sum, item) => sum + item.value, 0), c: -1 });
  percents(shown.map((item) => item.value)).forEach((text, k) => { shown[k].text = text; });
  return bars(shown, percent, (item) => item.c !== sequences.predicted[detail.sequence]);
}

function neighbourList(detail) {
  if (!detail.neighbours) return null;
  return h("div", { class: "grid" }, h("h3", {}, "Most like it in training"), h("ul", { class: "plain" }, detail.neighbours.map((near) => {
    const i = near.sequence;
    return h("li", {}, h("div", {}, i !== null ? sequenceButton(i) : near.name,
      h("div", { class: "small soft" }, `class ${className(near.class)}; holds ${near.words_in_common} of the ${plural(detail.words.length, "strongest word")}${near.words_in_common ? `, evidence of these ${signed(near.evidence_in_common)}` : ""}`)),
    h("span", {}, near.similarity.toFixed(2)));
  })));
}

function channelTable(detail, said, other) {
  const rows = detail.by_channel.map((value, c) => [data.channels[c], value]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  rows.push(["constant", detail.constant], ["sum: the difference of the decision values", detail.margin]);
  return h("div", {}, pagedTable(["channel", `evidence for ${said} against ${other}`], rows.length, (k) => rows[k], "Evidence of every channel"),
    pagedTable(["from", "to", "evidence"], detail.total.length, (k) => [moment(detail.edges[k]), moment(detail.edges[k + 1]), detail.total[k]], "Evidence over time"));
}

const wordTable = (detail) => tableOf(["evidence", "word", ""], detail.words.map((word) => [word.evidence, word.text,
  h("button", { type: "button", class: "link", onclick: () => { zoomAround(word.frame, word.span); paintSequence(); document.getElementById("sequence-canvas").scrollIntoView({ block: "center" }); } }, "show")]),
"The strongest words: a row of symbols, the symbols, and where they stand");

let player = null;
function playClip(i) {
  const clip = clipOf(i);
  if (player) player.pause();
  view.head = null;
  if (!clip) return;
  player = new Audio(clip.data);
  player.dataset.sequence = i;
  window.mvdfqPlayer = player;
  const move = () => {
    if (view.place === i && rate) { view.head = (clip.start + player.currentTime) * rate; paintSequence(); }
    if (!player.paused && !player.ended) requestAnimationFrame(move);
  };
  player.addEventListener("playing", move);
  player.addEventListener("ended", () => { view.head = null; paintSequence(); });
  player.play().catch(() => {});
}
