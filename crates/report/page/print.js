// On paper: light colours whatever the screen has, charts as wide as a page, tables open but for those of many pages.

/** What A4 and Letter have between their margins, in CSS pixels. */
const PRINT_WIDTH = 640;
let printing = false;

function bindPrint(figures, theme) {
  let opened = [];
  const begin = () => {
    if (printing) return;
    printing = true;
    applyTheme("light");
    opened = [...document.querySelectorAll("details:not([open], .long)")];
    opened.forEach((details) => (details.open = true));
    figures.forEach((figure) => figure.draw());
  };
  const end = () => {
    if (!printing) return;
    printing = false;
    theme.restore();
    opened.forEach((details) => (details.open = false));
    figures.forEach((figure) => figure.draw());
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", (event) => (event.matches ? begin() : end()));
}
