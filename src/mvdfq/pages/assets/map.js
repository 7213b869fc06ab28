// Panel 3: a map of the collection; near means alike.
const map = { only: null, current: -1, places: [] };

function mapPanel() {
  const told = data.map.told_apart.map((share) => percent(share, 0));
  const label = `Map of ${count} sequences by ${data.map.method}. Arrow keys move between sequences, Enter opens one.`;
  const { canvas, paint } = canvasOf(label, (width) => Math.min(Math.max(width * 0.62, 280), 560), drawMap);
  canvas.id = "map-canvas";
  redraws.push(paint);
  const at = (event) => nearest(event.offsetX, event.offsetY, 16);
  const focus = (i) => { map.current = i; paint(); };
  canvas.addEventListener("pointermove", (event) => {
    const i = at(event);
    if (i !== map.current) focus(i);
    tip(i < 0 ? "" : titleOf(i), event.clientX, event.clientY);
    canvas.style.cursor = i < 0 ? "default" : "pointer";
  });
  canvas.addEventListener("pointerleave", () => { focus(-1); tip(""); });
  canvas.addEventListener("click", (event) => { const i = at(event); if (i >= 0) { tip(""); openSequence(i); playClip(i); } });
  canvas.addEventListener("keydown", (event) => mapKey(event, canvas, focus));
  canvas.addEventListener("blur", () => tip(""));
  panel("map", "Map", "The collection: near means alike",
    h("p", { class: "lead" }, `The axes are the directions of the kernel that tell the classes apart best: ${told.join(" and ")} of what they show is difference between classes. A ring marks a wrong sequence. ${clipsText()}`),
    colourBy(paint), h("div", { class: "map" }, canvas), legend(paint), behind(allSequences, "Table of all sequences"));
}

function clipsText() {
  const n = Object.keys(data.clips || {}).length;
  if (!n) return "";
  return n >= count ? "A click plays its sound." : `A click plays the sound of ${n} of the ${count} sequences: those with a dot in the middle.`;
}
// What the colours say: the class, the group, or whether the prediction is right.
const colourings = { class: (i) => sequences.truth[i], right: (i) => (isWrong(i) ? 4 : 2) };
if (sequences.group) {
  const groups = [...new Set(sequences.group)].sort();
  colourings.group = (i) => groups.indexOf(sequences.group[i]);
}
function colourBy(paint) {
  const names = { class: "class", right: "right or wrong", group: "group" };
  const choose = h("select", { id: "colour-by", "aria-label": "Colour by", onchange: () => { map.by = choose.value; map.size = ""; paint(); } },
    Object.keys(colourings).map((key) => h("option", { value: key }, `Colour by ${names[key]}`)));
  return h("div", { class: "row tools" }, choose);
}

// Places and outlines for one size of the canvas: one path per class, so that drawing is fast.
function place(width, height) {
  if (map.size === `${width} ${height}`) return;
  map.size = `${width} ${height}`;
  const xs = sequences.x, ys = sequences.y, pad = 18;
  const [lowX, highX] = extent(xs), [lowY, highY] = extent(ys);
  map.places = xs.map((x, i) => [
    pad + ((x - lowX) / (highX - lowX || 1)) * (width - 2 * pad),
    height - pad - ((ys[i] - lowY) / (highY - lowY || 1)) * (height - 2 * pad)]);
  const shapes = data.classes.map((_, c) => new Path2D(markPath(c, markSize)));
  map.paths = data.classes.map(() => new Map());
  map.places.forEach(([x, y], i) => {
    const mine = map.paths[sequences.truth[i]], c = colourings[map.by || "class"](i);
    if (!mine.has(c)) mine.set(c, new Path2D());
    mine.get(c).addPath(shapes[sequences.truth[i]], new DOMMatrix([1, 0, 0, 1, x, y]));
  });
}
const markSize = count > 2000 ? 2.6 : count > 500 ? 3.6 : 5;

function drawMap(context, width, height) {
  place(width, height);
  const faint = css("--line"), ink = css("--ink");
  const off = (c) => map.only !== null && map.only !== c;
  map.paths.forEach((paths, c) => paths.forEach((path, k) => {
    context.globalAlpha = off(c) ? 0.5 : 0.85;
    context.fillStyle = off(c) ? faint : colour(k);
    context.fill(path);
  }));
  context.globalAlpha = 1;
  context.fillStyle = css("--card");
  const some = hasClips() && Object.keys(data.clips).length < count;
  if (some) map.places.forEach(([x, y], i) => { if (clipOf(i)) context.fillRect(x - 1, y - 1, 2, 2); });
  map.places.forEach((at, i) => { if (isWrong(i) && !off(sequences.truth[i])) ring(context, at, markSize + 3.5, ink, 1.6); });
  if (map.current >= 0) ring(context, map.places[map.current], markSize + 7, css("--accent"), 3);
}
function ring(context, [x, y], radius, style, width) {
  context.globalAlpha = 1;
  context.strokeStyle = style;
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.stroke();
}
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
  return [low, high];
}

function nearest(x, y, within) {
  let best = -1, least = within * within;
  map.places.forEach(([a, b], i) => {
    if (map.only !== null && map.only !== sequences.truth[i]) return;
    const d = (a - x) ** 2 + (b - y) ** 2;
    if (d < least) [best, least] = [i, d];
  });
  return best;
}

// The nearest point in the direction of an arrow key.
function mapKey(event, canvas, focus) {
  const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (event.key === "Enter" && map.current >= 0) { tip(""); openSequence(map.current); playClip(map.current); return; }
  if (!step) return;
  event.preventDefault();
  const [x0, y0] = map.current < 0 ? [0, 0] : map.places[map.current];
  let best = map.current < 0 ? 0 : map.current, least = Infinity;
  map.places.forEach(([x, y], i) => {
    const along = (x - x0) * step[0] + (y - y0) * step[1], across = Math.abs((x - x0) * step[1]) + Math.abs((y - y0) * step[0]);
    if (i !== map.current && along > 0 && along + 2 * across < least) [best, least] = [i, along + 2 * across];
  });
  focus(best);
  const box = canvas.getBoundingClientRect();
  tip(titleOf(best), box.left + map.places[best][0], box.top + map.places[best][1]);
  canvas.setAttribute("aria-label", `Map. ${titleOf(best)}`);
}

function legend(paint) {
  const buttons = data.classes.map((name, c) => h("button", { type: "button", "aria-pressed": "false", onclick: () => {
    map.only = map.only === c ? null : c;
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(map.only === k)));
    paint();
  } }, mark(c), name));
  return h("div", { class: "legend", role: "group", "aria-label": "Classes: show one class alone" }, buttons);
}

function allSequences() {
  let found = [...Array(count).keys()];
  const columns = ["sequence", "true class", "predicted", "sure", "frames"];
  const table = pagedTable(columns, count, (k) => {
    const i = found[k];
    return [sequenceButton(i), className(sequences.truth[i]), className(sequences.predicted[i]) + (isWrong(i) ? " (wrong)" : ""), percent(sequences.confidence[i]), sequences.length[i]];
  }, "All sequences");
  const search = h("input", { type: "search", placeholder: "Part of a name or class", "aria-label": "Search sequences", oninput: () => {
    const text = search.value.toLowerCase();
    found = [...Array(count).keys()].filter((i) => `${sequences.name[i]}\n${className(sequences.truth[i])}`.toLowerCase().includes(text));
    table.update(found.length);
  } });
  return h("div", {}, search, table);
}
