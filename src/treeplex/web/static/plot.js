// Curves, drawn by uPlot: they differ in line style and name, not only in hue.
import { el } from "./dom.js";
import { colour } from "./theme.js";

const HUES = ["--line-1", "--line-2", "--line-3", "--line-4"];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 6], [5, 2, 1, 2, 1, 2]];

const BORDERS = ["solid", "dashed", "dotted", "dashed", "dashed", "dotted"];

function power(mark) {
  return Math.abs(Math.log10(mark) - Math.round(Math.log10(mark))) < 1e-6;
}

function powers(_, marks) {
  return marks.map((mark) => (mark !== null && power(mark) ? mark : null));
}

export function strokeOf(k) {
  return { stroke: colour(HUES[k % HUES.length]), dash: DASHES[k % DASHES.length] };
}

/** Joins several curves, each with its own x, over one axis. */
function joined(curves) {
  return globalThis.uPlot.join(curves.map((curve) => [curve.x, curve.y]));
}

/**
 * A plot that follows the width of its box. curves: [{name, x, y, points?, dash?, stroke?}].
 * options: {x, y: axis labels, logX, logY, height, format, range: {y: [0, 1]}}.
 */
export class Plot {
  constructor(options = {}) {
    this.options = options;
    this.element = el("div", { class: "plot", role: "img", "aria-label": options.label ?? "plot" });
    this.curves = [];
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.element);
    this.turned = () => this.draw(this.curves);
    addEventListener("theme", this.turned);
  }

  destroy() {
    this.watch.disconnect();
    removeEventListener("theme", this.turned);
    this.plot?.destroy();
  }

  fit() {
    const width = this.element.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
    else if (!this.plot && width > 0 && this.curves.length) this.draw(this.curves);
  }

  get height() {
    return this.options.height ?? 220;
  }

  draw(curves) {
    this.curves = curves.filter((curve) => curve.x.length);
    this.plot?.destroy();
    this.plot = null;
    this.element.replaceChildren();
    if (!this.curves.length) {
      this.element.append(el("p", { class: "quiet" }, "There is nothing to draw yet."));
      return;
    }
    if (!this.element.clientWidth) return;
    const {
      x = "",
      y = "",
      logX,
      logY,
      format = (value) => String(Number(value?.toPrecision(4))),
      range = {},
    } = this.options;
    const [line, text] = [colour("--rule"), colour("--quiet")];
    const axis = (label, size, log) => ({
      label,
      labelSize: 16,
      size,
      gap: 4,
      labelGap: 0,
      stroke: text,
      font: "11px system-ui",
      labelFont: "11px system-ui",
      grid: { stroke: line, width: 1, ...(log ? { filter: powers } : {}) },
      ticks: { stroke: line, width: 1, size: 4, ...(log ? { filter: powers } : {}) },
      values: (_, marks) => marks.map((mark) => (mark === null || (log && !power(mark)) ? "" : short(mark))),
    });
    this.plot = new globalThis.uPlot(
      {
        width: this.element.clientWidth,
        height: this.height,
        legend: { live: true, markers: { dash: (_, k) => BORDERS[(k - 1) % BORDERS.length] } },
        cursor: { points: { size: 6 } },
        scales: { x: { time: false, distr: logX ? 3 : 1, range: range.x }, y: { distr: logY ? 3 : 1, range: range.y } },
        axes: [axis(x, 30, logX), axis(y, 48, logY)],
        series: [
          { label: x || "x", value: (_, value) => (value === null || value === undefined ? "–" : format(value)) },
          ...this.curves.map((curve, k) => ({
            label: curve.name,
            width: 2,
            spanGaps: true,
            ...strokeOf(k),
            ...(curve.stroke ? { stroke: curve.stroke } : {}),
            ...(curve.dash ? { dash: curve.dash } : {}),
            points: { show: curve.points ?? curve.x.length < 3, size: 6 },
            value: (_, value) => (value === null || value === undefined ? "–" : format(value)),
          })),
        ],
      },
      joined(this.curves),
      this.element,
    );
  }
}

function short(mark) {
  const size = Math.abs(mark);
  if (size >= 1e9) return `${mark / 1e9}G`;
  if (size >= 1e6) return `${mark / 1e6}M`;
  if (size >= 1e4) return `${mark / 1e3}k`;
  return size && size < 1e-4 ? mark.toExponential(0) : String(Number(mark.toPrecision(6)));
}
