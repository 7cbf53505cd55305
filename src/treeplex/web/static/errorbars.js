// Certified intervals, drawn as bars from lower to upper bound, with their numbers.
import { el, svg } from "./dom.js";
import { fixed } from "./format.js";

const [WIDTH, ROW, LEFT, RIGHT] = [420, 24, 64, 112];

/** rows: [{name, low, high (null: no bound), kept, title}]. */
export class ErrorBars {
  constructor(title, unit, rows) {
    const known = rows.filter((each) => each.low !== null);
    const top = Math.max(...known.map((each) => (each.high ?? each.low) * (each.high === null ? 1.2 : 1)), 1e-9);
    const wide = WIDTH - LEFT - RIGHT;
    const x = (value) => LEFT + (wide * Math.min(value, top)) / top;
    const height = ROW * rows.length + 26;
    const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${title}, ${unit}` });
    for (let k = 0; k <= 4; k++) {
      const at = (top * k) / 4;
      drawing.append(
        svg("line", { x1: x(at), x2: x(at), y1: 4, y2: height - 20, class: "rule" }),
        svg(
          "text",
          { x: x(at), y: height - 6, "text-anchor": "middle", class: "axis" },
          at === 0 ? "0" : Number(at.toPrecision(2)).toString(),
        ),
      );
    }
    rows.forEach((each, k) => {
      const y = 4 + ROW * (k + 0.5);
      drawing.append(
        svg(
          "text",
          { x: LEFT - 8, y: y + 4, "text-anchor": "end", class: each.kept ? "name kept" : "name" },
          each.kept ? `✓ ${each.name}` : each.name,
        ),
      );
      if (each.low === null) return;
      const end = each.high ?? top;
      drawing.append(
        svg(
          "rect",
          {
            x: x(each.low),
            y: y - 6,
            width: Math.max(2, x(end) - x(each.low)),
            height: 12,
            rx: 2,
            class: `interval ${each.kept ? "kept" : ""} ${each.high === null ? "open" : ""}`,
          },
          each.title ? svg("title", {}, each.title) : null,
        ),
        svg(
          "text",
          { x: WIDTH - RIGHT + 10, y: y + 4, class: "axis" },
          each.high === null ? `${fixed(each.low, 2)} or more` : `${fixed(each.low, 2)} to ${fixed(each.high, 2)}`,
        ),
      );
    });
    this.element = el(
      "figure",
      {},
      el("figcaption", {}, title, el("small", {}, ` ${unit}`)),
      drawing,
      rows.some((each) => each.title)
        ? el("p", { class: "quiet" }, rows.map((each) => `${each.name}: ${each.title}`).join(" · "))
        : null,
    );
  }
}
