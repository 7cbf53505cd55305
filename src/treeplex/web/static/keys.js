// Keys of the current view and of all views; `?` lists them.
import { button, el } from "./dom.js";

let current = {};
const everywhere = {};

/** Keys of a view: {"x": ["what it does", fn]}. */
export function setKeys(keys = {}) {
  current = keys;
}

export function addKeys(keys) {
  Object.assign(everywhere, keys);
}

function shown(key) {
  const names = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };
  return names[key] ?? key;
}

function list(title, keys) {
  const byAction = new Map();
  for (const [key, [what]] of Object.entries(keys)) if (what) byAction.set(what, [...(byAction.get(what) ?? []), shown(key)]);
  if (!byAction.size) return null;
  return [
    el("h3", {}, title),
    el(
      "dl",
      { class: "keys" },
      [...byAction].map(([what, names]) => [
        el(
          "dt",
          {},
          names.map((name) => el("kbd", {}, name)),
        ),
        el("dd", {}, what),
      ]),
    ),
  ];
}

export function help() {
  const open = document.querySelector("dialog.help");
  if (open) return open.close();
  const box = el(
    "dialog",
    { class: "help", "aria-label": "Keys", on: { close: () => box.remove() } },
    el(
      "header",
      {},
      el("h2", {}, "Keys"),
      button("×", () => box.close(), { "aria-label": "Close" }),
    ),
    list("Here", current),
    list("Everywhere", { ...everywhere, "?": ["this list", null] }),
  );
  document.body.append(box);
  return box.showModal();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target;
  if (target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog:not(.help)")) return;
  if (event.key === "?") {
    event.preventDefault();
    help();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && target.closest?.("a, button, summary")) return;
  const binding = current[event.key] ?? everywhere[event.key];
  if (!binding) return;
  event.preventDefault();
  binding[1](event);
});
