// The equity graph: both ranges, from the worst hand to the best.
import { choice, el, replace } from "./dom.js";
import { Plot } from "./plot.js";

/** The points of a curve: hands in order of a number, each at its place in the range. */
function curve(node, key) {
  const hands = node.hands
    .filter((each) => each.share > 0 && each[key] !== null)
    .sort((one, two) => one[key] - two[key]);
  const all = hands.reduce((sum, each) => sum + each.share, 0);
  const [x, y] = [[], []];
  let sum = 0;
  for (const each of hands) {
    sum += each.share;
    x.push((100 * (sum - each.share / 2)) / all);
    y.push(key === "equity" ? 100 * each[key] : each[key]);
  }
  return { x, y };
}

export class EquityGraph {
  constructor() {
    this.key = "equity";
    this.element = el("div", { class: "equity" });
    this.plot = new Plot({
      x: "% of the range, worst to best",
      height: 260,
      label: "equity graph of both ranges",
      format: (value) => value.toFixed(1),
    });
  }

  /** nodes: the same node with OOP's and with IP's hands. */
  update(nodes) {
    replace(
      this.element,
      el(
        "div",
        { class: "tools" },
        choice(
          "Curve",
          [
            ["equity", "Equity"],
            ["value", "EV"],
          ],
          this.key,
          (key) => {
            this.key = key;
            this.update(nodes);
          },
        ),
      ),
      this.plot.element,
    );
    this.plot.options.y = this.key === "equity" ? "equity, %" : "EV, chips";
    this.plot.options.range = this.key === "equity" ? { x: [0, 100], y: [0, 100] } : { x: [0, 100] };
    this.plot.draw(nodes.map((node, k) => ({ name: ["OOP", "IP"][k], ...curve(node, this.key) })));
  }

  destroy() {
    this.plot.destroy();
  }
}
