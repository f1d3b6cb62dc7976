// A chart over time on a canvas: lines, or areas on top of each other.

const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [1, 2], [5, 2, 1, 2], [3, 5]];
/** A second that is farther from the one before is drawn without a line to it. */
const GAP_MS = 2600;
const ROOM = { left: 58, right: 10, top: 10, bottom: 22 };

const probe = element("span");
probe.hidden = true;
document.body.append(probe);
let colours = new Map();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  colours = new Map();
});

/** What a custom property is now: a canvas knows neither var() nor light-dark(). */
function colour(name) {
  if (!colours.has(name)) {
    probe.style.color = `var(${name})`;
    colours.set(name, getComputedStyle(probe).color);
  }
  return colours.get(name);
}

const styleColour = (style) => colour(`--series-${style % 8}`);

/** A figure with its canvas and its legend; `moved` is told the moment that is pointed at, or null. */
function makeChart(host, title, unit, moved) {
  const figure = element("figure");
  const head = element("div", "head");
  const caption = element("figcaption", "", `${title} `);
  caption.append(element("small", "", unit));
  const choices = element("div");
  head.append(caption, choices);
  const canvas = element("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  const legend = element("ul", "legend");
  figure.append(head, canvas, legend);
  host.append(figure);
  const chart = { title, canvas, legend, choices, caption, span: null };
  const at = (event) => {
    if (!chart.span) return null;
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - ROOM.left) / (box.width - ROOM.left - ROOM.right);
    return share < 0 || share > 1 ? null : chart.span.from + share * (chart.span.to - chart.span.from);
  };
  canvas.addEventListener("pointermove", (event) => moved(at(event)));
  canvas.addEventListener("pointerdown", (event) => moved(at(event)));
  canvas.addEventListener("pointerleave", () => moved(null));
  canvas.addEventListener("blur", () => moved(null));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === "Escape") moved(null);
    if (!step || !chart.span) return;
    event.preventDefault();
    const from = chart.pointed ?? chart.span.to;
    moved(Math.min(chart.span.to, Math.max(chart.span.from, from + step * 1000)));
  });
  return chart;
}

/** Draws series of `{name, style, values, area}` over `times`; `axis` has `show`, and `log` where it is logarithmic. */
function drawChart(chart, times, series, axis, span, pointed) {
  chart.span = span;
  chart.pointed = pointed;
  const { canvas } = chart;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  const box = { left: ROOM.left, top: ROOM.top, right: width - ROOM.right, bottom: height - ROOM.bottom };
  const shown = stacked(series);
  const y = yAxis(shown, axis, box);
  const x = (t) => box.left + ((t - span.from) / (span.to - span.from)) * (box.right - box.left);
  drawGrid(ctx, box, x, y, span, axis);
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top - 2, box.right - box.left, box.bottom - box.top + 4);
  ctx.clip();
  for (const one of [...shown].reverse()) if (one.area) drawArea(ctx, times, one, x, y);
  for (const one of shown) if (!one.area) drawLine(ctx, times, one, x, y);
  ctx.restore();
  const place = placeOf(times, pointed ?? span.to);
  if (pointed !== null && place >= 0) {
    ctx.strokeStyle = colour("--edge");
    ctx.setLineDash([]);
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(Math.round(x(times[place])) + 0.5, box.top);
    ctx.lineTo(Math.round(x(times[place])) + 0.5, box.bottom);
    ctx.stroke();
  }
  writeLegend(chart, series, axis, place);
}

/** The last second that is not after a moment. */
function placeOf(times, t) {
  let place = -1;
  for (let i = 0; i < times.length && times[i] <= t + 500; i++) place = i;
  return place;
}

/** Areas stand on those before them. */
function stacked(series) {
  let floor = null;
  return series.map((one) => {
    if (!one.area) return one;
    const below = floor;
    const top = one.values.map((value, i) => (value ?? 0) + (below ? below[i] : 0));
    floor = top;
    return { ...one, below, values: one.values.map((value, i) => (value === null ? null : top[i])) };
  });
}

/** The axis: where a value stands, and its ticks. */
function yAxis(series, axis, box) {
  let [least, most] = [Infinity, 0];
  for (const { values } of series) {
    for (const value of values) {
      if (value === null || value === undefined) continue;
      if (value > most) most = value;
      if (value > 0 && value < least) least = value;
    }
  }
  if (axis.log) {
    const from = least === Infinity ? 1e3 : 10 ** Math.floor(Math.log10(least));
    const to = Math.max(from * 10, most > 0 ? 10 ** Math.ceil(Math.log10(most)) : 0);
    const ticks = [];
    for (let tick = from; tick <= to * 1.01; tick *= 10) ticks.push(tick);
    const span = Math.log(to / from);
    const at = (value) => box.bottom - (Math.log(Math.max(value, from) / from) / span) * (box.bottom - box.top);
    return { at, ticks: ticks.filter((_, i) => ticks.length < 7 || i % 2 === 0) };
  }
  const step = niceStep((most || axis.atLeast || 1) / 4);
  const top = Math.max(step, Math.ceil((most || axis.atLeast || 1) / step) * step);
  const ticks = [];
  for (let tick = 0; tick <= top * 1.001; tick += step) ticks.push(tick);
  return { at: (value) => box.bottom - (value / top) * (box.bottom - box.top), ticks };
}

