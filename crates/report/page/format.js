// Numbers for people: the same rules as src/unit.rs, which writes the tables.

const THIN = "\u202f";

function threeDigits(value) {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return "–";
  const scientific = Math.abs(nudged(value)).toExponential(2);
  const [mantissa, power] = scientific.split("e");
  const exponent = Number(power);
  const sign = value < 0 ? "−" : "";
  if (exponent > 18 || exponent < -6) return sign + mantissa + "e" + exponent;
  if (exponent > 2) return sign + grouped(Math.abs(nudged(value)));
  return sign + Math.abs(nudged(value)).toFixed(2 - exponent);
}

/** A little larger, so that no number lies between two: there Rust rounds to even, and JavaScript up. */
function nudged(value) {
  return value * (1 + 4 * Number.EPSILON);
}

function grouped(value) {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function trimmed(value, decimals) {
  const text = nudged(value).toFixed(decimals);
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace("-", "−");
}

/** A number and the unit it is shown in. */
function parts(unit, value) {
  switch (unit) {
    case "bytes_per_second":
      return [threeDigits(value / 1e6), "MB/s"];
    case "iops":
      return [threeDigits(value), "IOPS"];
    case "nanoseconds": {
      const size = Math.abs(value);
      if (size < 999.5) return [trimmed(value, 0), "ns"];
      if (size < 999.5e3) return [threeDigits(value / 1e3), "µs"];
      if (size < 999.5e6) return [threeDigits(value / 1e6), "ms"];
      return [threeDigits(value / 1e9), "s"];
    }
    case "percent":
      return [trimmed(value, value > 99 && value < 100 ? 4 : 1), "%"];
    case "block_bytes":
      if (value < 1024) return [trimmed(value, 0), "B"];
      if (value < 1048576) return [trimmed(value / 1024, 1), "KiB"];
      return [trimmed(value / 1048576, 1), "MiB"];
    case "bytes":
      if (value === 0) return ["0", "B"];
      if (value < 999.5e3) return [threeDigits(value / 1e3), "kB"];
      if (value < 999.5e6) return [threeDigits(value / 1e6), "MB"];
      if (value < 999.5e9) return [threeDigits(value / 1e9), "GB"];
      return [threeDigits(value / 1e12), "TB"];
    case "seconds":
      return [trimmed(value, value < 10 ? 2 : 1), "s"];
    case "celsius":
      return [trimmed(value, 1), "°C"];
    case "count":
      if (value >= 0 && Number.isInteger(value)) return [grouped(value), ""];
      return [threeDigits(value), ""];
    default:
      return [threeDigits(value), ""];
  }
}

function show(unit, value) {
  if (value === null || value === undefined) return "–";
  const [number, name] = parts(unit, value);
  return name ? number + THIN + name : number;
}

/** On an axis: no digits that its neighbours don't need. */
function showTick(unit, value) {
  const [number, name] = parts(unit, value);
  const short = /^[\d,]+\.\d*$/.test(number) ? number.replace(/\.?0+$/, "") : number;
  // The axis is labelled with it where there is only one.
  return unit === "bytes_per_second" || unit === "iops" || !name ? short : short + THIN + name;
}

/** x with what it counts: `16 threads`. */
function showX(plot, x) {
  return show(plot.x.unit, x) + (plot.x.suffix ? " " + plot.x.suffix : "");
}

/** The unit of an axis' label, where its ticks don't have it. */
function axisUnit(unit) {
  return { bytes_per_second: ", MB/s", iops: ", IOPS" }[unit] ?? "";
}
