// Keys of the node browser. Arrows: one step back, on by the most frequent action, and to neighbours of the last step.
import { attempt, get } from "./api.js";
import { MODES } from "./look.js";
import { change } from "./route.js";

function most(actions) {
  return actions.reduce(
    (best, action) => ((action.frequency ?? 0) > (best.frequency ?? 0) ? action : best),
    actions[0],
  );
}

async function beside(node, run, key) {
  const last = node.crumbs.at(-1);
  const to = (line) => change({ line, class: null });
  if (key === "ArrowLeft") return last && to(last.line);
  if (key === "ArrowRight") {
    if (node.kind === "decision") return to(most(node.actions).line);
    return node.kind === "chance" && to(node.cards[0].line);
  }
  if (!last) return undefined;
  const step = key === "ArrowUp" ? -1 : 1;
  if (last.kind === "decision") {
    const next = last.actions[(last.taken + step + last.actions.length) % last.actions.length];
    return to(next.line);
  }
  const before = await attempt(get("node", { run, line: last.line }));
  if (!before) return undefined;
  const at = before.cards.findIndex((each) => each.card === last.card);
  return to(before.cards[(at + step + before.cards.length) % before.cards.length].line);
}

function show(tab) {
  change({ tab }, { instead: true });
}

/** The keys of a node. A key press calls `node` and `params`; `shown` waits until that node is shown. */
export function keys(node, params, shown) {
  let turn = Promise.resolve(); // fast key presses act one after the other, each on the node that the last one reached
  const then = (act) => {
    turn = turn.then(shown).then(act);
  };
  const walk = (key) => then(() => node() && beside(node(), params().run, key));
  const take = (k) => {
    const action = node()?.actions?.[k];
    if (action) change({ line: action.line, class: null });
  };
  const digits = [..."123456789"].map((key) => [key, ["choose an action", () => then(() => take(Number(key) - 1))]]);
  return {
    ...Object.fromEntries(digits),
    ArrowLeft: ["one step back", () => walk("ArrowLeft")],
    ArrowRight: ["on, by the most frequent action", () => walk("ArrowRight")],
    ArrowUp: ["previous action or card at the last step", () => walk("ArrowUp")],
    ArrowDown: ["next action or card at the last step", () => walk("ArrowDown")],
    p: [
      "the other player's hands",
      () => node()?.kind === "decision" && change({ player: node().player === "oop" ? "ip" : "oop", class: null }),
    ],
    m: [
      "next colouring",
      () => {
        const next = MODES[(MODES.findIndex(([key]) => key === (params().show ?? "actions")) + 1) % MODES.length][0];
        change({ show: next === "actions" ? null : next }, { instead: true });
      },
    ],
    h: ["hands", () => show(null)],
    g: ["equity graph", () => show("equity")],
    o: ["runouts", () => show("runouts")],
    x: ["exploit", () => show("exploit")],
    l: ["lock", () => show("lock")],
    Escape: ["all hands", () => change({ class: null }, { instead: true })],
  };
}
