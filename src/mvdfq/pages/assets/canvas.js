// Drawing of one sequence: channels as curves or as an image, evidence behind, their sum below.
const RIGHT = 8, TIMELINE = 74, AXIS = 26, MANY = 8; // frames to a piece of a curve that is drawn as an area
const gutter = (width) => (width < 480 ? 62 : 116);
const isImage = (detail) => detail.channels.length > 20;

function rowHeight(detail) {
  const n = detail.channels.length;
  if (isImage(detail)) return Math.max(7, Math.min(14, 380 / n));
  return n <= 2 ? 96 : n <= 4 ? 74 : n <= 8 ? 54 : n <= 14 ? 40 : 32;
}
function sequenceHeight() {
  const n = view.detail.channels.length, blocks = isImage(view.detail) && view.detail.evidence ? 2 : 1;
  return n * rowHeight(view.detail) * blocks + (blocks - 1) * 34 + (isImage(view.detail) ? 18 : 0) + TIMELINE + AXIS + 12;
}
const paintSequence = () => {
  if (view.detail && view.paint) view.paint();
  if (view.detail && view.paintSound) view.paintSound();
};
redraws.push(paintSequence);

// Bytes of a detail, decoded when it is first drawn.
function decoded(detail) {
  if (!detail.ready) {
    detail.ready = {
      curves: detail.curves.map((one) => (typeof one === "string" ? one : { low: one.low, high: one.high, codes: bytes(one.codes) })),
      evidence: detail.evidence && detail.evidence.map(bytes),
    };
  }
  return detail.ready;
}
function valueAt(one, frame, detail) {
  if (typeof one === "string") return one[Math.floor(frame)] || "";
  const k = Math.min(Math.floor((frame / detail.n_frames) * one.codes.length), one.codes.length - 1);
  return one.codes[k] === 255 ? null : one.low + ((one.high - one.low) * one.codes[k]) / 254;
}
function binAt(detail, frame) {
  let low = 0, high = detail.edges.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (detail.edges[middle] <= frame) low = middle; else high = middle - 1;
  }
  return low;
}

function drawSequence(context, width) {
  const detail = view.detail, ready = decoded(detail), left = gutter(width), inner = width - left - RIGHT;
  const x = (frame) => left + ((frame - view.from) / (view.to - view.from)) * inner;
  const paintColours = { for: css("--for"), against: css("--against"), ink: css("--ink"), soft: css("--soft"), line: css("--line"), card: css("--card") };
  const shape = { left, inner, x, width, colours: paintColours };
  context.textBaseline = "middle";
  const end = isImage(detail) ? drawImages(context, detail, ready, shape) : drawBands(context, detail, ready, shape);
  drawTimeline(context, detail, shape, end + 8);
  drawMarks(context, shape, end + 8 + TIMELINE);
  view.shape = { ...shape, end };
}

