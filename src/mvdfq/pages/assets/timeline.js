// A click on an event plays it; a line shows the place in the sound. The page declares left and width.
const sound = document.querySelector("audio"), line = document.querySelector("#now");
document.querySelectorAll("[data-start]").forEach((one) => one.addEventListener("click", () => {
  sound.currentTime = Number(one.dataset.start);
  sound.play();
}));
sound.addEventListener("timeupdate", () => {
  const x = left + sound.currentTime / sound.duration * width;
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
});
