// Bet sizes by street and player, with presets.
import { live } from "./api.js";
import { button, el, field, replace, select } from "./dom.js";
import { STREETS, asDraft, streetOf } from "./spots.js";

function input(spot, changed, street, player, kind) {
  return el("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    value: spot.sizes[street]?.[player]?.[kind] ?? "",
    "aria-label": `${street} ${player.toUpperCase()} ${kind} sizes`,
    placeholder: "none",
    name: `${street}-${player}-${kind}`,
    on: {
      input: (event) => {
        ((spot.sizes[street] ??= {})[player] ??= {})[kind] = event.target.value;
        changed();
      },
    },
  });
}

/** Paints the sizes of a spot into `box`; calls `changed()` after every change. */
export function sizesForm(box, spot, changed) {
  const again = () => {
    sizesForm(box, spot, changed);
    changed();
  };
  const first = Math.max(0, STREETS.indexOf(streetOf(spot.board) ?? "flop"));
  const presets = live.about?.presets?.sizes ?? {};
  const pick = select(
    [["", "presets …"], ...Object.keys(presets).map((key) => [key, key])],
    "",
    (key) => {
      if (!key) return;
      spot.sizes = asDraft({ sizes: presets[key] }).sizes;
      again();
    },
    { "aria-label": "Presets of sizes" },
  );
  replace(
    box,
    el(
      "header",
      {},
      el("h3", {}, "Bet sizes"),
      pick,
      button(
        "IP as OOP",
        () => {
          for (const street of STREETS) if (spot.sizes[street]) spot.sizes[street].ip = { ...spot.sizes[street].oop };
          again();
        },
        { title: "Use the same sizes for both players" },
      ),
    ),
    el(
      "table",
      { class: "sizes" },
      el("caption", { class: "unseen" }, "Bet sizes by street and player"),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["", "OOP bets", "raises", "IP bets", "raises"].map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      el(
        "tbody",
        {},
        STREETS.slice(first).map((street) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, street),
            ["oop", "ip"].flatMap((player) =>
              ["bet", "raise"].map((kind) => el("td", {}, input(spot, changed, street, player, kind))),
            ),
          ),
        ),
      ),
    ),
    el("p", { class: "quiet" }, "33% of the pot · 2.5x the bet · 120c chips · e geometric · a all-in"),
    Object.keys(spot.line_sizes ?? {}).length
      ? el(
          "p",
          { class: "note" },
          `${Object.keys(spot.line_sizes).length} decisions have their own sizes. `,
          button("remove them", () => {
            spot.line_sizes = {};
            again();
          }),
        )
      : null,
    first < 2
      ? el(
          "details",
          { class: "more", open: Object.values(spot.donk_sizes ?? {}).some(Boolean) },
          el("summary", {}, "donk bets"),
          el(
            "div",
            { class: "fields" },
            STREETS.slice(Math.max(1, first + 1)).map((street) =>
              field(
                `${street} donk bets`,
                el("input", {
                  type: "text",
                  value: spot.donk_sizes?.[street] ?? "",
                  placeholder: "empty: same as bets; none: no donk bets",
                  on: {
                    input: (event) => {
                      (spot.donk_sizes ??= {})[street] = event.target.value;
                      changed();
                    },
                  },
                }),
              ),
            ),
          ),
        )
      : null,
  );
}
