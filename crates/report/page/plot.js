// A figure of the page: one plot, what of it is shown, and where the cursor is.

const announcer = document.getElementById("announce");

class Figure {
  constructor(element, plot) {
    this.element = element;
    this.plot = plot;
    this.viewIndex = plot.first_view;
    this.off = new Set();
    this.index = null;
    this.box = document.createElement("div");
    this.box.className = "canvas";
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "application");
    this.box.setAttribute("aria-roledescription", "chart");
    this.choice =
      plot.views.length > 1 ? viewChoice(plot, this.viewIndex, (i) => this.showView(i)) : null;
    this.tools = group(
      "tools",
      `Tools: ${plot.title}`,
      button("Zoom in", () => this.zoom(0.5)),
      button("Zoom out", () => this.zoom(2)),
      button("Reset", () => this.reset(), "Reset zoom"),
      button("CSV", () => this.saveCsv(), "Download as CSV"),
    );
    this.legend = document.createElement("div");
    const drawing = element.querySelector(".drawing");
    if (plot.compact) drawing.append(this.legend, this.box);
    else drawing.append(...(this.choice ? [this.choice.element] : []), this.box, this.legend, this.tools);
    this.tip = makeTooltip();
    bindKeys(this.box, this);
    this.draw();
    new ResizeObserver(() => this.fit()).observe(this.box);
  }

  get view() {
    return this.plot.views[this.viewIndex];
  }

  size() {
    if (printing) return { width: PRINT_WIDTH, height: PRINT_HEIGHT, k: 2 };
    const width = this.box.clientWidth;
    const [small, large] = this.plot.compact ? [112, 230] : [260, 320];
    return { width: Math.max(width, 200), height: width < 480 ? small : large, k: 1 };
  }

  /** Draws the view anew; the zoom is kept. */
  draw() {
    const window = this.chart && this.zoomed() ? { ...this.chart.scales.x } : null;
    this.chart?.destroy();
    this.index = null;
    this.tip.hidden = true;
    this.chart = makeChart(this.box, this.plot, this.view, this.size(), this.off, (u) => this.moved(u));
    this.chart.over.append(this.tip);
    this.chart.over.addEventListener("dblclick", () => this.reset());
    bindTouch(this.chart.over, this);
    if (window) this.chart.setScale("x", { min: window.min, max: window.max });
    const legendOf = this.plot.compact
      ? fixedLegend(this.view)
      : legend(this.view, this.off, (name) => this.toggle(name));
    this.legend.replaceWith(legendOf);
    this.legend = legendOf;
    const label = `${this.plot.title}, ${this.view.name}, against ${this.plot.x.label.toLowerCase()}.`;
    this.box.setAttribute("aria-label", `${label} Left and right go through the points, plus and minus zoom, 0 resets.`);
  }

  /** To the room that there is. */
  fit() {
    // On paper it has the size that it was drawn with.
    if (printing) return;
    const { width, height } = this.size();
    if (this.chart.width !== width || this.chart.height !== height) this.chart.setSize({ width, height });
  }

  /** In the colours of now. */
  redraw() {
    this.chart.redraw(false, true);
  }

  showView(i) {
    this.viewIndex = i;
    this.choice?.mark(i);
    this.draw();
  }

  /** Switches a series on or off, and says which it is now. */
  toggle(name) {
    const shown = this.off.delete(name) || !this.off.add(name);
    this.view.series.forEach((series, i) => {
      if (series.name === name) this.chart.setSeries(i + 1, { show: shown });
    });
    return shown;
  }

  moved(u) {
    const i = u.cursor.idx;
    if (i === null || i === undefined || u.cursor.left < 0) {
      this.tip.hidden = true;
      return;
    }
    this.index = i;
    fillTooltip(this.tip, u, this.plot, this.view, i);
  }

  /** The cursor to a place, in pixels from the left of the plotting area. */
  pointAt(left) {
    this.chart.setCursor({ left, top: this.chart.over.clientHeight / 2 });
  }

  step(by) {
    if (this.index === null) return this.stepTo(by > 0 ? 0 : Infinity);
    this.stepTo(this.index + by);
  }

  /** The cursor to a point, the nearest that any shown series has; what is there is announced. */
  stepTo(wanted) {
    const last = this.plot.xs.length - 1;
    const by = this.index === null || wanted >= this.index ? 1 : -1;
    const to = Math.max(0, Math.min(last, wanted));
    const has = (i) => this.view.series.some((s, at) => this.chart.series[at + 1].show && s.values[i] !== null);
    let i = to;
    while (i >= 0 && i <= last && !has(i)) i += wanted > last ? -1 : wanted <= 0 ? 1 : by;
    if (i < 0 || i > last) i = to;
    this.index = i;
    const x = this.chart.data[0][i];
    const { min, max } = this.chart.scales.x;
    if (x < min || x > max) {
      const move = x < min ? x - min : x - max;
      this.setWindow(min + move * 1.05, max + move * 1.05);
    }
    this.pointAt(this.chart.valToPos(x, "x"));
    announcer.textContent = sayValues(this.chart, this.plot, this.view, i);
  }

  /** The cursor away. */
  leave() {
    this.chart.setCursor({ left: -10, top: -10 });
    this.tip.hidden = true;
  }

  whole() {
    const [least, most] = [this.chart.data[0][0], this.chart.data[0].at(-1)];
    const room = (most - least || 1) * 0.03;
    return { min: least - room, max: most + room };
  }

  zoomed() {
    const { min, max } = this.whole();
    const now = this.chart.scales.x;
    return now.max - now.min < (max - min) * 0.999;
  }

  /** A window of the x axis, within the whole; at once, so that what follows sees it. */
  setWindow(min, max) {
    const whole = this.whole();
    const window = { min: Math.max(min, whole.min), max: Math.min(max, whole.max) };
    this.chart.batch(() => this.chart.setScale("x", window));
  }

  /** Makes the window `factor` times as wide, around the cursor or the middle. */
  zoom(factor) {
    const { min, max } = this.chart.scales.x;
    const at = this.index === null ? (min + max) / 2 : this.chart.data[0][this.index];
    const middle = Math.min(Math.max(at, min), max);
    const whole = this.whole();
    const half = Math.max(((max - min) / 2) * factor, (whole.max - whole.min) * 0.005);
    this.setWindow(middle - half, middle + half);
    announcer.textContent = `Shown: ${this.windowInWords()}`;
  }

  reset() {
    const { min, max } = this.whole();
    this.setWindow(min, max);
    announcer.textContent = "All is shown";
  }

  windowInWords() {
    const { min, max } = this.chart.scales.x;
    const inside = this.plot.xs.filter((_, i) => this.chart.data[0][i] >= min && this.chart.data[0][i] <= max);
    if (!inside.length) return "no point";
    return `${showX(this.plot, inside[0])} to ${showX(this.plot, inside.at(-1))}`;
  }

  saveCsv() {
    save(csv(this.plot), "text/csv;charset=utf-8", `${this.plot.id.replace(/^plot-/, "")}.csv`);
  }
}
