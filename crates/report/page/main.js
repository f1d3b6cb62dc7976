// Puts it together.

const plots = JSON.parse(document.getElementById("charts").textContent);
const figures = [];
const theme = themeChoice(() => figures.forEach((figure) => figure.redraw()));
const pageTools = document.getElementById("page-tools");
pageTools.append(theme.element, button("Print", () => print()));

for (const plot of plots) {
  const element = document.getElementById(plot.id);
  const figure = new Figure(element, plot);
  figures.push(figure);
  // For who looks at the page from a console, or from a test.
  element.figure = figure;
}
bindPrint(figures, theme);

const place = document.getElementById("download-place");
place?.append(
  button("Download the data (JSON)", () => {
    save(document.getElementById("review").textContent, "application/json", place.dataset.name);
  }),
);