function drawBands(context, detail, ready, shape) {
  const tall = rowHeight(detail);
  detail.channels.forEach((c, k) => {
    const top = k * tall, one = ready.curves[k];
    context.save();
    clip(context, shape, top, tall);
    context.fillStyle = shape.colours.card;
    context.fillRect(shape.left, top, shape.inner, tall - 3);
    if (ready.evidence) shade(context, detail, ready.evidence[k], shape, top, tall - 3);
    if (typeof one === "string") letters(context, one, shape, top, tall - 3);
    else trace(context, one, detail, shape, top + 4, tall - 11);
    context.restore();
    name(context, c, shape, top + tall / 2, one, tall);
  });
  return detail.channels.length * tall;
}
function clip(context, shape, top, tall) {
  context.beginPath();
  context.rect(shape.left, top, shape.inner, tall);
  context.clip();
}
function shade(context, detail, codes, shape, top, tall) {
  for (let k = 0; k < codes.length; k++) {
    const a = detail.edges[k], b = detail.edges[k + 1];
    if (b < view.from || a > view.to || codes[k] === 128) continue;
    const value = (codes[k] - 128) / 127;
    context.fillStyle = `rgba(${value > 0 ? shape.colours.for : shape.colours.against}, ${(0.8 * Math.abs(value) ** 0.65).toFixed(3)})`;
    const from = Math.round(shape.x(a)); // whole pixels: no seams between cells
    context.fillRect(from, top, Math.max(Math.round(shape.x(b)) - from, 1), tall);
  }
}
const heightOf = (one, code, top, tall) => top + tall * (1 - (one.high > one.low ? code / 254 : 0.5));
function trace(context, one, detail, shape, top, tall) {
  const n = one.codes.length, step = detail.n_frames / n;
  if (step > MANY / 2) { envelope(context, one, detail, shape, top, tall); return; }
  context.strokeStyle = shape.colours.ink;
  context.lineWidth = 1.4;
  context.lineJoin = "round";
  context.beginPath();
  let pen = false;
  for (let k = 0; k < n; k++) {
    if (one.codes[k] === 255) { pen = false; continue; }
    const x = shape.x((k + 0.5) * step), y = heightOf(one, one.codes[k], top, tall);
    if (pen) context.lineTo(x, y); else context.moveTo(x, y);
    pen = true;
  }
  context.stroke();
}
// Many frames to a point: every two points are the lowest and the highest value of a piece.
function envelope(context, one, detail, shape, top, tall) {
  const n = one.codes.length / 2, step = detail.n_frames / n;
  let upper = [], lower = [];
  context.fillStyle = shape.colours.ink;
  const fillPiece = () => {
    context.beginPath();
    [...upper, ...lower.reverse()].forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.fill();
    [upper, lower] = [[], []];
  };
  for (let k = 0; k < n; k++) {
    const [a, b] = [one.codes[2 * k], one.codes[2 * k + 1]], x = shape.x((k + 0.5) * step);
    if (a === 255) { fillPiece(); continue; }
    upper.push([x, heightOf(one, Math.max(a, b), top, tall) - 0.7]);
    lower.push([x, heightOf(one, Math.min(a, b), top, tall) + 0.7]);
  }
  fillPiece();
}
function letters(context, text, shape, top, tall) {
  const size = shape.inner / (view.to - view.from);
  if (size < 7) return;
  context.save();
  context.fillStyle = shape.colours.ink;
  context.textAlign = "center";
  context.font = `600 ${Math.min(16, size * 1.25)}px ${css("--mono")}`;
  for (let f = Math.max(0, Math.floor(view.from)); f < Math.min(text.length, view.to); f++) context.fillText(text[f], shape.x(f + 0.5), top + tall / 2);
  context.restore();
}
// The name of a channel and, where there is room, the range of its values with their unit.
function name(context, c, shape, middle, one, tall) {
  const ranged = tall >= 40 && shape.left >= 100 && typeof one !== "string";
  context.fillStyle = shape.colours.ink;
  context.textAlign = "right";
  context.fillText(shortened(context, ranged ? plainName(c) : data.channels[c], shape.left - 12), shape.left - 8, tall >= 40 ? middle - 7 : middle);
  if (!ranged) return;
  const [low, high] = [one.low, one.high].map((value) => number(Number(value.toPrecision(3))));
  context.save();
  context.fillStyle = shape.colours.soft;
  context.font = `10px ${css("--sans")}`;
  // on a narrow screen the unit alone, rather than half a range
  const fits = [`${low} to ${high}${unitAfter(c)}`, unitOf(c)].find((text) => context.measureText(text).width <= shape.left - 10);
  if (fits) context.fillText(fits, shape.left - 8, middle + 8);
  context.restore();
}
function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  while (text && context.measureText(`${text}\u2026`).width > width) text = text.slice(0, -1);
  return `${text}\u2026`;
}

// Many channels: one image of the values, one of the evidence.
function drawImages(context, detail, ready, shape) {
  const tall = rowHeight(detail), n = detail.channels.length;
  let top = 18;
  title(context, "values, from the lowest to the highest of each channel", shape, 9);
  const step = detail.n_frames;
  ready.curves.forEach((one, k) => {
    context.save();
    clip(context, shape, top + k * tall, tall);
    const points = one.codes ? one.codes.length : one.length;
    for (let j = 0; j < points; j++) {
      const code = one.codes ? one.codes[j] : one.charCodeAt(j) * 8;
      if (code === 255 && one.codes) continue;
      context.fillStyle = grey((code % 255) / 254);
      const from = shape.x((j * step) / points);
      context.fillRect(from, top + k * tall, shape.x(((j + 1) * step) / points) - from + 0.5, tall + 0.5);
    }
    context.restore();
  });
  side(context, detail, shape, top, tall);
  top += n * tall;
  if (!ready.evidence) return top;
  title(context, "evidence of each channel and moment", shape, top + 18);
  top += 34;
  ready.evidence.forEach((codes, k) => {
    context.save();
    clip(context, shape, top + k * tall, tall);
    context.fillStyle = shape.colours.card;
    context.fillRect(shape.left, top + k * tall, shape.inner, tall + 0.5);
    shade(context, detail, codes, shape, top + k * tall, tall + 0.5);
    context.restore();
  });
  side(context, detail, shape, top, tall);
  return top + n * tall;
}
const grey = (v) => { const dark = theme() === "dark", t = dark ? v : 1 - v; return `rgb(${Math.round(24 + 221 * t)}, ${Math.round(28 + 214 * t)}, ${Math.round(38 + 196 * t)})`; };
function title(context, text, shape, y) {
  context.fillStyle = shape.colours.soft;
  context.textAlign = "left";
  context.fillText(shortened(context, text, shape.inner), shape.left, y);
}
function side(context, detail, shape, top, tall) {
  const every = Math.ceil(13 / tall);
  context.fillStyle = shape.colours.soft;
  context.textAlign = "right";
  context.save();
  context.font = `10.5px ${css("--sans")}`;
  detail.channels.forEach((c, k) => { if (k % every === 0) context.fillText(shortened(context, data.channels[c], shape.left - 12), shape.left - 8, top + (k + 0.5) * tall); });
  context.restore();
}

