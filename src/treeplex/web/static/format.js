// Numbers as text. The digits are those of the numbers that the server sent.

function plain(text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

/** A number with `digits` decimals; a dash if it is unknown. */
export function fixed(value, digits) {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : plain(value.toFixed(digits));
}

/** Chips, with more decimals for smaller pots. */
export function chips(value, pot = 100) {
  return fixed(value, pot >= 1000 ? 1 : pot >= 20 ? 2 : 3);
}

/** A number that is short enough for a cell of the grid. */
export function short(value, pot = 100) {
  return fixed(value, pot >= 100 ? 0 : pot >= 10 ? 1 : 2);
}

export function percent(value, digits = 1) {
  return value === null || value === undefined ? "–" : `${fixed(100 * value, digits)}%`;
}

/** An amount without needless decimals: 75, 7.5. */
export function amount(value) {
  return value === null || value === undefined ? "–" : String(Math.round(value * 1e6) / 1e6);
}

export function signed(text) {
  return text.startsWith("-") || text === "–" || Number(text) === 0 ? text : `+${text}`;
}

export function count(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
}

export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let k = 0;
  while (value >= 1000 && k < units.length - 1) [value, k] = [value / 1000, k + 1];
  return `${value.toFixed(k === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${units[k]}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 10) return `${value.toFixed(value < 1 ? 2 : 1)} s`;
  if (value < 120) return `${value.toFixed(0)} s`;
  if (value < 7200) return `${(value / 60).toFixed(value < 600 ? 1 : 0)} min`;
  return value < 172800 ? `${(value / 3600).toFixed(1)} h` : `${(value / 86400).toFixed(1)} days`;
}

export function ago(unix) {
  const past = Date.now() / 1000 - unix;
  return past < 5
    ? "now"
    : past < 90
      ? `${past.toFixed(0)} s ago`
      : past < 5400
        ? `${(past / 60).toFixed(0)} min ago`
        : past < 129600
          ? `${(past / 3600).toFixed(0)} h ago`
          : `${(past / 86400).toFixed(0)} days ago`;
}

/** Three significant digits, for exploitability of any size. */
export function precise(value) {
  return value === null || value === undefined
    ? "–"
    : value === 0
      ? "0"
      : Math.abs(value) < 1e-4
        ? value.toExponential(2)
        : Number(value.toPrecision(3)).toString();
}

/** The quality of a run: exploitability in per cent of the pot for a spot, else NashConv. */
export function quality(run) {
  return typeof run.percent_of_pot === "number" ? `${precise(run.percent_of_pot)}% of pot` : precise(run.nash_conv);
}

/** A size in words. */
export function size(text) {
  return text === "a" ? "all-in" : String(text);
}

export const PLAYERS = { oop: "OOP", ip: "IP" };
export const WHO = { oop: "out of position", ip: "in position" };
