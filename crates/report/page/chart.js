// One view of a plot as a uPlot chart.

// uPlot draws at the screen's resolution, which is poor on paper. So everything is in units of `k`: 1 on the screen; on
// paper 2, and the chart is shown at half its size.

const chartFont = (k) => `${12 * k}px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif`;
const ALL_CLIPPED = 3;

/** A chart in `host`, `size.k` times as large as it is to look. `off` has names of series that are switched off; `moved` is told where the cursor is. */
function makeChart(host, plot, view, size, off, moved) {
  const { k } = size;
  const forward = xScale(plot);
  const xs = plot.xs.map(forward);
  const data = [
    xs,
    ...view.series.map((s) => s.values.map((y) => yForward(view.axes[s.axis].scale, y))),
  ];
  const least = xs[0];
  const most = xs[xs.length - 1];
  const room = (most - least || 1) * 0.03;
  const whole = (min, max) => (min <= least && max >= most ? [least - room, most + room] : [min, max]);
  const options = {
    width: size.width * k,
    height: size.height * k,
    padding: [12 * k, (view.axes.length > 1 ? 4 : 14) * k, 0, 0],
    legend: { show: false },
    // Fingers and pens move the cursor as well: see controls.js.
    cursor: { y: false, drag: { x: true, y: false, dist: 6 }, points: { size: 9, width: 2 } },
    scales: { x: { time: false, range: (_, min, max) => whole(min, max) } },
    axes: [xAxis(plot, forward, k)],
    series: [{}, ...view.series.map((series) => seriesOptions(series, !off.has(series.name), k))],
    hooks: { setCursor: [moved], draw: [(u) => drawMarks(u, view, k)] },
  };
  view.axes.forEach((axis, i) => {
    options.scales[`y${i}`] = { range: (_, min, max) => yRange(axis.scale, min, max) };
    options.axes.push(yAxis(axis, i, k, plot.compact));
  });
  return new uPlot(options, data, host);
}

function xAxis(plot, forward, k) {
  let ticks = [];
  return {
    stroke: () => colour("--ink"),
    font: chartFont(k),
    labelFont: chartFont(k),
    // The caption of a small chart has it.
    label: plot.compact ? undefined : plot.x.label,
    labelSize: plot.compact ? 0 : 18 * k,
    size: 28 * k,
    gap: 4 * k,
    grid: { stroke: () => colour("--grid"), width: k },
    ticks: { stroke: () => colour("--grid"), width: k, size: 5 * k },
    splits: (u, _, min, max) => {
      ticks = xTicks(plot, forward, min, max, u.bbox.width / devicePixelRatio / k);
      return ticks.map(forward);
    },
    values: (_, splits) => splits.map((_, i) => (ticks[i] === undefined ? "" : showTick(plot.x.unit, ticks[i]))),
  };
}

function yAxis(axis, i, k, compact) {
  return {
    scale: `y${i}`,
    side: i ? 1 : 3,
    stroke: () => colour("--ink"),
    font: chartFont(k),
    labelFont: chartFont(k),
    label: compact ? undefined : axis.label + axisUnit(axis.unit),
    labelSize: compact ? 0 : 22 * k,
    labelGap: i ? 4 * k : 0,
    gap: 4 * k,
    // As wide as its longest number needs.
    size: (_, values) => k * Math.max(30, ...(values ?? []).map((v) => v.length * 7 + 15)),
    grid: { show: i === 0, stroke: () => colour("--grid"), width: k },
    ticks: { stroke: () => colour("--grid"), width: k, size: 4 * k },
    splits: (u, _, min, max) => yTicks(axis.scale, min, max, u.bbox.height / devicePixelRatio / k),
    values: (_, splits) => splits.map((y) => showTick(axis.unit, yBackward(axis.scale, y))),
  };
}

function seriesOptions(series, shown, k) {
  const style = styleOf(series);
  const stroke = () => colour(style.colour);
  return {
    label: series.name,
    scale: `y${series.axis}`,
    show: shown,
    stroke,
    width: series.dots ? 0 : (series.thin ? 1.5 : 2) * k,
    dash: style.dash.map((length) => length * k),
    // Devices are not measured at the same x; a line joins the points that there are.
    spanGaps: true,
    paths: series.dots ? () => null : undefined,
    points: {
      show: !series.thin || series.values.filter((y) => y !== null).length === 1,
      stroke,
      // What others measured is hollow.
      fill: series.dots ? () => colour("--paper") : stroke,
      width: 1.5 * k,
      paths: (u, i, from, to) => markerPaths(u, i, from, to, style.marker, k * devicePixelRatio),
    },
  };
}

function markerPaths(u, seriesIndex, from, to, marker, ratio) {
  const path = new Path2D();
  const { scale } = u.series[seriesIndex];
  for (let i = from; i <= to; i++) {
    const y = u.data[seriesIndex][i];
    if (y === null || y === undefined) continue;
    const [left, top] = [u.valToPos(u.data[0][i], "x", true), u.valToPos(y, scale, true)];
    addMarker(path, marker, left, top, 3.6 * ratio);
  }
  // A marker may stand over the border by half, but not on the axes' numbers.
  const clip = new Path2D();
  const over = 5 * ratio;
  clip.rect(u.bbox.left - over, u.bbox.top - over, u.bbox.width + 2 * over, u.bbox.height + 2 * over);
  return { stroke: path, fill: path, clip, flags: ALL_CLIPPED };
}

/** Around points about which something is to be said. */
function drawMarks(u, view, k) {
  const { ctx } = u;
  const ratio = devicePixelRatio * k;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left - 8 * ratio, u.bbox.top - 8 * ratio, u.bbox.width + 16 * ratio, u.bbox.height + 16 * ratio);
  ctx.clip();
  view.series.forEach((series, at) => {
    if (!series.marks || !u.series[at + 1].show) return;
    series.marks.forEach((bits, i) => {
      const y = u.data[at + 1][i];
      const x = u.data[0][i];
      if (!bits || x < u.scales.x.min || x > u.scales.x.max) return;
      const left = u.valToPos(x, "x", true);
      if (bits & 4) drawStall(ctx, u.bbox, left, ratio);
      if (y === null || y === undefined) return;
      const top = u.valToPos(y, u.series[at + 1].scale, true);
      ctx.strokeStyle = colour("--mark");
      ctx.setLineDash([]);
      ctx.lineWidth = 1.5 * ratio;
      const r = 7.5 * ratio;
      if (bits & 1) ctx.strokeRect(left - r, top - r, 2 * r, 2 * r);
      if (bits & 2) {
        ctx.setLineDash([2 * ratio, 2 * ratio]);
        ctx.beginPath();
        ctx.arc(left, top, r * 1.1, 0, 2 * Math.PI);
        ctx.stroke();
      }
    });
  });
  ctx.restore();
}

function drawStall(ctx, box, left, ratio) {
  ctx.strokeStyle = ctx.fillStyle = colour("--bad");
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(left, box.top + 8 * ratio);
  ctx.lineTo(left, box.top + box.height);
  ctx.stroke();
  ctx.beginPath();
  polygon(ctx, [
    [left - 5 * ratio, box.top - 1 * ratio],
    [left + 5 * ratio, box.top - 1 * ratio],
    [left, box.top + 8 * ratio],
  ]);
  ctx.fill();
}
