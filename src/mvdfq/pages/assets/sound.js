// The waveform and the spectrogram of the clip of a sequence, above its channels, with the same time.
const BANDS = 64, WINDOW = 512;
function soundPicture(i) {
  const clip = clipOf(i);
  view.sound = null;
  if (!clip || !rate || !window.AudioContext) return null;
  const label = `Waveform and spectrogram of ${sequences.name[i]}; the spectrogram goes from 0 to half the sampling rate, upwards.`;
  const { canvas, paint } = canvasOf(label, () => 130, drawSound);
  view.paintSound = paint;
  const samples = bytes(clip.data.slice(clip.data.indexOf(",") + 1)).buffer;
  new OfflineAudioContext(1, 1, 16000).decodeAudioData(samples).then((sound) => {
    if (view.place !== i) return;
    const wave = sound.getChannelData(0), loudest = wave.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-6);
    view.sound = { start: clip.start, rate: sound.sampleRate, wave: wave.map((value) => value / loudest), columns: spectrogram(wave) };
    paint();
  }).catch(() => canvas.remove());
  return h("div", { class: "strip" }, canvas);
}

function drawSound(context, width, tall) {
  const sound = view.sound, left = gutter(width), inner = width - left - RIGHT;
  context.fillStyle = css("--soft");
  context.textAlign = "right";
  context.textBaseline = "middle";
  [[left < 100 ? "sound" : "waveform", 25], [left < 100 ? "tones" : "spectrogram", 90]].forEach(([text, y]) => context.fillText(shortened(context, text, left - 12), left - 8, y));
  if (!sound) return;
  const second = (x) => (view.from + (x / inner) * (view.to - view.from)) / rate - sound.start;
  for (let x = 0; x < inner; x++) {
    const a = Math.floor(second(x) * sound.rate), b = Math.max(Math.floor(second(x + 1) * sound.rate), a + 1);
    if (a < 0 || a >= sound.wave.length) continue;
    let low = 1, high = -1;
    for (let k = a; k < Math.min(b, sound.wave.length); k++) { low = Math.min(low, sound.wave[k]); high = Math.max(high, sound.wave[k]); }
    context.fillRect(left + x, 25 - 24 * high, 1, Math.max(24 * (high - low), 1));
    const column = sound.columns[Math.min(Math.floor(a / (WINDOW / 2)), sound.columns.length - 1)];
    column.forEach((value, band) => {
      context.fillStyle = grey(value);
      context.fillRect(left + x, 128 - ((band + 1) * 74) / BANDS, 1, 74 / BANDS + 0.5);
    });
    context.fillStyle = css("--soft");
  }
  if (view.head !== null && view.head >= view.from && view.head <= view.to) {
    context.fillStyle = css("--ink");
    context.fillRect(left + ((view.head - view.from) / (view.to - view.from)) * inner - 1, 0, 2, tall);
  }
}

// Columns of levels from 0 to 1, 60 decibels below the loudest to the loudest, low bands first.
function spectrogram(wave) {
  const columns = [], hop = WINDOW / 2;
  let loudest = 1e-12;
  for (let start = 0; start === 0 || start + hop < wave.length; start += hop) {
    const power = powers(wave, start), band = new Float32Array(BANDS), size = WINDOW / 2 / BANDS;
    for (let k = 0; k < WINDOW / 2; k++) band[Math.floor(k / size)] += power[k];
    band.forEach((value) => { loudest = Math.max(loudest, value); });
    columns.push(band);
  }
  return columns.map((band) => band.map((value) => Math.max(0, 1 + Math.log10(Math.max(value, 1e-30) / loudest) / 6)));
}
// The powers of the frequencies of one window, by a fast Fourier transform.
function powers(wave, start) {
  const re = new Float64Array(WINDOW), im = new Float64Array(WINDOW);
  for (let k = 0; k < WINDOW; k++) {
    let place = 0;
    for (let bit = 1, back = WINDOW >> 1; bit < WINDOW; bit <<= 1, back >>= 1) if (k & bit) place |= back;
    re[place] = (wave[start + k] || 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * k) / WINDOW));
  }
  for (let size = 2; size <= WINDOW; size *= 2) {
    for (let from = 0; from < WINDOW; from += size) {
      for (let k = 0; k < size / 2; k++) {
        const angle = (-2 * Math.PI * k) / size, a = from + k, b = a + size / 2;
        const x = re[b] * Math.cos(angle) - im[b] * Math.sin(angle), y = re[b] * Math.sin(angle) + im[b] * Math.cos(angle);
        re[b] = re[a] - x; im[b] = im[a] - y; re[a] += x; im[a] += y;
      }
    }
  }
  return re.map((value, k) => value * value + im[k] * im[k]);
}
