// A plot's figures as a file (RFC 4180): all views, not only what is shown, in the units that the header names.

const CSV_UNITS = {
  bytes_per_second: ["MB/s", 1e-6],
  iops: ["1/s", 1],
  nanoseconds: ["µs", 1e-3],
  percent: ["%", 1],
  block_bytes: ["bytes", 1],
  bytes: ["bytes", 1],
  seconds: ["s", 1],
  count: ["", 1],
  ratio: ["", 1],
};

function csvHeader(label, unit) {
  const [name] = CSV_UNITS[unit];
  return name ? `${label} (${name})` : label;
}

function csvNumber(value, unit) {
  // Twelve digits: what was measured, without the noise of a multiplication.
  return value === null ? "" : String(Number((value * CSV_UNITS[unit][1]).toPrecision(12)));
}

function csvText(text) {
  // A spreadsheet takes these for the beginning of a formula, and names of devices are anybody's.
  const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv(plot) {
  const lines = plot.views.flatMap((view) => view.series.map((series) => ({ view, series })));
  const marked = lines.filter(({ series }) => series.marks);
  const head = [csvHeader(plot.x.label, plot.x.unit)];
  for (const { view, series } of lines) {
    const name = view.name === series.name || plot.views.length === 1 ? series.name : `${view.name}: ${series.name}`;
    head.push(csvHeader(name, view.axes[series.axis].unit));
  }
  if (marked.length) head.push("Remarks");
  const rows = plot.xs.map((x, i) => {
    const row = [csvNumber(x, plot.x.unit)];
    for (const { view, series } of lines) row.push(csvNumber(series.values[i], view.axes[series.axis].unit));
    if (marked.length) row.push(csvText(remarks(marked, i)));
    return row;
  });
  return [head.map(csvText), ...rows].map((row) => row.join(",") + "\r\n").join("");
}

function remarks(marked, i) {
  const said = new Set();
  const alike = marked.every(({ series }) => series.marks[i] === marked[0].series.marks[i]);
  for (const { series } of marked) {
    for (const words of marksInWords(series.marks[i])) said.add(alike ? words : `${series.name}: ${words}`);
  }
  return [...said].join("; ");
}

/** Offers text as a file. */
function save(text, type, name) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
