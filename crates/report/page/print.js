// On paper: light colours whatever the screen has, two charts beside each other, questions unfolded; a chart's table stays
// on the screen.

/** Half of what A4 and Letter have between their margins, in CSS pixels, and the height of a chart. */
const PRINT_WIDTH = 310;
const PRINT_HEIGHT = 116;
let printing = false;

function bindPrint(figures, theme, drawIn) {
  let opened = [];
  const begin = () => {
    if (printing) return;
    printing = true;
    applyTheme("light");
    const drawn = [...figures];
    opened = questions().filter((fold) => !fold.open);
    opened.forEach((fold) => {
      fold.open = true;
      drawIn(fold);
    });
    // Those that were in folds are drawn for paper from the start.
    drawn.forEach((figure) => figure.draw());
  };
  const end = () => {
    if (!printing) return;
    printing = false;
    theme.restore();
    opened.forEach((fold) => (fold.open = false));
    figures.forEach((figure) => figure.draw());
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", (event) => (event.matches ? begin() : end()));
}
