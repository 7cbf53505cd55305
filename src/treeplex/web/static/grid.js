// The 13 x 13 grid of hand classes: pairs on the diagonal, suited above, offsuit below.
import { el, replace } from "./dom.js";
import { RANKS } from "./cards.js";
import { drawn } from "./palette.js";

export const CLASSES = [];
for (let row = 0; row < 13; row++)
  for (let column = 0; column < 13; column++)
    CLASSES.push(
      row === column
        ? RANKS[row] + RANKS[row]
        : column > row
          ? `${RANKS[row]}${RANKS[column]}s`
          : `${RANKS[column]}${RANKS[row]}o`,
    );

/** The number of hands of a class. */
export function combos(name) {
  return name.length === 2 ? 6 : name[2] === "s" ? 4 : 12;
}

/** The names of a class's hands, suits in the order s h d c. */
export function handsOf(name) {
  const made = [];
  for (const one of "shdc")
    for (const two of "shdc") {
      if (name.length === 2 ? "shdc".indexOf(one) >= "shdc".indexOf(two) : name[2] === "s" ? one !== two : one === two)
        continue;
      made.push(name[0] + one + name[1] + two);
    }
  return made;
}

/** A grid that can be repainted; `on.enter` and `on.press` receive the index of the class. */
export class Grid {
  constructor(label, on = {}) {
    this.cells = CLASSES.map((name, k) =>
      el("div", {
        class: "cell",
        role: "gridcell",
        tabindex: k === 0 ? "0" : "-1",
        "aria-label": name,
        data: { class: name, at: k },
      }),
    );
    const rows = RANKS.split("").map((_, k) =>
      el("div", { role: "row", class: "grid-row" }, this.cells.slice(13 * k, 13 * k + 13)),
    );
    this.element = el("div", { class: "grid", role: "grid", "aria-label": label }, rows);
    this.on = on;
    const at = (event) => {
      const cell = event.target.closest?.(".cell");
      return cell ? Number(cell.dataset.at) : -1;
    };
    this.element.addEventListener("pointerover", (event) => at(event) >= 0 && on.enter?.(at(event), event));
    this.element.addEventListener("pointerdown", (event) => {
      event.target.releasePointerCapture?.(event.pointerId);
      if (at(event) >= 0) on.press?.(at(event), event);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (!event.buttons || !on.drag) return;
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest(".cell");
      if (under && this.element.contains(under)) on.drag(Number(under.dataset.at), event);
    });
    this.element.addEventListener("pointerleave", () => on.leave?.());
    this.element.addEventListener("focusin", (event) => at(event) >= 0 && on.enter?.(at(event), event));
    this.element.addEventListener("keydown", (event) => this.key(event, at(event)));
  }

  key(event, at) {
    if (at < 0) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -13, ArrowDown: 13 };
    if (event.key in steps) {
      event.preventDefault();
      const next = at + steps[event.key];
      const turned = Math.abs(steps[event.key]) === 1 && Math.floor(next / 13) !== Math.floor(at / 13);
      if (next >= 0 && next < 169 && !turned) {
        this.cells[at].setAttribute("tabindex", "-1");
        this.cells[next].setAttribute("tabindex", "0");
        this.cells[next].focus();
      }
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.on.press?.(at, event);
    }
  }

  /** Paints every cell. `look(k)` returns {empty, bars: [{colour, share}], tall, ink, last, note, label, mark, pressed}. */
  paint(look) {
    this.cells.forEach((cell, k) => {
      const seen = look(k);
      const bars = (seen.bars ?? [])
        .filter((bar) => bar.share > 0.0005)
        .map((bar) => el("i", { style: { width: `${100 * bar.share}%`, background: bar.colour } }));
      cell.className = `cell${seen.empty ? " empty" : ""}${seen.pressed ? " pressed" : ""}${seen.mark ? " marked" : ""}`;
      cell.style.setProperty("--on", seen.ink || "inherit");
      cell.style.setProperty(
        "--halo",
        seen.ink && bars.length > 1
          ? seen.ink === "#ffffff"
            ? "rgb(0 0 0 / 0.45)"
            : "rgb(255 255 255 / 0.55)"
          : "transparent",
      );
      cell.style.setProperty("--last", (bars.length > 1 && seen.last) || "inherit");
      cell.setAttribute("aria-label", seen.label ? `${CLASSES[k]}, ${seen.label}` : CLASSES[k]);
      cell.setAttribute("aria-selected", String(Boolean(seen.pressed)));
      replace(
        cell,
        el("span", { class: "bars", style: { height: `${100 * (seen.tall ?? 1)}%` } }, bars),
        el("b", {}, CLASSES[k]),
        seen.note ? el("em", {}, seen.note) : null,
      );
    });
  }
}

/** Bars of a strategy in drawing order. */
export function barsOf(strategy, actions) {
  return drawn(actions).map((k) => ({ colour: actions[k].colour, share: strategy[k] }));
}

/** The most readable ink for the name of a class, which is on its first bars. */
export function inkOf(strategy, actions, tall = 1) {
  if (tall < 0.6) return "";
  let sum = 0;
  for (const k of drawn(actions)) {
    sum += strategy[k];
    if (sum > 0.35) return actions[k].ink;
  }
  return "";
}

/** The most readable ink for the right side of a cell, on its last bars. */
export function lastInk(strategy, actions, tall = 1) {
  const k = strategy.findIndex((share) => share > 0.25);
  return tall > 0.2 && k >= 0 ? actions[k].ink : "";
}

/** The index of the most frequent action. */
export function most(strategy) {
  return strategy.reduce((best, share, k) => (share > strategy[best] ? k : best), 0);
}
