// The node browser: the line on top, the grid on the left, and the hands on the right.
import { attempt, get, toast } from "./api.js";
import { button, choice, el, replace } from "./dom.js";
import { crumbs } from "./crumbs.js";
import { EquityGraph } from "./equity.js";
import { Exploit } from "./exploit.js";
import { CLASSES, Grid } from "./grid.js";
import { classLine, handTable } from "./hands.js";
import { LockPanel } from "./lock.js";
import { MODES, looker } from "./look.js";
import { WHO, amount } from "./format.js";
import { bothRanges, legend, saving } from "./nodeparts.js";
import { opened } from "./opening.js";
import { dressed } from "./palette.js";
import { change, go, link } from "./route.js";
import { Runouts } from "./runouts.js";
import { load, save } from "./store.js";
import { cards } from "./cards.js";
import { keys } from "./walk.js";

const TABS = [
  ["hands", "Hands"],
  ["equity", "Equity graph"],
  ["runouts", "Runouts"],
  ["exploit", "Exploit"],
  ["lock", "Lock"],
];

async function whichRun() {
  const spots = ((await attempt(get("runs")))?.runs ?? []).filter((run) => run.kind === "spot");
  return el(
    "section",
    { class: "panel" },
    el("h2", {}, "Which run?"),
    spots.length
      ? el(
          "ul",
          { class: "plain" },
          spots.map((run) =>
            el(
              "li",
              {},
              el("a", { href: link({ view: "browse", run: run.run }) }, run.run),
              " ",
              el("span", { class: "quiet" }, run.game),
            ),
          ),
        )
      : el("p", { class: "quiet" }, "There is no solved spot yet. ", el("a", { href: link({ view: "spot" }) }, "Create one.")),
  );
}

