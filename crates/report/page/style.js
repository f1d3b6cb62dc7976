// How series look. Colour is never alone: dashes and markers differ too.

const STYLES = [
  { colour: "--series-1", dash: [], marker: "circle" },
  { colour: "--series-2", dash: [8, 4], marker: "square" },
  { colour: "--series-3", dash: [3, 3], marker: "diamond" },
  { colour: "--series-4", dash: [10, 3, 2, 3], marker: "triangle" },
  { colour: "--series-5", dash: [1, 3], marker: "cross" },
  { colour: "--series-6", dash: [14, 5], marker: "plus" },
];

/** More series than colours: the same colours with the dashes of others. */
function styleOf(series) {
  const round = Math.floor(series.style / STYLES.length);
  const base = STYLES[series.style % STYLES.length];
  const other = STYLES[(series.style + round * 2) % STYLES.length];
  return { colour: base.colour, dash: other.dash, marker: other.marker };
}

const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

/** What a custom property is now: a canvas knows neither var() nor light-dark(). */
function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** Adds a marker around a point to a path. */
function addMarker(path, marker, x, y, r) {
  switch (marker) {
    case "square":
      path.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
      break;
    case "diamond":
      polygon(path, [[x, y - r * 1.25], [x + r * 1.25, y], [x, y + r * 1.25], [x - r * 1.25, y]]);
      break;
    case "triangle":
      polygon(path, [[x, y - r * 1.2], [x + r * 1.15, y + r * 0.9], [x - r * 1.15, y + r * 0.9]]);
      break;
    case "cross":
      stroke(path, [x - r, y - r], [x + r, y + r]);
      stroke(path, [x - r, y + r], [x + r, y - r]);
      break;
    case "plus":
      stroke(path, [x - r * 1.2, y], [x + r * 1.2, y]);
      stroke(path, [x, y - r * 1.2], [x, y + r * 1.2]);
      break;
    default:
      path.moveTo(x + r, y);
      path.arc(x, y, r, 0, 2 * Math.PI);
  }
}

function polygon(path, corners) {
  corners.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
}

function stroke(path, from, to) {
  path.moveTo(...from);
  path.lineTo(...to);
}

const SVG = "http://www.w3.org/2000/svg";

/** A series as it looks, for the legend. */
function swatch(series) {
  const style = styleOf(series);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 34 14");
  svg.setAttribute("width", "34");
  svg.setAttribute("height", "14");
  svg.setAttribute("aria-hidden", "true");
  svg.style.color = `var(${style.colour})`;
  const add = (d, attributes) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    path.setAttribute("stroke", "currentColor");
    for (const [name, value] of Object.entries(attributes)) path.setAttribute(name, value);
    svg.append(path);
  };
  if (!series.dots) add("M1 7H33", { "stroke-width": "2", "stroke-dasharray": style.dash.join(" ") || "none" });
  if (!series.thin) {
    const d = new SvgPath();
    addMarker(d, style.marker, 17, 7, 3.6);
    add(d.d, { fill: series.dots ? "none" : "currentColor", "stroke-width": "1.5" });
  }
  return svg;
}

/** The part of Path2D that markers use, as the text of an SVG path. */
class SvgPath {
  d = "";
  moveTo(x, y) {
    this.d += `M${x} ${y}`;
  }
  lineTo(x, y) {
    this.d += `L${x} ${y}`;
  }
  closePath() {
    this.d += "Z";
  }
  rect(x, y, w, h) {
    this.d += `M${x} ${y}h${w}v${h}h${-w}Z`;
  }
  arc(x, y, r) {
    this.d += `a${r} ${r} 0 1 1 ${-2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0`;
  }
}

/** What marks mean, and how they look; bits as in src/plot.rs. */
const MARKS = [
  { bit: 1, sign: "□", words: "the machine that asked was the limit" },
  { bit: 2, sign: "◌", words: "not steady while it was measured" },
  { bit: 4, sign: "▼", words: "stall" },
];

function marksInWords(bits) {
  return MARKS.filter((mark) => bits & mark.bit).map((mark) => mark.words);
}
