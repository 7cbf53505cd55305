// The frame of the page: header, the queue in one line, and the view that the address names.
import { about, attempt, listen, live, refresh, stream } from "./api.js";
import { button, el, replace } from "./dom.js";
import { precise } from "./format.js";
import { addKeys, help, setKeys } from "./keys.js";
import { link, onRoute, parse, go } from "./route.js";
import { NAMES, theme, turn } from "./theme.js";
import * as runs from "./runs.js";
import * as editor from "./editor.js";
import * as browser from "./browser.js";
import * as compare from "./compare.js";
import * as sizes from "./sizes.js";
import * as trainer from "./trainer.js";
import * as games from "./games.js";
import * as growth from "./growth.js";

const VIEWS = { runs, spot: editor, browse: browser, compare, sizes, train: trainer, games, growth };
const TABS = [
  ["runs", "Runs"],
  ["spot", "Spot"],
  ["browse", "Browse"],
  ["compare", "Compare"],
  ["sizes", "Sizes"],
  ["growth", "Growth"],
  ["train", "Trainer"],
  ["games", "Any game"],
];
const main = document.getElementById("main");
let mounted = null;
let last = {};

function linkOf(view) {
  const now = { ...last, ...parse() };
  const keeps = { browse: ["run", "line", "player"], compare: ["run", "other", "line"], train: ["run"] }[view] ?? [];
  return link({ view, ...Object.fromEntries(keeps.map((key) => [key, now[key]])) });
}

const turned = button(
  "",
  () => {
    turn();
    label();
  },
  { class: "sign" },
);
/** Rebuilds a view on a second click on its tab: the address stays the same, so no event fires. */
function again(event) {
  if (event.currentTarget.hash === location.hash) show(parse(), true);
}
const tabs = TABS.map(([view, name]) => el("a", { data: { view }, on: { click: again } }, name));

function label() {
  turned.textContent = { auto: "◐", dark: "●", light: "○" }[theme()];
  turned.title = `Colours: ${NAMES[theme()]}`;
  turned.setAttribute("aria-label", turned.title);
}

function frame() {
  label();
  replace(
    document.getElementById("top"),
    el("a", { class: "brand", href: link({ view: "runs" }) }, "treeplex"),
    el("nav", { "aria-label": "Views" }, tabs),
    el("a", { id: "queue", href: link({ view: "runs" }) }),
    turned,
    button("?", help, { class: "sign", "aria-label": "Keys" }),
  );
}

/** Points the tabs to the last run, line and player of each view. */
function header(view) {
  for (const tab of tabs) {
    tab.href = linkOf(tab.dataset.view);
    if (tab.dataset.view === view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  tabs.find((tab) => tab.dataset.view === view)?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function queue() {
  const box = document.getElementById("queue");
  const running = live.jobs.filter((job) => job.state === "running");
  const waiting = live.jobs.filter((job) => job.state === "queued").length;
  const text = running
    .map((job) => {
      const { percent_of_pot: part, nash_conv: conv } = job.progress ?? {};
      return `${job.title ?? job.what}${typeof part === "number" ? ` ${precise(part)}%` : typeof conv === "number" ? ` ${precise(conv)}` : ""}`;
    })
    .join(", ");
  box.textContent = text + (waiting ? `${text ? ", " : ""}${waiting} waiting` : "");
  box.classList.toggle("busy", running.length > 0);
}

function show(params, anew = false) {
  const view = VIEWS[params.view] ? params.view : "runs";
  last = {
    ...last,
    ...(params.run && params.view !== "games"
      ? { run: params.run, line: params.line, player: params.player, other: params.other ?? last.other }
      : {}),
  };
  header(view);
  if (!anew && mounted?.view === view && mounted.made.update?.(params) !== false) return;
  mounted?.made.destroy?.();
  replace(main);
  document.title = `${TABS.find(([name]) => name === view)[1]} · treeplex`;
  main.className = `view-${view}`;
  setKeys({});
  mounted = { view, made: VIEWS[view].mount(main, params) ?? {} };
  setKeys(mounted.made.keys ?? {});
}

addKeys({
  r: ["runs", () => go({ view: "runs" })],
  e: ["spot editor", () => go({ view: "spot" })],
  b: [
    "browse the run",
    () => {
      location.hash = linkOf("browse");
    },
  ],
  t: [
    "trainer",
    () => {
      location.hash = linkOf("train");
    },
  ],
  d: [
    "switch light and dark",
    () => {
      turn();
      label();
    },
  ],
});
onRoute(show);
frame();
listen("jobs", queue);
await attempt(about());
show(parse());
stream();
attempt(refresh());
