// The hands of a class or of the whole range: frequency and EV of every action, equity, and indifference.
import { button, el, row, table } from "./dom.js";
import { hand } from "./cards.js";
import { barsOf } from "./grid.js";
import { chips, fixed, percent } from "./format.js";

const FEW = 40;
const SORTS = {
  share: (each) => each.share,
  value: (each) => each.value,
  equity: (each) => each.equity,
  gain: (each) => each.gain,
  weighted: (each) => each.share * (each.gain ?? 0),
};

export function bars(strategy, actions) {
  return el(
    "span",
    { class: "strip", "aria-hidden": "true" },
    barsOf(strategy, actions)
      .filter((bar) => bar.share > 0.0005)
      .map((bar) => el("i", { style: { width: `${100 * bar.share}%`, background: bar.colour } })),
  );
}

function both(part, ev, pot) {
  return el("span", { class: "both" }, el("b", {}, percent(part)), el("small", {}, chips(ev, pot)));
}

export function sameEv(node) {
  return `≈ same EV: two or more actions have equal EV within this run's accuracy (${chips(node.tolerance, node.pot)} chips). The mix of such a hand is one of many equally good ones.`;
}

/** The table of hands. `shown` is a class or null; options {sort, all, change(sort), more()}. */
export function handTable(
  node,
  actions,
  shown,
  { sort = "share", all = false, order = () => {}, more = () => {} } = {},
) {
  const acts = node.hands.some((each) => each.strategy.length);
  const gains = node.hands.some((each) => each.gain !== undefined);
  const by = SORTS[sort] ?? SORTS.share;
  const visible = node.hands.filter((each) => (shown ? each.class === shown : each.reach > 0));
  const list = [...visible].sort((one, two) => (by(two) ?? -1e99) - (by(one) ?? -1e99));
  const head = (key, name) =>
    button(name, () => order(key), { class: "sort", "aria-pressed": String(sort === key), title: `Order by ${name}` });
  const columns = [
    { name: "hand" },
    { name: head("share", "share"), number: true, title: "Fraction of all deals that get here" },
    ...(gains ? [] : [{ name: "in range", number: true, title: "How often this hand gets here" }]),
    ...(acts
      ? actions.map((action) => ({
          number: true,
          name: [
            el("i", { class: "swatch", style: { background: action.colour, color: action.ink } }, action.letter),
            ` ${action.short ?? action.name}`,
          ],
          title: `${action.label ?? action.name}: frequency, and EV if the hand plays on well. Hands that choose it less than 1 % of the time then play a best response.`,
        }))
      : []),
    { name: head("value", "EV"), number: true, title: "Chips that the hand wins from the pot from here on" },
    { name: head("equity", "equity"), number: true },
    ...(gains ? [] : [{ name: "EQR", number: true, title: "Equity realisation: EV over equity times pot" }]),
    ...(gains
      ? [
          ...(acts ? [{ name: "best response" }] : []),
          { name: head("gain", "gain"), number: true, title: "Chips that the best response wins above the strategy" },
        ]
      : []),
    { name: "" },
  ];
  const rows = list
    .slice(0, all ? undefined : FEW)
    .map((each) =>
      row(
        [
          [hand(each.hand), each.strategy.length ? bars(each.strategy, actions) : null],
          percent(each.share, 2),
          ...(gains ? [] : [percent(each.reach, 0)]),
          ...(acts
            ? actions.map((_, k) => (each.strategy.length ? both(each.strategy[k], each.ev[k], node.pot) : "–"))
            : []),
          chips(each.value, node.pot),
          percent(each.equity),
          ...(gains ? [] : [fixed(each.realisation, 2)]),
          ...(gains ? [...(acts ? [best(each, actions, node)] : []), chips(each.gain, node.pot)] : []),
          each.indifferent
            ? el("span", { class: "same", title: sameEv(node), "aria-label": "about the same EV" }, "≈")
            : "",
        ],
        columns,
        { data: { hand: each.hand } },
      ),
    );
  const hidden = list.length - rows.length;
  return el(
    "div",
    { class: "hands" },
    list.length
      ? table(shown ? `Hands of ${shown}` : "Hands", columns, rows)
      : el("p", { class: "quiet" }, shown ? `No hand of ${shown} gets here.` : "No hand gets here."),
    hidden > 0 ? button(`show all ${list.length} hands`, more) : null,
    list.some((each) => each.indifferent) ? el("p", { class: "note" }, sameEv(node)) : null,
  );
}

function best(each, actions, node) {
  const action = actions[each.best];
  return action
    ? el(
        "span",
        {},
        el("i", { class: "swatch", style: { background: action.colour, color: action.ink } }, action.letter),
        ` ${action.short ?? action.name} `,
        el("small", {}, chips(each.best_ev, node.pot)),
      )
    : "–";
}

/** One line about a class under the pointer. */
export function classLine(node, actions, k) {
  const each = node.classes[k];
  if (!each) return el("p", { class: "class-line quiet" }, "not in the range here");
  return el(
    "p",
    { class: "class-line" },
    el("strong", {}, each.class),
    ` ${percent(each.share, 2)} of hands`,
    each.strategy.length
      ? actions.map((action, i) =>
          el(
            "span",
            {},
            el("i", { class: "swatch", style: { background: action.colour, color: action.ink } }, action.letter),
            ` ${percent(each.strategy[i])} `,
            el("small", {}, chips(each.ev[i], node.pot)),
          ),
        )
      : null,
    el("span", {}, `EV ${chips(each.value, node.pot)}`),
    el("span", {}, `equity ${percent(each.equity)}`),
    each.indifferent ? el("span", { class: "same" }, "≈ same EV") : null,
  );
}
