// Runouts: a 13 x 4 heat map of the next cards by an action's frequency, EV or equity.
import { attempt, get } from "./api.js";
import { el, replace, select } from "./dom.js";
import { deck } from "./cards.js";
import { chips, percent, short } from "./format.js";
import { dressed, ink, scale } from "./palette.js";
import { change } from "./route.js";

/** The heat map of a run at a line; a click on a card opens the node after it. */
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
    replace(this.element, el("p", { class: "quiet" }, "Evaluating every card …"));
    const result = await attempt(get("runouts", { run, line }));
    if (this.at !== at) return;
    if (!result) {
      this.at = null;
      replace(
        this.element,
        el("p", { class: "quiet" }, "There are no runouts here, because the board is complete from the start."),
      );
      return;
    }
    this.result = result;
    this.pot = result.pot ?? 100;
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
    const { cards } = this.result;
    const actions = dressed(this.result.actions ?? []);
    const who = cards.find((each) => each.to_act)?.to_act?.toUpperCase() ?? "";
    if (!actions.length && /^\d+$/.test(this.what)) this.what = "ev-oop";
    if (Number(this.what) >= actions.length) this.what = "0";
    const options = [
      ...actions.map((action, k) => [String(k), `${who} ${action.short ?? action.name}: frequency`]),
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
    const format = (value) => (money ? chips(value, this.pot) : percent(value));
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
          { "aria-label": "Quantity to show" },
        ),
        el("span", { class: "quiet" }, values.length ? `${format(low)} to ${format(high)}, on average ${format(mean)}` : ""),
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
            title: `${name}: ${format(value)}`,
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
        "Colours range from the lowest to the highest value of these cards. Click a card to open its node.",
      ),
    );
  }
}
