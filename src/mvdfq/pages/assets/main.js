// The theme, the panels in order, and what follows a change of width.
const THEMES = ["system", "light", "dark"];
const systemDark = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = "system";
try { chosenTheme = localStorage.getItem("mvdfq-theme") || "system"; } catch { /* storage may be closed to files */ }

function useTheme(name, printing = false) {
  const dark = name === "dark" || (name === "system" && systemDark.matches);
  document.documentElement.dataset.theme = dark && !printing ? "dark" : "light";
  document.getElementById("theme").textContent = `Theme: ${name}`;
  redraw();
}
document.getElementById("theme").addEventListener("click", () => {
  chosenTheme = THEMES[(THEMES.indexOf(chosenTheme) + 1) % THEMES.length];
  try { localStorage.setItem("mvdfq-theme", chosenTheme); } catch { /* the choice then lasts until the page closes */ }
  useTheme(chosenTheme);
});
systemDark.addEventListener("change", () => useTheme(chosenTheme));
addEventListener("beforeprint", () => useTheme(chosenTheme, true));
addEventListener("afterprint", () => useTheme(chosenTheme));

useTheme(chosenTheme);
// The page of a single sequence has neither a verdict nor a map.
const parts = [["verdict", verdictPanel], ["confusions", confusionsPanel], ["map", mapPanel], ["details", sequencePanel],
  ["matters", mattersPanel], ["class_words", classesPanel], ["trust", trustPanel], ["health", healthPanel]];
if (!data.verdict) titleAlone();
parts.filter(([key]) => data[key]).forEach(([, make]) => make());
document.getElementById("foot").append(`mvdfq ${data.about.version}. `, data.verdict ? "The numbers of this page are in the .json and .csv files beside it." : h("code", {}, data.about.command));
redraw();

let known = innerWidth;
addEventListener("resize", () => { if (innerWidth !== known) { known = innerWidth; redraw(); } });

// The link of the panel in view is marked.
const links = new Map([...document.querySelectorAll("#panels a")].map((link) => [link.getAttribute("href").slice(1), link]));
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    links.forEach((link) => link.removeAttribute("aria-current"));
    links.get(entry.target.id).setAttribute("aria-current", "true");
  }
}, { rootMargin: "-30% 0px -60% 0px" });
document.querySelectorAll("main > section").forEach((section) => watcher.observe(section));
document.documentElement.dataset.ready = "yes";
