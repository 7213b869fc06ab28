// Tables: the numbers behind every picture, in pages of 25 lines.
const PAGE = 25;

function tableOf(columns, rows, caption) {
  const head = h("tr", {}, columns.map((name) =>
    h("th", { scope: "col", class: typeof (rows[0] || [])[columns.indexOf(name)] === "number" ? "n" : null }, name)));
  const body = rows.map((row) => h("tr", {}, row.map((cell) =>
    h("td", { class: typeof cell === "number" ? "n" : null }, typeof cell === "number" ? number(cell) : cell))));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body)));
}

// A long table: `rowAt(k)` makes line k only when its page is shown.
function pagedTable(columns, total, rowAt, caption) {
  const box = h("div", {}), place = h("div", {}), words = h("span", { class: "small soft", "aria-live": "polite" });
  let page = 0;
  const last = () => Math.max(Math.ceil(total / PAGE) - 1, 0);
  const go = (to) => { page = Math.max(0, Math.min(to, last())); show(); };
  const back = h("button", { type: "button", onclick: () => go(page - 1) }, "Previous");
  const next = h("button", { type: "button", onclick: () => go(page + 1) }, "Next");
  function show() {
    const from = page * PAGE, to = Math.min(from + PAGE, total);
    const rows = [];
    for (let k = from; k < to; k++) rows.push(rowAt(k));
    place.replaceChildren(tableOf(columns, rows, caption));
    words.textContent = `${total ? from + 1 : 0} to ${to} of ${total}`;
    back.disabled = page === 0;
    next.disabled = page === last();
  }
  show();
  box.append(place);
  if (total > PAGE) box.append(h("div", { class: "pages" }, back, next, words));
  box.update = (n) => { total = n; page = 0; show(); };
  return box;
}

// "Table": the numbers of a picture, made when they are first asked for.
function behind(make, label = "Table of these numbers") {
  const box = h("details", {}, h("summary", {}, label));
  box.addEventListener("toggle", () => {
    if (box.open && box.children.length === 1) box.append(make());
  });
  return box;
}

function sequenceList(places, remark) {
  const box = h("div", {});
  let shown = 0;
  const list = h("ul", { class: "plain" });
  const more = h("button", { type: "button", onclick: add }, "Show more");
  function add() {
    for (const i of places.slice(shown, shown + 12)) list.append(h("li", {}, sequenceButton(i), h("span", {}, remark(i))));
    shown = Math.min(shown + 12, places.length);
    more.hidden = shown >= places.length;
    more.textContent = `Show more of ${places.length}`;
  }
  add();
  box.append(list, more);
  return box;
}
