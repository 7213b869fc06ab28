// The frame of every page: the theme, and the mark of the panel in view.
// Functions that draw again when the theme or the width changes.
const redraws = [];
const redraw = () => redraws.forEach((draw) => draw());

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

// The link of the panel in view is marked, once all panels are there.
addEventListener("DOMContentLoaded", () => {
  const links = new Map([...document.querySelectorAll("#panels a")].map((link) => [link.getAttribute("href").slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-30% 0px -60% 0px" });
  document.querySelectorAll("main > section").forEach((section) => { if (links.has(section.id)) watcher.observe(section); });
});
