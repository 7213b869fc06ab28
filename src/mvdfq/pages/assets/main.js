// The panels in order, and what follows a change of width.
// The page of a single sequence has neither a verdict nor a map.
const parts = [["verdict", verdictPanel], ["confusions", confusionsPanel], ["map", mapPanel], ["details", sequencePanel],
  ["matters", mattersPanel], ["stretches", classesPanel], ["trust", trustPanel], ["health", healthPanel]];
if (!data.verdict) titleAlone();
parts.filter(([key]) => data[key]).forEach(([, make]) => make());
document.getElementById("foot").append(`mvdfq ${data.about.version}. `, data.verdict ? "The numbers of this page are in the .json and .csv files beside it." : h("code", {}, data.about.command));
redraw();

let known = innerWidth;
addEventListener("resize", () => { if (innerWidth !== known) { known = innerWidth; redraw(); } });
document.documentElement.dataset.ready = "yes";
