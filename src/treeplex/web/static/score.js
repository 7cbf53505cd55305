// The trainer's score: decisions, their EV loss, and the mistakes.
import { button, el, row, table } from "./dom.js";
import { hand } from "./cards.js";
import { fixed, percent } from "./format.js";
import { link } from "./route.js";
import { load, save } from "./store.js";

export const WORDS = { best: "Best", fine: "Fine", inaccurate: "Inaccurate", mistake: "Mistake", unknown: "Not graded" };
export const SIGNS = { best: "✓", fine: "✓", inaccurate: "≈", mistake: "✗", unknown: "–" };
const NONE = { decisions: 0, lost: 0, lost_percent: 0, best: 0, fine: 0, inaccurate: 0, mistake: 0, unknown: 0 };
const MOST_WRONG = 50; // number of wrong decisions in the list

export function score(run) {
  return { ...NONE, wrong: [], ...load(`trained:${run}`, {}) };
}

export function forget(run) {
  save(`trained:${run}`, {});
}

/** Counts an answer. A wrong decision stays in the list until it is answered well. */
export function counted(run, question, marked) {
  const now = score(run);
  if (marked.verdict !== "unknown") now.decisions += 1;
  now.lost += marked.lost;
  now.lost_percent += marked.lost_percent_of_pot;
  now[marked.verdict] = (now[marked.verdict] ?? 0) + 1;
  now.wrong = now.wrong.filter(
    (each) => each.line !== question.line || each.hand !== question.hand || each.player !== question.player,
  );
  if (marked.verdict === "inaccurate" || marked.verdict === "mistake") now.wrong.push(question);
  now.wrong = now.wrong.slice(-MOST_WRONG);
  save(`trained:${run}`, now);
}

/** The panel of statistics. on: {repeat, anew}. */
export function statistics(now, run, repeating, on) {
  const columns = [{ name: "" }, { name: "", number: true }];
  const mean = now.decisions ? now.lost_percent / now.decisions : null;
  return [
    el("h2", {}, "Statistics"),
    table(
      "Statistics",
      columns,
      [
        ["decisions", String(now.decisions)],
        ["loss per decision, % of pot", fixed(mean, 2)],
        ["total loss, chips", fixed(now.lost, 1)],
        ...Object.entries(WORDS).map(([word, name]) => [
          `${SIGNS[word]} ${name.toLowerCase()}`,
          word === "unknown" ? String(now[word]) : now.decisions ? `${now[word]} (${percent(now[word] / now.decisions, 0)})` : "0",
        ]),
      ].map((cells) => row(cells, columns)),
    ),
    el("h3", {}, "Mistakes"),
    now.wrong.length
      ? [
          el(
            "ul",
            { class: "plain wrong" },
            now.wrong
              .slice(-12)
              .reverse()
              .map((each) =>
                el(
                  "li",
                  {},
                  hand(each.hand),
                  " ",
                  el(
                    "a",
                    { href: link({ view: "browse", run: run, line: each.line, player: each.player }) },
                    each.line || "start",
                  ),
                ),
              ),
          ),
          button(
            repeating ? "Deal new hands" : `Repeat ${now.wrong.length === 1 ? "it" : `these ${now.wrong.length}`}`,
            on.repeat,
          ),
        ]
      : el("p", { class: "quiet" }, "There are none yet."),
    now.decisions ? button("Reset statistics", on.anew) : null,
  ];
}