export function mount(root, first) {
  let params = first;
  let [node, actions, hovered, call] = [null, [], null, 0];
  let others = null;
  let view = { sort: "share", all: false };
  const top = el("div", { class: "line" });
  const head = el("div", { class: "controls" });
  const under = el("div", { class: "under" });
  const tiles = el("div", { class: "legend" });
  const ranges = el("div");
  const tabs = el("div", { class: "tabs", role: "tablist" });
  const detail = el("div", { class: "detail" });
  const grid = new Grid("Range", {
    enter: (k) => {
      hovered = k;
      hover();
    },
    leave: () => {
      hovered = null;
      hover();
    },
    press: (k) =>
      tab() === "lock"
        ? lock.toggle(k)
        : change({ class: params.class === CLASSES[k] ? null : CLASSES[k] }, { instead: true }),
  });
  const left = el("section", { class: "left", "aria-label": "Range" }, head, grid.element, under);
  const right = el("section", { class: "right", "aria-label": "Node" }, tiles, ranges, tabs, detail);
  const body = el("div", { class: "browse" }, top, el("div", { class: "two" }, left, right));
  const [graph, runouts, exploit] = [new EquityGraph(), new Runouts(), new Exploit()];
  const lock = new LockPanel(() => paintGrid());
  const options = () => ({
    ...view,
    order: (sort) => {
      view = { ...view, sort };
      paintDetail();
    },
    more: () => {
      view = { ...view, all: true };
      paintDetail();
    },
  });

  /** Whether a card was dealt on the path to this node. */
  function dealt() {
    return node.crumbs.some((crumb) => crumb.kind === "chance");
  }

  function tab() {
    if (node?.kind === "chance") return "runouts";
    if (node?.kind === "terminal") return "equity";
    return params.tab === "runouts" && !dealt() ? "hands" : (params.tab ?? "hands");
  }

  async function read() {
    const now = ++call;
    if (!params.run) {
      const box = await whichRun();
      if (now === call) replace(root, box);
      return undefined;
    }
    try {
      let got = params.run === body.dataset.run ? await get("node", ask()) : null;
      if (!got) {
        if (!(await opened(params.run, root, () => now === call))) return undefined;
        got = await get("node", ask());
      }
      if (now !== call) return undefined;
      [node, others] = [got, null];
      body.dataset.run = params.run;
      actions = dressed(node.actions ?? []);
      view.all = false;
      if (!body.isConnected) replace(root, body);
      paint();
    } catch (error) {
      const run = await get("run", { run: params.run }).catch(() => null);
      if (now !== call) return undefined;
      if (run && !run.spot) return go({ view: "games", run: params.run }, { instead: true });
      if (node && body.isConnected) toast(error.message);
      else
        replace(
          root,
          el(
            "section",
            { class: "panel" },
            el("h2", {}, "This node cannot be shown"),
            el("p", { class: "sentence" }, error.message),
            el(
              "p",
              {},
              el("a", { href: link({ view: "runs" }) }, "All runs"),
              " · ",
              el("a", { href: link({ view: "browse", run: params.run }) }, "Start of this run"),
            ),
          ),
        );
    }
    return undefined;
  }

  function ask() {
    return { run: params.run, line: params.line ?? "", player: params.player };
  }

  function paint() {
    document.title = `${node.board.join(" ")} ${node.line} · treeplex`;
    replace(top, crumbs(node));
    top.scrollLeft = top.scrollWidth;
    body.dataset.kind = node.kind;
    body.dataset.line = node.line;
    replace(tiles, legend(node, actions));
    replace(ranges, bothRanges(node));
    replace(
      tabs,
      node.kind === "decision"
        ? TABS.filter(([key]) => key !== "runouts" || dealt()).map(([key, name]) =>
            button(name, () => change({ tab: key === "hands" ? null : key }, { instead: true }), {
              role: "tab",
              "aria-selected": String(tab() === key),
              "data-tab": key,
            }),
          )
        : [],
    );
    paintHead();
    paintGrid();
    paintDetail();
  }

  function paintHead() {
    left.hidden = node.kind !== "decision";
    const mode = params.show ?? "actions";
    replace(
      head,
      choice(
        "Whose hands",
        [
          ["oop", "OOP", WHO.oop],
          ["ip", "IP", WHO.ip],
        ],
        node.player,
        (player) => change({ player: player === node.to_act ? null : player, class: null }),
      ),
      choice("Colour by", MODES, mode, (show) => change({ show: show === "actions" ? null : show }, { instead: true })),
      choice(
        "Bars",
        [
          ["normal", "full", "Every class fills its cell"],
          ["absolute", "by reach", "Height: the fraction of the class that is still in the range"],
        ],
        load("bars", "normal"),
        (bars) => {
          save("bars", bars);
          paintHead();
          paintGrid();
        },
      ),
    );
    hover();
  }

  function hover() {
    if (!node?.classes) return;
    const at = hovered ?? CLASSES.indexOf(params.class ?? "");
    replace(
      under,
      el(
        "div",
        { class: "facts" },
        cards(node.board),
        el("span", {}, `pot ${amount(node.pot)}`),
        el("span", {}, `stacks ${node.stacks.map(amount).join(" / ")}`),
        node.to_call ? el("span", {}, `to call ${amount(node.to_call)}`) : null,
        node.locked ? el("span", { class: "tag" }, "locked") : null,
      ),
      at >= 0
        ? classLine(node, actions, at)
        : el(
            "p",
            { class: "class-line quiet" },
            "Point at a class to see its numbers, click it to see its hands. A ≈ in the corner means equal EV.",
          ),
    );
  }

  function paintGrid() {
    if (node.kind !== "decision" || tab() === "exploit") return;
    const pressed =
      tab() === "lock" ? (k) => lock.who === "some" && lock.chosen.has(CLASSES[k]) : (k) => CLASSES[k] === params.class;
    grid.paint(looker(node, actions, params.show ?? "actions", load("bars", "normal"), pressed));
  }

  async function paintDetail() {
    const now = call;
    const what = tab();
    if (what === "hands")
      return replace(detail, saving(node, params), handTable(node, actions, params.class ?? null, options()));
    if (what === "runouts") {
      replace(detail, runouts.element);
      return runouts.update(params.run, node.line);
    }
    if (what === "exploit") {
      replace(detail, exploit.element);
      return exploit.update(params.run, node, actions, params.class ?? null, grid, {
        ...options(),
        sort: view.sort === "share" ? "weighted" : view.sort,
      });
    }
    if (what === "lock") {
      replace(detail, lock.element);
      return lock.update(params.run, node, actions);
    }
    if (node.kind === "terminal") return replace(detail);
    replace(detail, graph.element);
    others ??= await attempt(
      Promise.all(["oop", "ip"].map((player) => (player === node.player ? node : get("node", { ...ask(), player })))),
    );
    if (now === call && others) graph.update(others);
    return undefined;
  }

  let reading = read();
  return {
    update(next) {
      const same =
        next.run === params.run && (next.line ?? "") === (params.line ?? "") && next.player === params.player;
      params = next;
      if (!same || !node) reading = read();
      else paint();
      return undefined;
    },
    destroy() {
      call++;
      graph.destroy();
      lock.destroy();
    },
    keys: keys(
      () => node,
      () => params,
      () => reading,
    ),
  };
}
