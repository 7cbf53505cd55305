// Colours of a node on the grid: by action, EV, equity, realisation or reach.
import { barsOf, inkOf, lastInk, most } from "./grid.js";
import { chips, fixed, percent, short } from "./format.js";
import { ink, scale } from "./palette.js";

export const MODES = [
  ["actions", "Actions"],
  ["ev", "EV"],
  ["equity", "Equity"],
  ["realisation", "EQR", "Equity realisation: EV over equity times pot"],
  ["reach", "Reach", "Fraction of the starting range that is still here"],
];

function spread(node) {
  const values = node.classes.filter((each) => each && each.value !== null).map((each) => each.value);
  return [Math.min(...values, 0), Math.max(...values, 1e-9)];
}

/** Returns a function from k to the look of cell k. bars: "normal" fills the cell, "absolute" shows reach as height. */
export function looker(node, actions, mode, bars, pressed) {
  const acts = mode === "actions" && node.classes.some((each) => each?.strategy.length);
  const kind = mode === "actions" && !acts ? "reach" : mode;
  const [low, high] = kind === "ev" ? spread(node) : [0, 1];
  return (k) => {
    const each = node.classes[k];
    if (!each || !(each.reach > 0)) return { empty: true, pressed: pressed(k) };
    const tall = bars === "absolute" ? Math.min(1, each.full) : 1;
    if (acts) {
      const at = most(each.strategy);
      return {
        bars: barsOf(each.strategy, actions),
        tall,
        ink: inkOf(each.strategy, actions, tall),
        last: lastInk(each.strategy, actions, tall),
        note: actions[at].letter,
        mark: each.indifferent,
        pressed: pressed(k),
        label: actions.map((action, i) => `${action.name} ${percent(each.strategy[i])}`).join(", "),
      };
    }
    const value = { ev: each.value, equity: each.equity, realisation: each.realisation, reach: each.full }[kind];
    if (value === null || value === undefined) return { tall: 0, note: "–", pressed: pressed(k) };
    const at = kind === "ev" ? (value - low) / (high - low) : kind === "realisation" ? value / 1.6 : value;
    const colour = scale(at);
    const note = kind === "ev" ? short(value, node.pot) : kind === "realisation" ? fixed(value, 2) : percent(value, 0);
    const label = kind === "ev" ? `EV ${chips(value, node.pot)}` : `${kind} ${note}`;
    return { bars: [{ colour, share: 1 }], tall, ink: tall > 0.6 ? ink(colour) : "", note, label, pressed: pressed(k) };
  };
}
