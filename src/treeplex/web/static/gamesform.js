// The form that solves a game of the catalog, with one algorithm or several.
import { live, start } from "./api.js";
import { button, el, field } from "./dom.js";

/** A panel with the form, and below it the jobs that it started. */
export function chooser(list) {
  const defaults = { game: "leduc", algorithm: "cfr+", nash_conv: "0.001", seconds: "10", iterations: "" };
  const game = el("input", { type: "text", value: defaults.game, list: "games", name: "game", autocomplete: "off" });
  const algorithm = el("input", {
    type: "text",
    value: defaults.algorithm,
    list: "algorithms",
    name: "algorithm",
    autocomplete: "off",
  });
  const limits = Object.fromEntries(
    ["nash_conv", "seconds", "iterations"].map((key) => [
      key,
      el("input", { type: "text", inputmode: "decimal", value: defaults[key], name: key, placeholder: "no limit" }),
    ]),
  );
  async function ask(names) {
    for (const name of names) {
      const body = { what: "solve", game: game.value.trim(), algorithm: name };
      for (const [key, input] of Object.entries(limits)) if (input.value.trim()) body[key] = Number(input.value);
      if (!(await start(body))) return;
    }
  }
  return el(
    "section",
    { class: "panel", "aria-label": "Solve a game" },
    el("h2", {}, "Solve a game"),
    el(
      "datalist",
      { id: "games" },
      (live.about?.games ?? []).map((name) => el("option", { value: name })),
    ),
    el(
      "datalist",
      { id: "algorithms" },
      (live.about?.algorithms ?? []).map((name) => el("option", { value: name })),
    ),
    field("Game", game, { hint: "with parameters: goofspiel(cards=4)" }),
    field("Algorithms", algorithm, { hint: "several, to compare them: cfr, cfr+, dcfr" }),
    el(
      "div",
      { class: "fields" },
      field("NashConv", limits.nash_conv),
      field("Seconds", limits.seconds),
      field("Iterations", limits.iterations),
    ),
    el(
      "div",
      { class: "tools" },
      button("Solve", () => ask(split(algorithm.value)), { class: "main" }),
    ),
    list.element,
  );
}

/** Splits "cfr, dcfr(alpha=1,beta=0)" at the commas outside brackets. */
function split(text) {
  return text
    .split(/,(?![^(]*\))/)
    .map((each) => each.trim())
    .filter(Boolean);
}
