// Which sizes matter: the answer as a table and two pictures.
import { ErrorBars } from "./errorbars.js";
import { el, row, table } from "./dom.js";
import { fixed, percent, seconds, size } from "./format.js";

/** Chips as per cent of the pot. */
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

/** The answer of a job `sizes`. */
export function told(found) {
  const [low, high] = found.loss_percent_of_pot;
  const spot = found.spots[0];
  const columns = [
    { name: "size" },
    { name: "chips", number: true },
    { name: "" },
    { name: "used", number: true, title: "How often it is bet when all are at hand" },
    { name: "lost if only, % of pot", number: true },
    { name: "gained if added, %", number: true },
    { name: "lost if removed, %", number: true },
  ];
  const single = found.spots.length === 1 && Object.keys(found.menus).length === 1;
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
  const counts = found.by_count ?? [];
  return [
    el("h2", {}, spot.spot ?? "", " ", found.player?.toUpperCase()),
    Object.entries(found.menus).map(([name, menu]) =>
      el("p", { class: "lead" }, `${name}: `, el("strong", {}, menu.map(size).join(", "))),
    ),
    el(
      "p",
      {},
      `Loses ${fixed(low, 3)} to ${fixed(high, 3)} % of the pot to an opponent with every size. `,
      found.better_percent_of_pot > 0
        ? `No other choice of as many can be better by more than ${fixed(found.better_percent_of_pot, 3)} %.`
        : found.better_percent_of_pot === 0
          ? "No other choice of as many is better."
          : "",
      found.proved_fewest === true ? " Fewer sizes lose more." : "",
      ` Took ${seconds(found.seconds)}.`,
    ),
    single ? table("Sizes", columns, rows) : null,
    el(
      "div",
      { class: "pair" },
      single
        ? new ErrorBars(
            "Lost if it were the only size",
            "% of pot",
            spot.sizes.map((each) => {
              const loss = each.loss_if_only
                ? each.loss_if_only.map((value) => part(value, spot.pot))
                : each.kept && found.keep === 1
                  ? [low, high]
                  : null;
              return { name: size(each.size), low: loss?.[0] ?? null, high: loss?.[1] ?? null, kept: each.kept };
            }),
          ).element
        : null,
      counts.length
        ? new ErrorBars(
            "Lost by number of sizes",
            "% of pot",
            counts.map((each) => ({
              name: String(each.keep),
              low: each.loss_percent_of_pot[0],
              high: each.loss_percent_of_pot[1],
              kept: each.keep === found.keep,
              title: each.menu.map(size).join(", "),
            })),
          ).element
        : null,
    ),
  ];
}
