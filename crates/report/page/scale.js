// Stretching of axes. uPlot gets values that are stretched already, so that zoom and pan are the same on every axis.

/** Both ways of an x scale, for the x that a plot has. */
function xScale(plot) {
  if (plot.x.scale === "log") {
    // Zero readers has its place, a doubling before the first.
    const least = Math.min(...plot.xs.filter((x) => x > 0));
    const zero = Number.isFinite(least) ? Math.log2(least) - 1 : 0;
    return (x) => (x > 0 ? Math.log2(x) : zero);
  }
  if (plot.x.scale === "nines") return (x) => -Math.log10(Math.max(1 - x / 100, 1e-9));
  return (x) => x;
}

function yForward(scale, y) {
  if (y === null || y === undefined) return null;
  if (scale === "log") return y > 0 ? Math.log10(y) : null;
  return y;
}

function yBackward(scale, y) {
  return scale === "log" ? 10 ** y : y;
}

/** Round numbers between two values, about `count` of them. */
function roundSteps(from, to, count) {
  const rough = (to - from) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) ?? rough;
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9 && ticks.length < 50; i++) {
    ticks.push(i * step);
  }
  return ticks;
}

/** Those that are at least `space` pixels from the one before. */
function spaced(ticks, place, space) {
  const kept = [];
  for (const tick of ticks) {
    if (!kept.length || Math.abs(place(tick) - place(kept[kept.length - 1])) >= space) kept.push(tick);
  }
  return kept;
}

/** x that get a tick between two stretched values, over so many pixels. */
function xTicks(plot, forward, min, max, pixels) {
  const inside = (x) => forward(x) >= min - 1e-9 && forward(x) <= max + 1e-9;
  const place = (x) => ((forward(x) - min) / (max - min)) * pixels;
  if (plot.x.scale === "nines") {
    return [50, 90, 99, 99.9, 99.99, 99.999, 99.9999].filter(inside);
  }
  if (plot.x.scale === "log") return spaced(plot.xs.filter(inside), place, 42);
  return roundSteps(min, max, pixels / 80);
}

/** y that get a tick: on a log axis 1, 2, 5 where there is room. */
function yTicks(scale, min, max, pixels) {
  if (scale !== "log") return roundSteps(min, max, pixels / 40);
  const of = (mantissas) => {
    const ticks = [];
    for (let decade = Math.floor(min); decade <= max; decade++) {
      for (const m of mantissas) {
        const at = decade + Math.log10(m);
        if (at >= min && at <= max) ticks.push(at);
      }
    }
    return ticks;
  };
  const decade = pixels / (max - min);
  if (decade >= 90) {
    const ticks = of([1, 2, 5]);
    // Within less than a decade, round steps of the values themselves say more.
    if (ticks.length >= 3) return ticks;
    return roundSteps(10 ** min, 10 ** max, pixels / 50).filter((v) => v > 0).map(Math.log10);
  }
  return spaced(of([1]), (y) => ((y - min) / (max - min)) * pixels, 24);
}

/** Room around the data of a y axis. */
function yRange(scale, min, max) {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  if (scale !== "log") return [0, max > 0 ? max * 1.08 : 1];
  const lack = Math.max(0.4 - (max - min), 0) / 2;
  const room = (max - min) * 0.06 + 0.02;
  return [min - lack - room, max + lack + room];
}
