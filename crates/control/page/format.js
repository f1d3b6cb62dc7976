// Figures for people.

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, useGrouping: true });

/** A number on an axis. */
const short = (value) => plain.format(value);

/** Three digits of a number, and no more than it has. */
function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const places = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return size >= 1000 ? number.format(value) : value.toFixed(places);
}

const DURATIONS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

function duration(ns, show = digits) {
  const [size, unit] = DURATIONS.find(([size]) => ns >= size * 0.9995) ?? DURATIONS[3];
  return `${show(ns / size)} ${unit}`;
}

const SIZES = [[1e15, "PB"], [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];

function bytes(count) {
  const [size, unit] = SIZES.find(([size]) => count >= size) ?? SIZES[5];
  return `${digits(count / size)} ${unit}`;
}

const rate = (count) => digits(count);
const megabytes = (count) => `${digits(count / 1e6)} MB/s`;
const percent = (share) => `${digits(share * 100)} %`;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const clockTime = (t) => clock.format(t);

/** Seconds in words, for how long a client has been there. */
function since(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}

/** An element with a class and a text. */
function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Sets a text only where it is another: nothing is read out twice. */
function say(where, text) {
  if (where.textContent !== text) where.textContent = text;
}
