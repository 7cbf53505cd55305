// Addresses: every view has its own link, `#run=Ks8h4d&line=x/b75/c/Qh&player=oop&view=browse`.

const ORDER = ["view", "run", "other", "line", "player"];
const listeners = new Set();

function encode(text) {
  return encodeURIComponent(text.toWellFormed?.() ?? text).replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%20", "+");
}

export function parse(hash = location.hash) {
  const params = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at <= 0) continue;
    try {
      params[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1).replaceAll("+", " "));
    } catch {
      /* not one of our addresses */
    }
  }
  params.view ??= params.run ? "browse" : "runs";
  return params;
}

/** The link of a view. */
export function link(params) {
  const keys = Object.keys(params).sort(
    (one, two) => ((ORDER.indexOf(one) + 99) % 99) - ((ORDER.indexOf(two) + 99) % 99),
  );
  const parts = keys.filter((key) => params[key] !== undefined && params[key] !== null && params[key] !== "");
  return `#${parts.map((key) => `${key}=${encode(String(params[key]))}`).join("&")}`;
}

/** The link of the current view with some parameters changed. */
export function changed(patch) {
  return link({ ...parse(), ...patch });
}

export function go(params, { instead = false } = {}) {
  const hash = link(params);
  if (hash === location.hash) return;
  if (instead) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  tell();
}

/** Goes to the current view with some parameters changed. */
export function change(patch, options) {
  go({ ...parse(), ...patch }, options);
}

function tell() {
  const params = parse();
  for (const fn of listeners) fn(params);
}

export function onRoute(fn) {
  listeners.add(fn);
}

addEventListener("hashchange", tell);
