// Light and dark: the system's setting, until the user changes it.
import { load, save } from "./store.js";

const NEXT = { auto: "dark", dark: "light", light: "auto" };
export const NAMES = { auto: "system", dark: "dark", light: "light" };

export function theme() {
  return load("theme", "auto");
}

function apply() {
  const now = theme();
  if (now === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
  dispatchEvent(new CustomEvent("theme"));
}

export function turn() {
  save("theme", NEXT[theme()]);
  apply();
}

/** A colour of the style sheet, such as "--ink". */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new CustomEvent("theme")));
apply();
