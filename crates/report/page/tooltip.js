// The values of all series at the cursor.

function makeTooltip() {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  return tip;
}

/** Fills it with what is at index `i`, and puts it where it covers the least. */
function fillTooltip(tip, u, plot, view, i) {
  tip.replaceChildren();
  const head = document.createElement("strong");
  head.textContent = showX(plot, plot.xs[i]);
  tip.append(head);
  const said = new Set();
  view.series.forEach((series, at) => {
    if (!u.series[at + 1].show || series.values[i] === null) return;
    const line = document.createElement("div");
    const name = document.createElement("span");
    name.textContent = series.name;
    const value = document.createElement("b");
    value.textContent = show(view.axes[series.axis].unit, series.values[i]);
    line.append(swatch(series), name, value);
    tip.append(line);
  });
  for (const words of marksAt(u, view, i)) said.add(words);
  for (const words of said) {
    const line = document.createElement("em");
    line.textContent = words;
    tip.append(line);
  }
  tip.hidden = false;
  const left = u.valToPos(u.data[0][i], "x");
  const width = u.over.clientWidth;
  const beside = left < width / 2 ? left + 14 : left - tip.offsetWidth - 14;
  tip.style.left = `${Math.max(0, Math.min(beside, width - tip.offsetWidth))}px`;
  tip.style.top = "6px";
}

/** What is to be said about index `i`: by the series that are shown, or by the one that says it for all. */
function marksAt(u, view, i) {
  const marked = view.series.map((series, at) => ({ series, at })).filter(({ series }) => series.marks);
  const speaking = marked.length === 1 ? marked : marked.filter(({ at }) => u.series[at + 1].show);
  const named = view.series.length > 1 && marked.length > 1;
  return speaking.flatMap(({ series }) =>
    marksInWords(series.marks[i]).map((words) => (named ? `${series.name}: ${words}` : words)),
  );
}

/** The same in a sentence, for who can't see it. */
function sayValues(u, plot, view, i) {
  const values = view.series
    .filter((series, at) => u.series[at + 1].show && series.values[i] !== null)
    .map((series) => `${series.name} ${show(view.axes[series.axis].unit, series.values[i])}`);
  const said = [...(values.length ? values : ["no value"]), ...marksAt(u, view, i)];
  return `${showX(plot, plot.xs[i])}: ${said.join("; ")}`;
}
