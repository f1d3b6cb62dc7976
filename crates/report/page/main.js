// Puts it together.

const plots = JSON.parse(document.getElementById("charts").textContent);
const figures = [];
const theme = themeChoice(() => figures.forEach((figure) => figure.redraw()));
const pageTools = document.getElementById("page-tools");
const waiting = new Map();

/** Draws a chart, unless it is drawn. */
function drawFigure(element, plot) {
  if (element.figure) return;
  const figure = new Figure(element, plot);
  figures.push(figure);
  // For who looks at the page from a console, or from a test.
  element.figure = figure;
}

/** Draws what waits in a fold. */
function drawIn(fold) {
  const draws = waiting.get(fold) ?? [];
  waiting.delete(fold);
  draws.forEach((draw) => draw());
}

for (const plot of plots) {
  const element = document.getElementById(plot.id);
  const fold = element.closest("details.question:not([open])");
  // What nobody sees yet need not hold up what is seen.
  if (fold) waiting.set(fold, [...(waiting.get(fold) ?? []), () => drawFigure(element, plot)]);
  else drawFigure(element, plot);
}
const folds = bindFolds(drawIn);
pageTools.append(theme.element, folds, button("Print", () => print()));
bindPrint(figures, theme, drawIn);

const place = document.getElementById("download-place");
place?.append(
  button("Download the data (JSON)", () => {
    save(document.getElementById("review").textContent, "application/json", place.dataset.name);
  }),
);
