// A range editor: paint on the grid or type text; the server converts one to the other.
import { post } from "./api.js";
import { button, debounce, el, replace, select } from "./dom.js";
import { CLASSES, Grid, combos, handsOf } from "./grid.js";
import { fixed, percent } from "./format.js";
import { ink, scale } from "./palette.js";

export class RangeEditor {
  constructor(name, text, { presets = {}, change }) {
    this.name = name;
    this.hands = {};
    this.weight = 1;
    this.changed = change;
    this.paintWith = 1;
    this.calls = 0;
    this.grid = new Grid(`${name} range`, {
      press: (k, event) => {
        this.paintWith = event.type === "keydown" || event.buttons === 1 ? this.nextWeight(k) : 0;
        this.paint(k);
      },
      drag: (k) => this.paint(k),
    });
    this.grid.element.classList.add("paint");
    this.text = el("textarea", {
      rows: "3",
      spellcheck: "false",
      "aria-label": `${name} range as text`,
      value: text,
      on: { input: debounce(() => this.parse(), 300) },
    });
    this.message = el("p", { class: "sentence", role: "status" });
    this.count = el("output", { class: "quiet" });
    this.slider = el("input", {
      type: "range",
      min: "5",
      max: "100",
      step: "5",
      value: "100",
      "aria-label": `Weight painted on the ${name} range`,
      on: { input: (event) => this.setWeight(Number(event.target.value) / 100) },
    });
    this.percentage = el("output", {}, "100%");
    const list = Object.entries(presets);
    this.preset = list.length
      ? select(
          [["", "presets …"], ...list.map(([key]) => [key, key])],
          "",
          (key) => {
            if (key) this.set(presets[key]);
            this.preset.value = "";
          },
          { "aria-label": `Presets for the ${name} range` },
        )
      : null;
    this.element = el(
      "section",
      { class: "range-editor" },
      el("header", {}, el("h3", {}, name), this.count),
      this.grid.element,
      el(
        "div",
        { class: "tools" },
        el("span", { class: "slider" }, "weight", this.slider, this.percentage),
        this.preset,
        button("clear", () => {
          this.hands = {};
          this.send();
        }),
      ),
      this.text,
      this.message,
    );
    this.draw();
    this.parse(false);
  }

  setWeight(weight) {
    this.weight = weight;
    this.percentage.textContent = percent(weight, 0);
  }

  average(name) {
    const hands = handsOf(name);
    return hands.reduce((sum, hand) => sum + (this.hands[hand] ?? 0), 0) / hands.length;
  }

  /** The weight to paint: a class that already has the weight is removed. */
  nextWeight(k) {
    return Math.abs(this.average(CLASSES[k]) - this.weight) < 1e-9 ? 0 : this.weight;
  }

  paint(k) {
    for (const hand of handsOf(CLASSES[k])) {
      if (this.paintWith) this.hands[hand] = this.paintWith;
      else delete this.hands[hand];
    }
    this.draw();
    this.later ??= debounce(() => this.send(), 150);
    this.later();
  }

  async send() {
    this.draw();
    const call = ++this.calls;
    if (!Object.keys(this.hands).length) {
      this.text.value = "";
      replace(this.message);
      return this.changed("");
    }
    try {
      const got = await post("range", { hands: this.hands });
      if (call !== this.calls) return;
      this.text.value = got.text;
      replace(this.message);
      this.changed(got.text);
    } catch (error) {
      if (call === this.calls) replace(this.message, error.message);
    }
  }

  set(text) {
    this.text.value = text;
    return this.parse();
  }

  async parse(tell = true) {
    const call = ++this.calls;
    const text = this.text.value;
    if (tell) this.changed(text);
    if (!text.trim()) {
      this.hands = {};
      replace(this.message);
      return this.draw();
    }
    try {
      const got = await post("range", { text });
      if (call !== this.calls) return;
      this.hands = got.hands;
      replace(this.message);
    } catch (error) {
      if (call === this.calls) replace(this.message, error.message);
    }
    this.draw();
  }

  draw() {
    let all = 0;
    this.grid.paint((k) => {
      const weight = this.average(CLASSES[k]);
      all += weight * combos(CLASSES[k]);
      const colour = scale(0.25 + 0.5 * weight);
      return {
        empty: weight <= 0,
        tall: weight > 0 ? weight : 0,
        bars: [{ colour, share: 1 }],
        ink: weight > 0.6 ? ink(colour) : "",
        note: weight > 0 && weight < 0.9995 ? percent(weight, 0) : "",
        label: percent(weight, 0),
      };
    });
    this.count.textContent = `${fixed(all, all % 1 ? 1 : 0)} hands, ${percent(all / 1326)}`;
  }
}
