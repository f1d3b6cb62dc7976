// The charts of a card, and what each shows of its seconds.

const [READ, WRITE, FLUSH] = [0, 1, 2];
/** Causes that a chart shows by name; the rest is added up. */
const MOST_CAUSES = 7;

const inMegabytes = { show: megabytes, tick: (value) => short(value / 1e6), atLeast: 1e6 };
const inRequests = { show: rate, tick: shortCount, atLeast: 10 };
const inTime = { show: (ns) => duration(ns), tick: (ns) => duration(ns, short) };
const inLogTime = { ...inTime, log: true };

/** A count on an axis. */
function shortCount(count) {
  if (count >= 1e6) return `${short(count / 1e6)} M`;
  return count >= 1e4 ? `${short(count / 1e3)} k` : short(count);
}

/** Buttons of which one is pressed. */
function choice(host, names, chosen) {
  const buttons = names.map((name, i) => {
    const button = element("button", "", name);
    button.type = "button";
    button.addEventListener("click", () => chosen(i));
    host.append(button);
    return button;
  });
  return (now) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === now)));
}

/** All charts; `view` has what was chosen, and `changed` draws anew. */
function makeCharts(host, view, changed) {
  const moved = (t) => {
    if (view.pointed !== t) changed({ pointed: t });
  };
  const make = (title, unit) => makeChart(host, title, unit, moved);
  const charts = {
    throughput: make("Throughput", "MB/s"),
    requests: make("Requests", "each second"),
    latency: make("Latency", "percentiles of each second"),
    causes: make("Where the time goes", "of an average request"),
    bands: make("Free bands", ""),
    flash: make("Written to flash", "MB/s: the host, and collection's pace beside it"),
    amplification: make("Write amplification", "host and collection over host, each second"),
  };
  const kinds = ["reads", "writes", "flushes"];
  const pressed = [charts.latency, charts.causes].map((chart) =>
    choice(chart.choices, kinds, (kind) => changed({ kind })),
  );
  const slow = choice(charts.causes.choices, ["all", "slowest 1 %"], (i) => changed({ slow: i === 1 }));
  const draw = (card, span) => drawCharts(charts, card, view, span);
  return (card, span) => {
    pressed.forEach((press) => press(view.kind));
    slow(view.slow ? 1 : 0);
    draw(card, span);
  };
}

function drawCharts(charts, card, view, span) {
  const rows = card.rows.filter((row) => row.t > span.from - 2000);
  const times = rows.map((row) => row.t);
  const line = (name, style, value) => ({ name, style, values: rows.map(value) });
  const draw = (chart, series, axis) => drawChart(chart, times, series, axis, span, view.pointed);
  draw(
    charts.throughput,
    [line("read", 0, (row) => row.ops[READ].b), line("write", 1, (row) => row.ops[WRITE].b)],
    inMegabytes,
  );
  draw(
    charts.requests,
    ["read", "write", "flush", "trim"].map((name, kind) => line(name, kind, (row) => row.ops[kind].n)),
    inRequests,
  );
  const at = (place) => (row) => row.ops[view.kind].p?.[place] ?? null;
  draw(
    charts.latency,
    [line("half below", 0, at(0)), line("99 %", 1, at(1)), line("99.9 %", 2, at(2)), line("slowest", 3, at(3))],
    inLogTime,
  );
  draw(charts.causes, causes(card, rows, view), inTime);
  const has = card.now.collection.bands > 0;
  for (const name of ["bands", "flash", "amplification"]) charts[name].canvas.parentNode.hidden = !has;
  if (has) drawManagement(charts, card, rows, line, draw);
}

function drawManagement(charts, card, rows, line, draw) {
  const { reserve_bands: reserve, target_free_bands: target } = card.now.collection;
  const soft = (name, style, value) => ({ ...line(name, style, () => value), soft: true });
  draw(
    charts.bands,
    [line("free", 0, (row) => row.free), soft("target", 1, reserve + target), soft("for collection only", 2, reserve)],
    { show: (value) => number.format(value), tick: shortCount, atLeast: 4 },
  );
  const area = (name, style, value) => ({ ...line(name, style, value), area: true });
  draw(
    charts.flash,
    [
      area("host", 0, (row) => row.wrote.host),
      area("collection", 1, (row) => row.wrote.moved),
      area("parity and tables", 5, (row) => row.wrote.other),
    ],
    inMegabytes,
  );
  const amplification = (row) => (row.wrote.host > 0 ? (row.wrote.host + row.wrote.moved) / row.wrote.host : null);
  draw(
    charts.amplification,
    [line("in this second", 0, amplification), { ...soft("since the start", 1, card.now.collection.write_amplification) }],
    { show: digits, tick: short, atLeast: 1 },
  );
}

/** A style for each cause, given when it first matters and kept. */
const styles = new Map();

/** The causes that took most of the time shown, by their order in tables. */
function causes(card, rows, view) {
  const found = new Map();
  const key = view.slow ? "slow" : "why";
  const parts = rows.map((row) => {
    const of = new Map();
    const list = row.ops[view.kind][key] ?? [];
    for (let i = 0; i < list.length; i += 2) {
      of.set(list[i], list[i + 1]);
      found.set(list[i], (found.get(list[i]) ?? 0) + list[i + 1]);
    }
    return of;
  });
  const ranked = [...found].sort((a, b) => b[1] - a[1]).map(([cause]) => cause);
  const named = ranked.slice(0, MOST_CAUSES).sort((a, b) => a - b);
  for (const cause of named) if (!styles.has(cause)) styles.set(cause, styles.size);
  const value = (of, cause) => (of.size ? (of.get(cause) ?? 0) : null);
  const series = named.map((cause) => ({
    name: card.causes[cause],
    style: styles.get(cause),
    area: true,
    values: parts.map((of) => value(of, cause)),
  }));
  const rest = ranked.slice(MOST_CAUSES);
  if (rest.length) {
    const values = parts.map((of) => (of.size ? rest.reduce((sum, cause) => sum + (of.get(cause) ?? 0), 0) : null));
    series.push({ name: "other", style: 5, area: true, values });
  }
  return series;
}
