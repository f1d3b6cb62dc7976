// Light or dark: as the system has it, or as was chosen. The choice is kept where there is storage; a page opened from a
// file often has none.

const THEMES = ["auto", "light", "dark"];

function storedTheme() {
  try {
    return localStorage.getItem("flashrig-theme");
  } catch {
    return null;
  }
}

function keepTheme(theme) {
  try {
    localStorage.setItem("flashrig-theme", theme);
  } catch {
    // Nothing is lost but the memory of it.
  }
}

function applyTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** Buttons for the theme; `changed` is called when colours are others. */
function themeChoice(changed) {
  const stored = storedTheme();
  let current = THEMES.includes(stored) ? stored : "auto";
  const names = { auto: "Auto", light: "Light", dark: "Dark" };
  const buttons = THEMES.map((theme) => button(names[theme], () => choose(theme)));
  const mark = () => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(THEMES[i] === current)));
  const choose = (theme) => {
    current = theme;
    keepTheme(theme);
    applyTheme(theme);
    mark();
    changed();
  };
  applyTheme(current);
  mark();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  return { element: group("views", "Colours", ...buttons), restore: () => applyTheme(current) };
}
