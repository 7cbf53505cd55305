// Keys of the node browser. Arrows: back to the step before, on by what is taken most, and to the neighbours of the last step.
import { get, tried } from "./api.js";
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
  const before = await tried(get("node", { run, line: last.line }));
  if (!before) return undefined;
  const at = before.cards.findIndex((each) => each.card === last.card);
  return to(before.cards[(at + step + before.cards.length) % before.cards.length].line);
}

function show(tab) {
  change({ tab }, { instead: true });
}

/** The keys of a node; `node` and `params` are asked for when one is pressed, `shown` waits until that node is there. */
export function keys(node, params, shown) {
  let turn = Promise.resolve(); // keys pressed in haste act one after the other, each on the node that the last one led to
  const then = (act) => {
    turn = turn.then(shown).then(act);
  };
  const walk = (key) => then(() => node() && beside(node(), params().run, key));
  const take = (k) => {
    const action = node()?.actions?.[k];
    if (action) change({ line: action.line, class: null });
  };
  const digits = [..."123456789"].map((key) => [key, ["take an action", () => then(() => take(Number(key) - 1))]]);
  return {
    ...Object.fromEntries(digits),
    ArrowLeft: ["one step back", () => walk("ArrowLeft")],
    ArrowRight: ["on, by the action taken most", () => walk("ArrowRight")],
    ArrowUp: ["the action or card before, at the last step", () => walk("ArrowUp")],
    ArrowDown: ["the one after", () => walk("ArrowDown")],
    p: [
      "the other player's hands",
      () => node()?.kind === "decision" && change({ player: node().player === "oop" ? "ip" : "oop", class: null }),
    ],
    m: [
      "colour by the next thing",
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
