// Runouts: every card that may come as a 13 x 4 heat map of an action's frequency, of EV or of equity.
import { get, tried } from "./api.js";
import { el, replace, select } from "./dom.js";
import { deck } from "./cards.js";
import { chips, percent, short } from "./format.js";
import { dressed, ink, scale } from "./palette.js";
import { change } from "./route.js";

/** A box with the heat map of a run at a line; `pick(card)` on a click, else the node after that card is opened. */
export class Runouts {
  constructor() {
    this.element = el("div", { class: "runouts" });
    this.what = "0";
    this.at = null;
  }

  async update(run, line) {
    const at = `${run}|${line}`;
    if (this.at === at) return;
    this.at = at;
    replace(this.element, el("p", { class: "quiet" }, "Looking at every card …"));
    const found = await tried(get("runouts", { run, line }));
    if (this.at !== at) return;
    if (!found) {
      this.at = null;
      replace(
        this.element,
        el("p", { class: "quiet" }, "There are no runouts here: the board is complete from the start."),
      );
      return;
    }
    this.found = found;
    this.pot = found.pot ?? 100;
    this.paint();
  }

  value(each) {
    if (this.what === "ev-oop") return each.ev?.[0];
    if (this.what === "ev-ip") return each.ev?.[1];
    if (this.what === "eq-oop") return each.equity?.[0];
    if (this.what === "eq-ip") return each.equity?.[1];
    return each.frequencies?.[Number(this.what)];
  }

  paint() {
    const { cards } = this.found;
    const actions = dressed(this.found.actions ?? []);
    const who = cards.find((each) => each.to_act)?.to_act?.toUpperCase() ?? "";
    if (!actions.length && /^\d+$/.test(this.what)) this.what = "ev-oop";
    if (Number(this.what) >= actions.length) this.what = "0";
    const options = [
      ...actions.map((action, k) => [String(k), `${who} ${action.short ?? action.name}: how often`]),
      ["ev-oop", "EV of OOP"],
      ["ev-ip", "EV of IP"],
      ["eq-oop", "Equity of OOP"],
      ["eq-ip", "Equity of IP"],
    ];
    const values = cards.map((each) => this.value(each)).filter((value) => value !== null && value !== undefined);
    const money = this.what.startsWith("ev");
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const often = cards.map((each) =>
      this.value(each) === null || this.value(each) === undefined ? 0 : (each.often ?? 1),
    );
    const mean =
      cards.reduce((sum, each, k) => sum + often[k] * (this.value(each) ?? 0), 0) /
      (often.reduce((sum, part) => sum + part, 0) || 1);
    const told = (value) => (money ? chips(value, this.pot) : percent(value));
    replace(
      this.element,
      el(
        "div",
        { class: "tools" },
        select(
          options,
          this.what,
          (key) => {
            this.what = key;
            this.paint();
          },
          { "aria-label": "What is shown" },
        ),
        el("span", { class: "quiet" }, values.length ? `${told(low)} to ${told(high)}, on average ${told(mean)}` : ""),
      ),
      deck(
        "Cards that may come",
        (name) => {
          const each = cards.find((one) => one.card === name);
          const value = each ? this.value(each) : undefined;
          if (!each) return { disabled: true, text: "" };
          if (value === null || value === undefined) return { text: "–" };
          const colour = scale(high > low ? (value - low) / (high - low) : 0.5);
          return {
            colour,
            ink: ink(colour),
            text: money ? short(value, this.pot) : percent(value, 0),
            title: `${name}: ${told(value)}`,
          };
        },
        (name) => {
          const each = cards.find((one) => one.card === name);
          if (each) change({ line: each.line, class: null });
        },
      ),
      el(
        "p",
        { class: "quiet" },
        "Colours run from the lowest to the highest of these cards. Click a card to go there.",
      ),
    );
  }
}
