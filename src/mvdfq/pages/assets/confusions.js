// Panel 2: which class was taken for which; a cell lists its sequences.
function confusionsPanel() {
  const matrix = data.confusions.matrix, n = matrix.length;
  const members = matrix.map((row) => row.map(() => []));
  for (let i = 0; i < count; i++) members[sequences.truth[i]][sequences.predicted[i]].push(i);
  const list = h("div", { id: "members", "aria-live": "polite" });
  const cells = h("table", { "aria-label": "Confusions", class: `cells${n > 14 || (n > 4 && longest() > 7) ? " many" : n < 5 ? " few" : ""}` },
    h("thead", {}, h("tr", {}, h("td", {}), data.classes.map((name) => h("th", { scope: "col", title: name }, h("span", {}, name))))),
    h("tbody", {}, matrix.map((row, a) => h("tr", {}, h("th", { scope: "row", title: className(a) }, h("span", {}, className(a))),
      row.map((k, b) => confusionCell(k, a, b, members[a][b], row, list))))));
  panel("confusions", "Confusions", worst(matrix),
    h("div", { class: "grid" },
      h("div", {}, h("p", { class: "small soft" }, "Lines: the true class. Columns: what the classifier says. A number opens its sequences."),
        h("div", { class: "scroll" }, cells), behind(classTable, "Recall and precision of every class")),
      h("div", {}, list)));
  showMembers(list, members, matrix);
}
function longest() { return Math.max(...data.classes.map((name) => name.length)); }

function worst(matrix) {
  const pairs = matrix.flatMap((row, a) => row.map((k, b) => ({ k, a, b }))).filter((one) => one.a !== one.b && one.k);
  const most = Math.max(...pairs.map((one) => one.k), 0), first = pairs.filter((one) => one.k === most);
  if (!most) return "No sequence was confused";
  if (first.length > 1) return `${first.length} pairs of classes are confused most often: ${plural(most, "time")} each`;
  return `${className(first[0].a)} is taken for ${className(first[0].b)} most often: ${plural(most, "time")}`;
}

function confusionCell(k, a, b, members, row, list) {
  const cell = h("td", {});
  if (!k) return cell;
  const share = k / row.reduce((sum, value) => sum + value, 0);
  cell.style.background = `rgba(var(${a === b ? "--for" : "--against"}), ${(a === b ? 0.12 + 0.55 * share : 0.25 + 0.65 * Math.sqrt(share)).toFixed(2)})`;
  cell.style.color = "var(--ink)";
  const label = a === b ? `${k} of class ${className(a)} recognised` : `${k} of class ${className(a)} taken for ${className(b)}`;
  cell.append(h("button", { type: "button", "aria-label": label, "data-cell": `${a},${b}`, onclick: () => {
    document.querySelectorAll("td.on").forEach((other) => other.classList.remove("on"));
    cell.classList.add("on");
    list.replaceChildren(h("h3", {}, label), sequenceList(members, (i) => `${percent(sequences.confidence[i], 0)} sure`));
  } }, String(k)));
  return cell;
}

// Before a cell is chosen: all wrong sequences, the most confident first.
function showMembers(list, members, matrix) {
  const wrong = [];
  for (let i = 0; i < count; i++) if (isWrong(i)) wrong.push(i);
  wrong.sort((a, b) => sequences.confidence[b] - sequences.confidence[a]);
  list.append(h("h3", {}, wrong.length ? `${plural(wrong.length, "wrong sequence")}, the most confident first` : "All sequences are right"),
    sequenceList(wrong, (i) => `${className(sequences.truth[i])} \u2192 ${className(sequences.predicted[i])}, ${percent(sequences.confidence[i], 0)} sure`));
}

const classTable = () => tableOf(["class", "sequences", "recall", "95 % interval", "precision", "F1"],
  data.confusions.classes.map((row, c) => [className(c), row.n, percent(row.recall),
    row.recall_95 ? `${percent(row.recall_95[0])} to ${percent(row.recall_95[1])}` : "unknown", percent(row.precision),
    row.f1 === null ? "unknown" : number(row.f1)]), "Every class");
