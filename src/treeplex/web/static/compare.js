// Compares two runs at one node, hand by hand: by EV and EV loss rather than by frequency.
import { attempt, get } from "./api.js";
import { button, choice, el, field, replace, select } from "./dom.js";
import { opened } from "./opening.js";
import { crumbs } from "./crumbs.js";
import { classOf, difference, hands, summary, weight } from "./comparetable.js";
import { CLASSES, Grid } from "./grid.js";
import { percent, quality, short, signed } from "./format.js";
import { balance, dressed, ink } from "./palette.js";
import { change, link } from "./route.js";

const SHOWS = [
  ["value", "EV, B minus A"],
  ["regret", "EV loss, B minus A"],
  ["frequency", "Frequency"],
];

export function mount(root, first) {
  let params = first;
  let [call, comparison, node, runs, all] = [0, null, null, [], false];
  const pickers = el("div", { class: "tools pickers" });
  const top = el("div", { class: "line" });
  const left = el("section", { class: "left" });
  const right = el("section", { class: "right" });
  const grid = new Grid("Difference by class", {
    press: (k) => change({ class: params.class === CLASSES[k] ? null : CLASSES[k] }, { instead: true }),
  });
  const body = el("div", { class: "two" }, left, right);
  root.append(el("div", { class: "browse compare" }, pickers, top, body));

  function pick() {
    const spots = runs.filter((run) => run.kind === "spot" || run.percent_of_pot !== null);
    const options = [
      ["", "choose a run …"],
      ...spots.map((run) => [
        run.run,
        `${run.run} (${run.game}${run.locks ? `, ${run.locks} locked` : ""}, ${quality(run)})`,
      ]),
    ];
    replace(
      pickers,
      field(
        "A",
        select(options, params.run ?? "", (run) => change({ run, line: null }), { name: "run-a" }),
      ),
      field(
        "B",
        select(options, params.other ?? "", (other) => change({ other }), { name: "run-b" }),
      ),
      button("swap", () => change({ run: params.other, other: params.run }), { title: "Swap A and B" }),
    );
  }

  async function read() {
    const now = ++call;
    runs = (await attempt(get("runs")))?.runs ?? [];
    if (now !== call) return;
    pick();
    if (!params.run || !params.other) {
      replace(top);
      replace(
        body,
        el(
          "p",
          { class: "quiet panel" },
          "Choose two runs of the same spot, such as before and after a lock, two algorithms, or two menus.",
        ),
      );
      return;
    }
    try {
      for (const run of [params.run, params.other]) if (!(await opened(run, top, () => now === call))) return;
      const where = { run: params.run, line: params.line ?? "", player: params.player };
      const [one, two] = await Promise.all([get("node", where), get("compare", { ...where, other: params.other })]);
      if (now !== call) return;
      [node, comparison] = [one, two];
      replace(body, left, right);
      paint();
    } catch (error) {
      if (now !== call) return;
      replace(top, el("a", { href: link({ ...params, line: null }) }, "Start of the line"));
      replace(body, el("p", { class: "sentence panel" }, error.message));
    }
  }

  function paint() {
    replace(top, crumbs(node));
    if (node.kind !== "decision")
      return replace(
        body,
        el(
          "p",
          { class: "quiet panel" },
          "No player acts here. Choose a decision of the line above, or a card: ",
          (node.cards ?? [])
            .slice(0, 52)
            .map((each) => [el("a", { href: link({ ...params, line: each.line }) }, each.card), " "]),
        ),
      );
    const key = params.by ?? "value";
    const pot = comparison.pot?.[0] ?? node.pot;
    const names = Array.isArray(comparison.actions[0]) ? comparison.actions : [comparison.actions, comparison.actions];
    const sides = names.map((list) =>
      dressed(list.map((name) => ({ ...(node.actions.find((each) => each.name === name) ?? { name }) }))),
    );
    const parts = new Map();
    for (const each of comparison.rows) {
      const [value, part] = [difference(each, key), weight(each)];
      if (value === null || value === undefined || !(part > 0)) continue;
      const sum = parts.get(classOf(each.hand)) ?? [0, 0];
      parts.set(classOf(each.hand), [sum[0] + part * value, sum[1] + part]);
    }
    const means = new Map([...parts].map(([name, [sum, part]]) => [name, sum / part]));
    const largest = Math.max(
      ...[...means.values()].map(Math.abs),
      key === "frequency" ? 0.01 : (comparison.tolerance ?? 1e-9),
      1e-9,
    );
    grid.paint((k) => {
      const value = means.get(CLASSES[k]);
      if (value === undefined) return { empty: true, pressed: params.class === CLASSES[k] };
      const colour = balance(value / largest);
      const text =
        key === "frequency"
          ? percent(value, 0)
          : signed(largest < 10 ? value.toFixed(largest < 1 ? 2 : 1) : short(value, pot));
      return {
        bars: [{ colour, share: 1 }],
        ink: ink(colour),
        note: /^[-+]?0(\.0*)?$/.test(text) ? "0" : text,
        label: text,
        pressed: params.class === CLASSES[k],
      };
    });
    replace(
      left,
      el(
        "div",
        { class: "controls" },
        choice(
          "Whose hands",
          [
            ["oop", "OOP"],
            ["ip", "IP"],
          ],
          comparison.player,
          (player) => change({ player, class: null }),
        ),
        choice("Compare by", SHOWS, key, (by) => change({ by: by === "value" ? null : by }, { instead: true })),
      ),
      grid.element,
      el(
        "p",
        { class: "note" },
        {
          value: "Blue: the hand's EV is higher in B. Orange: it is higher in A.",
          regret:
            "EV that a hand's strategy loses against its own best action. Orange: A loses more. Blue: B loses more.",
          frequency:
            "Fraction of the strategy that differs. Indifferent hands may differ between correct solutions, so judge by EV.",
        }[key],
      ),
    );
    replace(
      right,
      summary(comparison, [params.run, params.other], pot, names),
      hands(comparison, sides, key, pot, {
        chosen: params.class,
        all,
        more: () => {
          all = true;
          paint();
        },
      }),
    );
    return undefined;
  }

  read();
  return {
    update(next) {
      const same = ["run", "other", "line", "player"].every((key) => next[key] === params[key]);
      params = next;
      if (same && comparison) paint();
      else read();
    },
    destroy() {
      call++;
    },
    keys: {
      w: ["swap A and B", () => change({ run: params.other, other: params.run })],
      Escape: ["all hands", () => change({ class: null }, { instead: true })],
    },
  };
}
