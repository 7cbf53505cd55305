// Parts of a node's view: its actions as tiles, both ranges, and buttons for saving.
import { attempt, getText, toast } from "./api.js";
import { side } from "./crumbs.js";
import { button, download, el } from "./dom.js";
import { PLAYERS, WHO, chips, fixed, percent } from "./format.js";
import { change, changed, link } from "./route.js";

/** The actions with frequency and EV, or a line about a chance or terminal node. */
export function legend(node, actions) {
  if (node.kind === "chance")
    return el("p", { class: "lead" }, `A card is dealt. Pick the ${node.board.length === 3 ? "turn" : "river"}.`);
  if (node.kind === "terminal") return el("p", { class: "lead" }, `The hand ends: ${side(node.result)}.`);
  return actions.map((action) =>
    el(
      "a",
      {
        class: "tile",
        href: changed({ line: action.line, class: null }),
        style: { "--colour": action.colour, "--on": action.ink },
      },
      el("i", {}, action.letter),
      el("span", {}, action.label ?? action.name),
      el("b", {}, percent(action.frequency)),
      el("small", {}, `EV ${chips(action.ev, node.pot)}`),
    ),
  );
}

const EQR = "Equity realisation: EV over equity times pot";

/** Hands, EV, equity and realisation of both players. */
export function bothRanges(node) {
  if (!node.ranges) return null;
  return el(
    "table",
    { class: "both-ranges" },
    el("caption", { class: "unseen" }, "Both ranges here"),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["", "hands", "EV", "equity", "EQR"].map((name) =>
          el("th", { scope: "col", class: name ? "number" : null, title: name === "EQR" ? EQR : null }, name),
        ),
      ),
    ),
    el(
      "tbody",
      {},
      ["oop", "ip"].map((player) => {
        const each = node.ranges[player];
        return each
          ? el(
              "tr",
              { class: player === node.to_act ? "acts" : null, "data-player": player },
              el(
                "th",
                { scope: "row" },
                PLAYERS[player],
                el("small", {}, player === node.to_act ? " to act" : ` ${WHO[player]}`),
              ),
              [fixed(each.combos, 1), chips(each.ev, node.pot), percent(each.equity), fixed(each.realisation, 2)].map(
                (text) => el("td", { class: "number" }, text),
              ),
            )
          : null;
      }),
    ),
  );
}

/** Buttons that save a node, and links to other views of it. */
export function saving(node, params) {
  const where = { run: params.run, line: node.line, player: node.player };
  return el(
    "div",
    { class: "tools saving" },
    params.class
      ? button(`${params.class} ×`, () => change({ class: null }, { instead: true }), {
          "aria-label": "Show all hands",
          class: "chip",
        })
      : el("span", { class: "quiet" }, "all hands"),
    button(
      "CSV",
      async () => {
        const text = await attempt(getText("node.csv", where));
        if (text !== undefined)
          download(
            `${params.run.split("/").at(-1)}-${(node.line || "start").replaceAll("/", "-")}.csv`,
            text,
            "text/csv",
          );
      },
      { title: "All hands here as a table" },
    ),
    button(
      "Copy range",
      async () => {
        const text = await attempt(getText("range.txt", where));
        if (text !== undefined) {
          await attempt(navigator.clipboard.writeText(text.trim()));
          toast(`The range of ${PLAYERS[node.player]} here is on the clipboard.`, "note");
        }
      },
      { title: "The range that gets here, as text" },
    ),
    el(
      "a",
      { class: "button", href: link({ view: "spot", run: params.run }), title: "This spot in the editor" },
      "Edit spot",
    ),
    el("a", { class: "button", href: link({ view: "compare", run: params.run, line: node.line }) }, "Compare"),
    el("a", { class: "button", href: link({ view: "train", run: params.run }) }, "Train"),
  );
}
