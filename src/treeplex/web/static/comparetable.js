// The tables of a comparison: one line per run, and hands ordered by their difference.
import { button, el, row, table } from "./dom.js";
import { hand } from "./cards.js";
import { bars } from "./hands.js";
import { PLAYERS, chips, percent, signed } from "./format.js";

export function classOf(name) {
  const [one, two] = [name[0], name[2]];
  return one === two ? one + two : `${one}${two}${name[1] === name[3] ? "s" : "o"}`;
}

/** The compared number of B minus that of A. */
export function difference(each, key) {
  if (key === "frequency") return each.frequency_difference;
  const [one, two] = each[key];
  return one === null || two === null ? null : two - one;
}

export function weight(each) {
  return Array.isArray(each.share) ? (each.share[0] + each.share[1]) / 2 : each.share;
}

function words(parts, side) {
  return parts
    .map((part, k) => [part, side[k].letter])
    .filter(([part]) => part >= 0.005)
    .sort((one, two) => two[0] - one[0])
    .slice(0, 2)
    .map(([part, letter]) => `${letter} ${percent(part, 0)}`)
    .join(" ");
}

/** A table with one line per run. */
export function summary(comparison, runs, pot, names) {
  const same = names[0].join() === names[1].join();
  const columns = [
    { name: "" },
    { name: `EV of ${PLAYERS[comparison.player]}`, number: true },
    {
      name: "EV loss",
      number: true,
      title: "Average chips that the strategy loses against its own best actions",
    },
    ...(same ? names[0].map((name) => ({ name, number: true })) : [{ name: "actions" }]),
  ];
  const lines = ["A", "B"].map((name, k) =>
    row(
      [
        [el("strong", {}, name), " ", runs[k]],
        chips(comparison.ev[k], pot),
        chips(comparison.regret[k], pot),
        ...(same
          ? (comparison.totals?.[k] ?? []).map((part) => percent(part))
          : [(comparison.totals?.[k] ?? []).map((part, i) => `${names[k][i]} ${percent(part)}`).join(", ")]),
      ],
      columns,
    ),
  );
  const [one, two] = comparison.ev;
  lines.push(
    row(
      [
        "B minus A",
        one === null || two === null ? "–" : signed(chips(two - one, pot)),
        signed(chips(comparison.regret[1] - comparison.regret[0], pot)),
      ],
      columns,
      { class: "sum" },
    ),
  );
  return table("Both runs here", columns, lines);
}

/** A table of hands of one class or all, largest difference first. options: {chosen, all, more}. */
export function hands(comparison, sides, key, pot, { chosen, all, more }) {
  const selected = comparison.rows.filter((each) => !chosen || classOf(each.hand) === chosen);
  const list = [...selected].sort(
    (one, two) => Math.abs(difference(two, key) ?? 0) * weight(two) - Math.abs(difference(one, key) ?? 0) * weight(one),
  );
  const columns = [
    { name: "hand" },
    { name: "share", number: true },
    { name: "EV A", number: true },
    { name: "EV B", number: true },
    { name: "B minus A", number: true },
    { name: "EV loss A", number: true },
    { name: "EV loss B", number: true },
    { name: "strategy A" },
    { name: "strategy B" },
    { name: "" },
  ];
  const lines = list.slice(0, all ? undefined : 40).map((each) => {
    const [one, two] = each.value;
    const close = one !== null && two !== null && Math.abs(two - one) <= (comparison.tolerance ?? 0);
    return row(
      [
        hand(each.hand),
        percent(weight(each), 2),
        chips(one, pot),
        chips(two, pot),
        one === null || two === null ? "–" : signed(chips(two - one, pot)),
        chips(each.regret[0], pot),
        chips(each.regret[1], pot),
        ...each.strategy.map((parts, k) =>
          parts.length
            ? el(
                "span",
                { class: "mix", title: parts.map((part, i) => `${sides[k][i].name} ${percent(part)}`).join(", ") },
                bars(parts, sides[k]),
                el("small", {}, words(parts, sides[k])),
              )
            : "–",
        ),
        close ? el("span", { class: "same", title: "Equal EV within the runs' accuracy" }, "≈") : "",
      ],
      columns,
      { data: { hand: each.hand } },
    );
  });
  return el(
    "div",
    { class: "hands" },
    table("Hands of both runs", columns, lines),
    list.length > lines.length ? button(`show all ${list.length} hands`, more) : null,
    el(
      "p",
      { class: "note" },
      "Ordered by difference times share. ≈ means equal EV within the runs' accuracy.",
    ),
  );
}
