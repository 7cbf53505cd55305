// The answer of a search for sizes as a table and two pictures.
import { ErrorBars } from "./errorbars.js";
import { el, row, table } from "./dom.js";
import { fixed, percent, seconds, size } from "./format.js";

/** Converts chips to per cent of the pot. */
function part(value, pot) {
  return value === null || value === undefined ? null : (100 * value) / pot;
}

function interval(low, high) {
  return low === null
    ? ""
    : high === null || high === undefined
      ? `${fixed(low, 2)} or more`
      : `${fixed(low, 2)} to ${fixed(high, 2)}`;
}

/** The view of a `sizes` job's answer. */
export function answerView(answer) {
  const [low, high] = answer.loss_percent_of_pot;
  const spot = answer.spots[0];
  const columns = [
    { name: "size" },
    { name: "chips", number: true },
    { name: "" },
    { name: "used", number: true, title: "How often the size is bet if all sizes are allowed" },
    { name: "loss if only size, % of pot", number: true },
    { name: "gain if added, %", number: true },
    { name: "loss if removed, %", number: true },
  ];
  const single = answer.spots.length === 1 && Object.keys(answer.menus).length === 1;
  const rows = single
    ? spot.sizes.map((each) =>
        row(
          [
            size(each.size),
            each.chips === null ? "–" : String(each.chips),
            each.kept ? el("span", { class: "tag kept" }, "kept") : "",
            percent(each.frequency),
            each.loss_if_only
              ? interval(...each.loss_if_only.map((value) => part(value, spot.pot)))
              : each.kept
                ? interval(low, high)
                : "",
            each.gain_if_added === null ? "" : `at most ${fixed(part(each.gain_if_added, spot.pot), 2)}`,
            !(each.loss_if_removed > 0) ? "" : `at least ${fixed(part(each.loss_if_removed, spot.pot), 2)}`,
          ],
          columns,
          { class: each.kept ? "kept" : null },
        ),
      )
    : [];
  const counts = answer.by_count ?? [];
  return [
    el("h2", {}, spot.spot ?? "", " ", answer.player?.toUpperCase()),
    Object.entries(answer.menus).map(([name, menu]) =>
      el("p", { class: "lead" }, `${name}: `, el("strong", {}, menu.map(size).join(", "))),
    ),
    el(
      "p",
      {},
      `Loses ${fixed(low, 3)} to ${fixed(high, 3)} % of the pot against an opponent who may use every size. `,
      answer.better_percent_of_pot > 0
        ? `No other menu of this size can be better by more than ${fixed(answer.better_percent_of_pot, 3)} %.`
        : answer.better_percent_of_pot === 0
          ? "No other menu of this size is better."
          : "",
      answer.proved_fewest === true ? " Fewer sizes lose more." : "",
      ` The search took ${seconds(answer.seconds)}.`,
    ),
    single ? table("Sizes", columns, rows) : null,
    el(
      "div",
      { class: "pair" },
      single
        ? new ErrorBars(
            "Loss if it is the only size",
            "% of pot",
            spot.sizes.map((each) => {
              const loss = each.loss_if_only
                ? each.loss_if_only.map((value) => part(value, spot.pot))
                : each.kept && answer.keep === 1
                  ? [low, high]
                  : null;
              return { name: size(each.size), low: loss?.[0] ?? null, high: loss?.[1] ?? null, kept: each.kept };
            }),
          ).element
        : null,
      counts.length
        ? new ErrorBars(
            "Loss by number of sizes",
            "% of pot",
            counts.map((each) => ({
              name: String(each.keep),
              low: each.loss_percent_of_pot[0],
              high: each.loss_percent_of_pot[1],
              kept: each.keep === answer.keep,
              title: each.menu.map(size).join(", "),
            })),
          ).element
        : null,
    ),
  ];
}
