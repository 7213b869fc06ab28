// Small charts: bars as lists that screen readers read, axes and lines as SVG.
// Bars of values below 0 lead to the left of the place of 0: a small kernel value is not alike.
function bars(items, shown = (value) => percent(value), bad = () => false) {
  const values = items.map((item) => item.value), low = Math.min(...values, 0), width = Math.max(...values, 0) - low || 1;
  const zero = `linear-gradient(var(--soft), var(--soft)) ${(-100 * low) / width}% 0 / 1px 100% no-repeat`;
  return h("ul", { class: "bars" }, items.map((item) => {
    const bar = h("i", { class: bad(item) ? "bad" : null });
    bar.style.marginLeft = `${(100 * (Math.min(item.value, 0) - low)) / width}%`;
    bar.style.width = `${(100 * Math.abs(item.value)) / width}%`;
    const box = h("div", {}, bar);
    if (low < 0) box.style.background = zero;
    return h("li", {}, h("span", { title: item.name }, item.name), box, h("b", {}, item.text || shown(item.value)));
  }));
}

// The first bars, and the rest in a table.
function longBars(items, most, columns) {
  const box = h("div", {}, bars(items.slice(0, most)));
  if (items.length > most) {
    box.append(behind(() => pagedTable(columns, items.length, (k) => [items[k].name, items[k].text || items[k].value], "All shares"),
      `All ${items.length}`));
  }
  return box;
}

// Round numbers from low to high, about `n` of them.
function ticks(low, high, n = 5) {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

// A picture as wide as its place, drawn again when the width changes.
function fluid(make, most = 560) {
  const box = h("div", {});
  redraws.push(() => {
    box.replaceChildren();
    box.append(make(Math.min(Math.max(box.clientWidth, 240), most)));
  });
  return box;
}

// A picture with both axes; `draw` is given functions from numbers to places.
function plot(label, size, xs, ys, names, draw) {
  const [width, height] = size, left = names.y ? 62 : 44, bottom = 36, top = 10, right = 18;
  const x = (v) => left + ((v - xs[0]) / (xs[1] - xs[0] || 1)) * (width - left - right);
  const y = (v) => height - bottom - ((v - ys[0]) / (ys[1] - ys[0] || 1)) * (height - bottom - top);
  const show = names.format || number;
  const grid = [
    ...ticks(xs[0], xs[1], 5).map((v) => svg("text", { x: x(v), y: height - bottom + 15, "text-anchor": "middle" }, (names.formatX || show)(v))),
    ...ticks(ys[0], ys[1], 4).flatMap((v) => [
      svg("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: "var(--line)" }),
      svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, show(v)),
    ]),
    svg("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }, names.x),
    svg("text", { x: 12, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + height - bottom) / 2})` }, names.y),
  ];
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, width: "100%" },
    svg("title", {}, label), ...grid, ...draw(x, y));
}
const line = (points, attributes) =>
  svg("path", { d: points.map(([a, b], k) => `${k ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join(""), fill: "none", "stroke-width": 2, ...attributes });