function niceStep(rough) {
  const size = 10 ** Math.floor(Math.log10(rough));
  return size * [1, 2, 2.5, 5, 10].find((step) => step * size >= rough * 0.999);
}

const STEPS_S = [5, 10, 15, 30, 60, 120, 180, 300];

function drawGrid(ctx, box, x, y, span, axis) {
  ctx.font = "12px system-ui, sans-serif";
  ctx.fillStyle = colour("--soft");
  ctx.strokeStyle = colour("--grid");
  ctx.lineWidth = 1;
  ctx.setLineDash([]);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.beginPath();
  for (const tick of y.ticks) {
    const at = Math.round(y.at(tick)) + 0.5;
    ctx.moveTo(box.left, at);
    ctx.lineTo(box.right, at);
    ctx.fillText(axis.tick(tick), box.left - 6, at);
  }
  const seconds = (span.to - span.from) / 1000;
  const most = Math.max(2, Math.floor((box.right - box.left) / 80));
  const step = 1000 * (STEPS_S.find((step) => seconds / step <= most) ?? 300);
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (let t = Math.ceil(span.from / step) * step; t <= span.to; t += step) {
    const at = Math.round(x(t)) + 0.5;
    ctx.moveTo(at, box.top);
    ctx.lineTo(at, box.bottom);
    const text = clockTime(t);
    const half = ctx.measureText(text).width / 2;
    if (at + half <= box.right + ROOM.right) ctx.fillText(text, at, box.bottom + 6);
  }
  ctx.stroke();
}

/** Calls `run` with the places of each piece of a series without gaps. */
function eachRun(times, values, run) {
  let places = [];
  values.forEach((value, i) => {
    const breaks = value === null || value === undefined || (i > 0 && times[i] - times[i - 1] > GAP_MS);
    if (breaks && places.length) {
      run(places);
      places = [];
    }
    if (value !== null && value !== undefined) places.push(i);
  });
  if (places.length) run(places);
}

function drawLine(ctx, times, one, x, y) {
  ctx.strokeStyle = ctx.fillStyle = one.soft ? colour("--edge") : styleColour(one.style);
  ctx.lineWidth = one.soft ? 1.25 : 1.75;
  ctx.lineJoin = "round";
  ctx.setLineDash(DASHES[one.style % 8]);
  eachRun(times, one.values, (places) => {
    ctx.beginPath();
    places.forEach((i, n) => ctx[n ? "lineTo" : "moveTo"](x(times[i]), y.at(one.values[i])));
    // A second that stands alone is a point.
    if (places.length === 1) ctx.arc(x(times[places[0]]), y.at(one.values[places[0]]), 1.5, 0, 7);
    ctx.stroke();
  });
}

function drawArea(ctx, times, one, x, y) {
  ctx.fillStyle = styleColour(one.style);
  eachRun(times, one.values, (places) => {
    // A second that stands alone is as wide as a second.
    const ends = places.length === 1 ? [times[places[0]] - 500, times[places[0]] + 500] : null;
    ctx.beginPath();
    const corner = (i, value, t) => ctx.lineTo(x(t ?? times[i]), y.at(value));
    const floor = (i) => (one.below ? one.below[i] : 0);
    const along = ends ? [[places[0], ends[0]], [places[0], ends[1]]] : places.map((i) => [i]);
    along.forEach(([i, t]) => corner(i, one.values[i], t));
    [...along].reverse().forEach(([i, t]) => corner(i, floor(i), t));
    ctx.closePath();
    ctx.fill();
  });
}

/** Names, how they look, and their values at a second. */
function writeLegend(chart, series, axis, place) {
  const { legend } = chart;
  while (legend.children.length > series.length) legend.lastChild.remove();
  const words = [];
  series.forEach((one, at) => {
    let item = legend.children[at];
    if (!item) {
      item = element("li");
      item.append(element("i"), element("span"), element("b"));
      legend.append(item);
    }
    const [mark, name, value] = item.children;
    const tint = one.soft ? colour("--edge") : styleColour(one.style);
    const kind = one.area ? "area" : "";
    if (mark.className !== kind) mark.className = kind;
    mark.style.borderColor = tint;
    mark.style.borderTopStyle = one.style % 8 === 0 ? "solid" : one.style % 2 ? "dashed" : "dotted";
    mark.style.background = one.area ? tint : "";
    const is = place >= 0 ? one.values[place] : null;
    const text = is === null || is === undefined ? "–" : axis.show(is);
    say(name, one.name);
    say(value, text);
    words.push(`${one.name} ${text}`);
  });
  chart.canvas.setAttribute("aria-label", `${chart.title}: ${words.join(", ") || "nothing yet"}`);
}
