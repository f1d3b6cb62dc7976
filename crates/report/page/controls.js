// Buttons, keys and fingers of a plot.

function button(text, action, label) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", action);
  return element;
}

function group(className, label, ...children) {
  const element = document.createElement("div");
  element.className = className;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", label);
  element.append(...children);
  return element;
}

const MOST_BUTTONS = 4;

/** Chooses a view: buttons when they are few, a list when they are many. */
function viewChoice(plot, current, choose) {
  if (plot.views.length <= MOST_BUTTONS) {
    const buttons = plot.views.map((view, i) => button(view.name, () => choose(i)));
    const mark = (chosen) => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === chosen)));
    mark(current);
    return { element: group("views", `${plot.choice}: ${plot.title}`, ...buttons), mark };
  }
  const select = document.createElement("select");
  plot.views.forEach((view, i) => select.append(new Option(view.name, String(i))));
  select.value = String(current);
  select.addEventListener("change", () => choose(Number(select.value)));
  const label = document.createElement("label");
  label.className = "views";
  label.append(plot.choice + " ", select);
  return { element: label, mark: (chosen) => (select.value = String(chosen)) };
}

/** Series as buttons that switch them on and off, and what marks mean. */
function legend(view, off, toggle) {
  const buttons = view.series.map((series) => {
    const element = button("", () => {
      element.setAttribute("aria-pressed", String(toggle(series.name)));
    });
    element.append(swatch(series), series.name);
    element.setAttribute("aria-pressed", String(!off.has(series.name)));
    return element;
  });
  const element = group("legend", "Series", ...buttons);
  element.append(...markWords(view));
  return element;
}

/** Series of a small chart, which is only looked at. */
function fixedLegend(view) {
  const element = document.createElement("div");
  element.className = "legend fixed";
  for (const series of view.series) {
    const name = document.createElement("span");
    name.append(swatch(series), series.name);
    element.append(name);
  }
  element.append(...markWords(view));
  return element;
}

function markWords(view) {
  const bits = view.series.reduce((all, series) => (series.marks ?? []).reduce((a, b) => a | b, all), 0);
  return MARKS.filter((mark) => bits & mark.bit).map((mark) => {
    const words = document.createElement("span");
    words.className = "mark";
    words.textContent = `${mark.sign} ${mark.words}`;
    return words;
  });
}

/** Keys over a focused chart. */
function bindKeys(element, figure) {
  const keys = {
    ArrowRight: () => figure.step(1),
    ArrowLeft: () => figure.step(-1),
    Home: () => figure.stepTo(0),
    End: () => figure.stepTo(Infinity),
    "+": () => figure.zoom(0.5),
    "=": () => figure.zoom(0.5),
    "-": () => figure.zoom(2),
    0: () => figure.reset(),
    Escape: () => figure.leave(),
  };
  element.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  element.addEventListener("blur", () => figure.leave());
}

/** A finger moves the cursor; up and down still scroll the page. */
function bindTouch(over, figure) {
  const follow = (event) => {
    if (event.pointerType === "mouse" || (event.pointerType === "pen" && event.pressure === 0)) return;
    figure.pointAt(event.clientX - over.getBoundingClientRect().left);
  };
  over.addEventListener("pointerdown", follow);
  over.addEventListener("pointermove", follow);
}
