// The line as columns: each decision with all actions and the chosen one marked, and the cards between.
import { el } from "./dom.js";
import { card, cards } from "./cards.js";
import { PLAYERS, amount, percent } from "./format.js";
import { dressed } from "./palette.js";
import { changed } from "./route.js";

const STREET = { 3: "flop", 4: "turn", 5: "river" };

function action(made, taken, key) {
  return el(
    "a",
    {
      href: changed({ line: made.line, class: null }),
      class: taken ? "taken" : null,
      "aria-current": taken ? "true" : null,
      "data-line": made.line,
    },
    el("i", { class: "swatch", style: { background: made.colour, color: made.ink } }, made.letter),
    el("span", {}, made.short && made.kind !== "fold" ? (made.label ?? made.name) : made.name),
    made.frequency !== undefined && made.frequency !== null
      ? el("span", { class: "part" }, percent(made.frequency))
      : null,
    key ? el("kbd", { "aria-hidden": "true" }, key) : null,
  );
}

function decision(player, pot, actions, taken, now) {
  return el(
    "li",
    { class: now ? "now" : null },
    el("header", {}, el("strong", {}, PLAYERS[player]), el("span", {}, `pot ${amount(pot)}`)),
    el(
      "div",
      {},
      dressed(actions).map((each, k) => action(each, k === taken, now && k < 9 ? String(k + 1) : "")),
    ),
  );
}

/** Writes the player in "ip folds" as in the rest of the page. */
export function side(text) {
  return text.replace(/\b(oop|ip)\b/g, (name) => PLAYERS[name]);
}

/** The whole line of a node, with its own actions last. */
export function crumbs(node) {
  const dealt = node.crumbs.filter((crumb) => crumb.kind === "chance").length;
  const start = node.board.slice(0, node.board.length - dealt);
  let length = start.length;
  const list = [
    el(
      "li",
      { class: "dealt" },
      el(
        "a",
        { href: changed({ line: null, class: null }), title: "Go to the start" },
        el("small", {}, STREET[length]),
        cards(start),
      ),
    ),
  ];
  for (const crumb of node.crumbs) {
    if (crumb.kind === "decision") list.push(decision(crumb.player, crumb.pot, crumb.actions, crumb.taken, false));
    else
      list.push(
        el(
          "li",
          { class: "dealt" },
          el(
            "a",
            { href: changed({ line: crumb.line, class: null }), title: "Choose another card" },
            el("small", {}, STREET[++length]),
            card(crumb.card),
          ),
        ),
      );
  }
  if (node.kind === "decision") list.push(decision(node.to_act, node.pot, node.actions, -1, true));
  else if (node.kind === "chance")
    list.push(
      el(
        "li",
        { class: "dealt now" },
        el("span", {}, el("small", {}, STREET[length + 1] ?? "card"), el("span", { class: "card" }, "?")),
      ),
    );
  else list.push(el("li", { class: "dealt now" }, el("span", {}, el("small", {}, "end"), side(node.result))));
  return el("ol", { class: "crumbs", "aria-label": "Line" }, list);
}
