// Elements, numbers, colours, state: what all panels share. Text from files is only ever set as
// text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const sequences = data.sequences;
const count = sequences.name.length;
const detailOf = new Map(data.details.map((detail) => [detail.sequence, detail]));

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const percent = (value, digits = 1) =>
  value === null || value === undefined ? "unknown" : `${(100 * value).toFixed(digits)} %`;
// Shares of a whole as percents that add up to 100: the largest remainders are rounded up.
function percents(values) {
  const exact = values.map((value) => 1000 * value), whole = exact.map(Math.floor);
  const left = Math.round(exact.reduce((sum, value) => sum + value, 0)) - whole.reduce((sum, value) => sum + value, 0);
  const order = exact.map((value, k) => k).sort((a, b) => exact[b] - whole[b] - (exact[a] - whole[a]));
  order.slice(0, left).forEach((k) => { whole[k] += 1; });
  return whole.map((value) => `${(value / 10).toFixed(1)} %`);
}
function number(value) {
  if (value === null || value === undefined) return "missing";
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}
const signed = (value) => (value >= 0 ? "+" : "\u2212") + number(Math.abs(value));
const plural = (n, word, words) => `${n} ${n === 1 ? word : words || word + "s"}`;
// Channels with a unit in their name, such as "speed (m/s)": the name without it, and the unit.
const unitOf = (c) => data.units[c] || "";
const unitAfter = (c) => (unitOf(c) ? ` ${unitOf(c)}` : "");
const plainName = (c) => (unitOf(c) ? data.channels[c].trim().slice(0, -unitOf(c).length - 2).trim() : data.channels[c]);
const className = (c) => data.classes[c];
const isKnown = (i) => sequences.truth[i] !== null;
const isWrong = (i) => isKnown(i) && sequences.truth[i] !== sequences.predicted[i];
const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

// Okabe and Ito's colours, safe for all kinds of colour vision; shapes tell the same once more.
const COLOURS = {
  light: ["#0072b2", "#d98c00", "#009e73", "#cc79a7", "#d55e00", "#3fa0d6", "#5a5f6b"],
  dark: ["#3f9fe0", "#e69f00", "#20c492", "#de94bd", "#f2762a", "#8fd0f5", "#b9bec9"],
};
const theme = () => document.documentElement.dataset.theme;
const colour = (c) => COLOURS[theme()][c % 7];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The outline of a mark around (0, 0): circle, square, triangle, diamond, in turn.
function markPath(c, r) {
  const shape = c % 4;
  if (shape === 0) return `M${r} 0A${r} ${r} 0 1 1 ${-r} 0A${r} ${r} 0 1 1 ${r} 0Z`;
  if (shape === 1) return `M${-r * 0.9} ${-r * 0.9}H${r * 0.9}V${r * 0.9}H${-r * 0.9}Z`;
  if (shape === 2) return `M0 ${-r * 1.15}L${r * 1.1} ${r * 0.85}H${-r * 1.1}Z`;
  return `M0 ${-r * 1.25}L${r * 1.25} 0L0 ${r * 1.25}L${-r * 1.25} 0Z`;
}
function mark(c, size = 12) {
  const path = svg("path", { d: markPath(c, 4.2), class: "mark", "data-class": c });
  path.style.fill = colour(c);
  redraws.push(() => { path.style.fill = colour(c); });
  return svg("svg", { width: size, height: size, viewBox: "-6 -6 12 12", "aria-hidden": "true" }, path);
}

function tip(text, x, y) {
  const box = document.getElementById("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const width = box.offsetWidth;
  box.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 4))}px`;
  box.style.top = `${y > innerHeight - 80 ? y - box.offsetHeight - 10 : y + 14}px`;
}

const titleOf = (i) =>
  `${sequences.name[i]}\n` +
  (isWrong(i) ? `true class ${className(sequences.truth[i])}, predicted ` : "recognised as ") +
  `${className(sequences.predicted[i])}, ${percent(sequences.confidence[i], 0)} sure`;

// A button that opens one sequence; `frame` moves the view to a moment.
const sequenceButton = (i, frame) =>
  h("button", { type: "button", class: "link", "data-sequence": i, onclick: () => openSequence(i, frame) },
    sequences.name[i]);

// A canvas in device pixels; `draw` is given the context, width and height in CSS pixels.
function canvasOf(label, height, draw) {
  const canvas = h("canvas", { role: "img", "aria-label": label, tabindex: "0" });
  const paint = () => {
    const width = canvas.clientWidth || 300, tall = height(width), ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
    canvas.style.height = `${tall}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = `12px ${css("--sans")}`;
    draw(context, width, tall);
  };
  return { canvas, paint };
}

function panel(id, short, title, ...children) {
  const heading = h("h2", { id: `${id}-title` }, title);
  document.getElementById("panels").append(h("a", { href: `#${id}` }, short));
  document.getElementById("main").append(
    h("section", { id, "aria-labelledby": `${id}-title`, tabindex: "-1" }, heading, ...children));
}