// The sum of all channels: blue bars up for the class in question, orange bars down against it.
function drawTimeline(context, detail, shape, top) {
  if (!detail.total) return;
  const largest = Math.max(...detail.total.map(Math.abs), 1e-12), middle = top + TIMELINE / 2;
  context.fillStyle = shape.colours.ink;
  context.textAlign = "right";
  context.fillText(detail.channels.length === 1 ? "sum" : shape.left < 100 ? "all" : "all channels", shape.left - 8, middle);
  context.save();
  clip(context, shape, top, TIMELINE);
  detail.total.forEach((value, k) => {
    const from = shape.x(detail.edges[k]), to = shape.x(detail.edges[k + 1]), tall = (Math.abs(value) / largest) * (TIMELINE / 2 - 2);
    context.fillStyle = `rgba(${value > 0 ? shape.colours.for : shape.colours.against}, .9)`;
    context.fillRect(from, value > 0 ? middle - tall : middle, Math.max(to - from - 0.3, 0.7), tall);
  });
  context.restore();
  context.fillStyle = shape.colours.soft;
  context.fillRect(shape.left, middle - 0.5, shape.inner, 1);
}

function drawMarks(context, shape, top) {
  const scale = rate || 1;
  context.fillStyle = shape.colours.soft;
  context.textAlign = "center";
  for (const t of ticks(view.from / scale, view.to / scale, shape.inner / 90)) {
    if (isText && t < 1) continue;
    const x = shape.x(isText ? t - 0.5 : t * scale);
    context.fillRect(x, top, 1, 4);
    if (x < shape.left + shape.inner - 16) context.fillText(number(t), x, top + 12);
  }
  context.textAlign = "right";
  context.fillText(unit, shape.left - 8, top + 12);
  for (const [frame, style, width] of [[view.hover, shape.colours.soft, 1], [view.head, shape.colours.ink, 2]]) {
    if (frame === null || frame < view.from || frame > view.to) continue;
    context.fillStyle = style;
    context.fillRect(shape.x(frame) - width / 2, 0, width, top);
  }
}

// Zoom, pan, and what is under the pointer.
function bound(from, to) {
  const n = view.detail.n_frames, size = Math.min(Math.max(to - from, Math.min(8, n)), n);
  view.from = Math.max(0, Math.min(from, n - size));
  view.to = view.from + size;
  paintSequence();
}
function zoom(factor, at = (view.from + view.to) / 2) {
  bound(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
const pan = (share) => { const by = share * (view.to - view.from); bound(view.from + by, view.to + by); };
function zoomAround(frame, span = 1) {
  const n = view.detail.n_frames, wide = Math.min(n, Math.max(24, 6 * span));
  const from = Math.max(0, Math.min(frame + span / 2 - wide / 2, n - wide));
  Object.assign(view, { from, to: from + wide, hover: frame + span / 2 });
}

function listen(canvas) {
  let drag = null;
  const frameAt = (event) => view.from + ((event.offsetX - view.shape.left) / view.shape.inner) * (view.to - view.from);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // plain scrolling moves the page
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, frameAt(event));
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoom(0.5, frameAt(event)));
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.offsetX, from: view.from, to: view.to }; });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { drag = null; view.hover = null; paintSequence(); });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const by = ((drag.x - event.offsetX) / view.shape.inner) * (drag.to - drag.from);
      bound(drag.from + by, drag.to + by);
      return;
    }
    view.hover = frameAt(event);
    paintSequence();
    document.getElementById("readout").textContent = reading(event, frameAt(event));
  });
  canvas.addEventListener("keydown", (event) => {
    const act = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), 0: () => zoom(1e9) }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
}

function reading(event, frame) {
  const detail = view.detail, ready = decoded(detail), k = binAt(detail, frame), n = detail.channels.length, tall = rowHeight(detail);
  if (frame < view.from || frame > view.to || frame >= detail.n_frames) return "";
  let row = Math.floor(event.offsetY / tall);
  if (isImage(detail)) row = Math.floor((event.offsetY - 18) / tall) % Math.max(n, 1);
  if (event.offsetY > view.shape.end || row < 0 || row >= n) return detail.total ? `${moment(frame)}: all channels ${signed(detail.total[k])}` : moment(frame);
  const value = valueAt(ready.curves[row], frame, detail), shown = typeof value === "string" ? value : value === null ? "missing" : number(Number(value.toPrecision(3)));
  const evidence = ready.evidence ? `, evidence ${signed(((ready.evidence[row][k] - 128) / 127) * detail.largest)}` : "";
  const c = detail.channels[row];
  return `${moment(frame)}: ${plainName(c)} = ${shown}${value === null ? "" : unitAfter(c)}${evidence}`;
}
