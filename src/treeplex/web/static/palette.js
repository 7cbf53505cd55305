// Colours and letters of actions and values. All pairs of colours stay distinct under simulated colour blindness
// (tests/web/test_palette.py), and a letter or number accompanies every colour.

export const FOLD = "#3b6fb6";
export const PASSIVE = "#74c7b8";
export const BETS = ["#f7df9c", "#eda64a", "#cf5f2a", "#98281f", "#54101c"]; // larger bets are darker
const VALUES = ["#f3f0e0", "#c9dfc9", "#85c3b8", "#4397ad", "#2c6596", "#263a72"]; // low to high
const LESS = ["#f4f4f1", "#f0c68b", "#dd8d3d", "#a8561a"]; // below zero
const MORE = ["#f4f4f1", "#a9c9e6", "#5b93c9", "#245a99"]; // above zero

function channels(colour) {
  return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
}

function between(stops, at) {
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const [one, two] = [channels(stops[low]), channels(stops[low + 1])];
  return `#${one
    .map((each, k) =>
      Math.round(each + (two[k] - each) * (place - low))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** A number from 0 to 1 as a colour. */
export function scale(at) {
  return between(VALUES, at);
}

/** A number from -1 to 1 as a colour: orange below zero, blue above. */
export function balance(at) {
  return at < 0 ? between(LESS, -at) : between(MORE, at);
}

/** The ink for a colour: black on light, white on dark. */
export function ink(colour) {
  const [red, green, blue] = channels(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 118 ? "#14181d" : "#ffffff";
}

/** A shade for one of `count` bets, from light to dark, spread over the scale. */
function shade(place, count) {
  return between(BETS, { 1: [0.5], 2: [0.25, 0.75], 3: [0.12, 0.5, 0.86] }[count]?.[place] ?? place / (count - 1));
}

function kind(action) {
  return (
    /^\s*(fold|check|call|bet|raise|all-?in)/i.exec(action.name)?.[1].toLowerCase().replace("allin", "all-in") ?? "bet"
  );
}

/** Actions with a colour, a letter and its ink: F, X, C, A, or the size in per cent of the pot. */
export function dressed(actions) {
  const bets = actions.filter((action) => !["fold", "check", "call"].includes(kind(action)));
  const made = actions.map((action) => {
    const what = kind(action);
    const colour =
      what === "fold" ? FOLD : what === "check" || what === "call" ? PASSIVE : shade(bets.indexOf(action), bets.length);
    const size = /([\d.]+)\s*%/.exec(action.short ?? action.label ?? "")?.[1];
    const letter =
      { fold: "F", check: "X", call: "C", "all-in": "A" }[what] ??
      (size ? String(Math.round(Number(size))) : (/([\d.]+)/.exec(action.name)?.[1] ?? "B"));
    return { ...action, colour, ink: ink(colour), letter, kind: what };
  });
  const twice = new Set(made.map((each) => each.letter).filter((letter, k, all) => all.indexOf(letter) !== k));
  return made.map((each) =>
    twice.has(each.letter) && each.kind === "raise" ? { ...each, letter: `R${each.letter}` } : each,
  );
}

/** The drawing order of bars: largest bet first, fold last. */
export function drawn(actions) {
  return actions.map((_, k) => k).reverse();
}
