// Arrow keys: back to the step before, on by what is taken most, and to the neighbours of the last step.
import { get, tried } from "./api.js";
import { change } from "./route.js";

function most(actions) {
  return actions.reduce((best, action) => ((action.frequency ?? 0) > (best.frequency ?? 0) ? action : best), actions[0]);
}

export async function beside(node, run, key) {
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
