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
    h("p", { class: "lead" }, `${isText ? "The colour behind a letter" : "Every band is one channel. The colour behind the curve"} is exact evidence: blue speaks for one class, orange for the other class. All colours add up to the sum below the picture.`),
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
  Object.assign(view, { place: i, detail, paintSound: null, from: 0, to: detail ? detail.n_frames : 1, hover: null, head: null });
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
    clipOf(i) && h("button", { type: "button", id: "play", onclick: () => (player && !player.paused ? stopClip() : playClip(i, view.from, view.to)) }, "Play what is shown"));
}

const withoutDetail = (i) => [heading(i), h("p", { class: "warn" },
  "The page holds no curves of this sequence. The option --details all, or details=\"all\", puts all sequences into the page.")];

function withDetail(i, detail) {
  const label = `Channels of ${sequences.name[i]} over time, with evidence. Plus and minus zoom, arrow keys move, 0 shows all.`;
  const { canvas, paint } = canvasOf(label, sequenceHeight, drawSequence);
  canvas.id = "sequence-canvas";
  view.paint = paint;
  listen(canvas);
  const readout = h("div", { class: "readout", id: "readout" }, isText ? "Point at a letter to read its position and evidence." : "Point at a channel to read its value and evidence.");
  const tools = [["Zoom in", () => zoom(0.5), "zoom-in"], ["Zoom out", () => zoom(2), "zoom-out"], ["\u2190", () => pan(-0.3), "left"], ["\u2192", () => pan(0.3), "right"], ["All", () => zoom(1e9), "all"]]
    .map(([text, act, id]) => h("button", { type: "button", id, onclick: act, "aria-label": { "\u2190": "Earlier", "\u2192": "Later", All: "Show all" }[text] || null }, text));
  const said = className(detail.for), other = className(detail.against);
  const key = detail.total && h("div", { class: "row between" },
    h("div", { class: "row" }, h("span", { class: "key" }, h("i", { class: "for" }), `for ${said}`), h("span", { class: "key" }, h("i", { class: "against" }), `for ${other}`)),
    h("div", { class: "row tools" }, tools));
  const sum = detail.total && detail.total.reduce((total, value) => total + value, 0);
  const shown = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(3)}`;
  const before = detail.compared ? `A sequence halfway between both classes gets ${shown(detail.constant)}` : `Every sequence begins with ${shown(detail.constant)}`;
  const adds = detail.total && h("p", { class: "small soft" }, `${before}; the evidence adds ${shown(sum)}; so this one gets ${shown(detail.margin)}: more than 0 means ${said} rather than ${other}.`);
  return [heading(i), detail.note && h("p", { class: "warn" }, detail.note), h("div", { class: "split" },
    h("div", {}, key || h("div", { class: "row tools" }, tools), soundPicture(i), h("div", { class: "strip" }, canvas), readout, adds,
      detail.moments && detail.moments.length > 0 && momentTable(detail, said, other),
      detail.by_channel && detail.by_channel.length > 1 && behind(() => channelTable(detail, said, other), "Evidence of every channel, as a table"),
      detail.words && detail.words.length > 0 && behind(() => wordTable(detail), "Deeper: the rows and words behind the colours")),
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
      h("div", { class: "small soft" }, `class ${className(near.class)}`)),
    h("span", { title: "similarity: 1 means equal, 0 means nothing in common beyond the average" }, near.similarity.toFixed(2)));
  })));
}

function channelTable(detail, said, other) {
  const rows = detail.by_channel.map((value, c) => [data.channels[c], value]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  rows.push(["constant", detail.constant], ["sum: the difference of the decision values", detail.margin]);
  return h("div", {}, pagedTable(["channel", `evidence for ${said} against ${other}`], rows.length, (k) => rows[k], "Evidence of every channel"),
    pagedTable(["from", "to", "evidence"], detail.total.length, (k) => [moment(detail.edges[k]), moment(detail.edges[k + 1]), detail.total[k]], "Evidence over time"));
}

const momentTable = (detail, said, other) => tableOf(["evidence", isText ? "where" : "when", isText ? "letters" : "what the channels do"], detail.moments.map((one) => [
  h("span", { class: "nowrap" }, `${Math.abs(one.evidence).toFixed(3)} for ${one.evidence > 0 ? said : other}`),
  h("button", { type: "button", class: "link nowrap", onclick: () => { zoomAround(one.frames[0], one.frames[1] - one.frames[0]); paintSequence(); } }, between(...one.frames)), one.what]),
isText ? "The stretches with the most evidence" : "The moments with the most evidence");
// A stretch of frames in words: both ends of letters are included.
const between = (from, to) => (rate ? `${number(from / rate)} to ${number(to / rate)} s` : isText ? `positions ${from + 1} to ${to}` : `frames ${from} to ${to - 1}`);

const wordTable = (detail) => tableOf(["evidence", "word", ""], detail.words.map((word) => [word.evidence, word.text,
  h("button", { type: "button", class: "link", onclick: () => { zoomAround(word.frame, word.span); paintSequence(); document.getElementById("sequence-canvas").scrollIntoView({ block: "center" }); } }, "show")]),
"The strongest words: a row of symbols, the symbols, and where they stand");

let player = null;
function stopClip() {
  if (player) player.pause();
  player = null;
  view.head = null;
  paintSequence();
  const button = document.getElementById("play");
  if (button) button.textContent = "Play what is shown";
}
// Play the sound of some frames, or of all; a second click stops it.
function playClip(i, from = 0, to = Infinity) {
  const clip = clipOf(i);
  stopClip();
  if (!clip) return;
  const begin = rate ? Math.max(from / rate - clip.start, 0) : 0, end = rate ? to / rate - clip.start : Infinity, own = new Audio(clip.data);
  player = own;
  own.dataset.sequence = i;
  window.mvdfqPlayer = own;
  own.currentTime = begin;
  const move = () => {
    if (player !== own) return;
    if (own.ended || own.currentTime >= end) { stopClip(); return; }
    if (view.place === i && rate) { view.head = (clip.start + own.currentTime) * rate; paintSequence(); }
    requestAnimationFrame(move);
  };
  own.addEventListener("playing", move);
  own.play().catch(() => {});
  const button = document.getElementById("play");
  if (button && view.place === i) button.textContent = "Stop";
}
