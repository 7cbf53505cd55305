// The node browser: the line on top, the grid on the left, hands and everything about them on the right.
import { get, getText, listen, post, toast, tried } from "./api.js";
import { button, choice, download, el, replace } from "./dom.js";
import { crumbs } from "./crumbs.js";
import { EquityGraph } from "./equity.js";
import { Exploit } from "./exploit.js";
import { CLASSES, Grid } from "./grid.js";
import { classLine, handTable } from "./hands.js";
import { LockPanel } from "./lock.js";
import { MODES, looker } from "./look.js";
import { PLAYERS, WHO, amount, chips, fixed, percent } from "./format.js";
import { dressed } from "./palette.js";
import { change, go, link, parse } from "./route.js";
import { Runouts } from "./runouts.js";
import { load, save } from "./store.js";
import { cards } from "./cards.js";
import { beside } from "./walk.js";

const TABS = [["hands", "Hands"], ["equity", "Equity graph"], ["runouts", "Runouts"], ["exploit", "Exploit"], ["lock", "Lock"]];

/** Opens a run: values of both players at every node, found once in two passes over the tree. */
export async function opened(run, box) {
  const bar = el("progress", { max: "1", value: 0, "aria-label": "Opening" });
  const show = (state) => { if (state.run === undefined || state.run === run) bar.value = state.passes?.[1] ? state.passes[0] / state.passes[1] : 0; };
  const end = listen("open", show);
  try {
    for (;;) {
      const state = await post("open", { run });
      if (state.state === "open") return true;
      if (state.state === "failed") throw new Error(state.error ?? "The run cannot be opened.");
      if (!bar.isConnected) replace(box, el("div", { class: "opening" }, el("p", {}, `Opening ${run}: values of every hand at every node, once.`), bar));
      show(state);
      await new Promise((done) => setTimeout(done, 150));
    }
  } finally {
    end();
  }
}

export function mount(root, first) {
  let params = first;
  let [node, actions, hovered, call] = [null, [], null, 0];
  let others = null;
  let view = { sort: "share", all: false };
  const top = el("div", { class: "line" });
  const head = el("div", { class: "controls" });
  const under = el("div", { class: "under" });
  const legend = el("div", { class: "legend" });
  const ranges = el("div");
  const tabs = el("div", { class: "tabs", role: "tablist" });
  const detail = el("div", { class: "detail" });
  const grid = new Grid("Range", {
    enter: (k) => { hovered = k; hover(); },
    leave: () => { hovered = null; hover(); },
    press: (k) => (tab() === "lock" ? lock.toggle(k) : change({ class: params.class === CLASSES[k] ? null : CLASSES[k] }, { instead: true })),
  });
  const left = el("section", { class: "left", "aria-label": "Range" }, head, grid.element, under);
  const right = el("section", { class: "right", "aria-label": "Node" }, legend, ranges, tabs, detail);
  const body = el("div", { class: "browse" }, top, el("div", { class: "two" }, left, right));
  const [graph, runouts, exploit] = [new EquityGraph(), new Runouts(), new Exploit()];
  const lock = new LockPanel(() => paintGrid());
  const options = () => ({ ...view, order: (sort) => { view = { ...view, sort }; paintDetail(); }, more: () => { view = { ...view, all: true }; paintDetail(); } });

  function tab() {
    const asked = params.tab ?? "hands";
    return node?.kind === "chance" ? "runouts" : node?.kind === "terminal" ? "equity" : asked;
  }

  async function read() {
    const now = ++call;
    if (!params.run) {
      const got = await tried(get("runs"));
      if (now !== call) return undefined;
      const spots = (got?.runs ?? []).filter((run) => run.kind === "spot");
      replace(root, el("section", { class: "panel" }, el("h2", {}, "Which run?"), spots.length ? el("ul", { class: "plain" }, spots.map((run) =>
        el("li", {}, el("a", { href: link({ view: "browse", run: run.run }) }, run.run), " ", el("span", { class: "quiet" }, run.game))))
        : el("p", { class: "quiet" }, "No solved spot yet. ", el("a", { href: link({ view: "spot" }) }, "Make one."))));
      return undefined;
    }
    try {
      let got = params.run === body.dataset.run ? await get("node", ask()) : null;
      if (!got) {
        await opened(params.run, root);
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
      else replace(root, el("section", { class: "panel" }, el("h2", {}, "This cannot be shown"), el("p", { class: "sentence" }, error.message),
        el("p", {}, el("a", { href: link({ view: "runs" }) }, "All runs"), " · ", el("a", { href: link({ view: "browse", run: params.run }) }, "Start of this run"))));
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
    replace(legend, node.kind === "decision" ? actions.map((action) => el("a", { class: "tile", href: link({ ...parse(), line: action.line, class: null }), style: { "--colour": action.colour, "--on": action.ink } },
      el("i", {}, action.letter), el("span", {}, action.label ?? action.name), el("b", {}, percent(action.frequency)), el("small", {}, `EV ${chips(action.ev, node.pot)}`)))
      : el("p", { class: "lead" }, node.kind === "chance" ? `A card is dealt. Pick the ${node.board.length === 3 ? "turn" : "river"}.` : `The hand ends: ${node.result}.`));
    replace(ranges, rangesTable());
    replace(tabs, node.kind === "decision" ? TABS.map(([key, name]) => button(name, () => change({ tab: key === "hands" ? null : key }, { instead: true }), { role: "tab", "aria-selected": String(tab() === key), "data-tab": key })) : []);
    paintHead();
    paintGrid();
    paintDetail();
  }

  function rangesTable() {
    if (!node.ranges) return null;
    return el("table", { class: "both-ranges" }, el("caption", { class: "unseen" }, "Both ranges here"),
      el("thead", {}, el("tr", {}, ["", "hands", "EV", "equity", "EQR"].map((name) => el("th", { scope: "col", class: name ? "number" : null, title: name === "EQR" ? "Equity realisation: EV over equity times pot" : null }, name)))),
      el("tbody", {}, ["oop", "ip"].map((player) => {
        const each = node.ranges[player];
        return each ? el("tr", { class: player === node.to_act ? "acts" : null, "data-player": player }, el("th", { scope: "row" }, PLAYERS[player], el("small", {}, player === node.to_act ? " to act" : ` ${WHO[player]}`)),
          [fixed(each.combos, 1), chips(each.ev, node.pot), percent(each.equity), fixed(each.realisation, 2)].map((text) => el("td", { class: "number" }, text))) : null;
      })));
  }

  function paintHead() {
    left.hidden = node.kind !== "decision";
    const mode = params.show ?? "actions";
    replace(head, choice("Whose hands", [["oop", "OOP", WHO.oop], ["ip", "IP", WHO.ip]], node.player, (player) => change({ player: player === node.to_act ? null : player, class: null })),
      choice("Colour by", MODES, mode, (show) => change({ show: show === "actions" ? null : show }, { instead: true })),
      choice("Bars", [["normal", "full", "Every class fills its cell"], ["absolute", "by reach", "As tall as the class still is in the range"]], load("bars", "normal"), (bars) => { save("bars", bars); paintHead(); paintGrid(); }));
    hover();
  }

  function hover() {
    if (!node?.classes) return;
    const at = hovered ?? CLASSES.indexOf(params.class ?? "");
    replace(under, el("div", { class: "facts" }, cards(node.board), el("span", {}, `pot ${amount(node.pot)}`), el("span", {}, `stacks ${node.stacks.map(amount).join(" / ")}`), node.to_call ? el("span", {}, `to call ${amount(node.to_call)}`) : null,
      node.locked ? el("span", { class: "tag" }, "locked") : null), at >= 0 ? classLine(node, actions, at)
      : el("p", { class: "class-line quiet" }, "Point at a class for its numbers, click it for its hands. ≈ corner: same EV."));
  }

  function paintGrid() {
    if (node.kind !== "decision" || tab() === "exploit") return;
    const pressed = tab() === "lock" ? (k) => lock.who === "some" && lock.chosen.has(CLASSES[k]) : (k) => CLASSES[k] === params.class;
    grid.paint(looker(node, actions, params.show ?? "actions", load("bars", "normal"), pressed));
  }

  async function paintDetail() {
    const now = call;
    const what = tab();
    if (what === "hands") return replace(detail, saving(), handTable(node, actions, params.class ?? null, options()));
    if (what === "runouts") {
      replace(detail, runouts.element);
      return runouts.update(params.run, node.line);
    }
    if (what === "exploit") {
      replace(detail, exploit.element);
      return exploit.update(params.run, node, actions, params.class ?? null, grid, { ...options(), sort: view.sort === "share" ? "weighted" : view.sort });
    }
    if (what === "lock") {
      replace(detail, lock.element);
      return lock.update(params.run, node, actions);
    }
    if (node.kind === "terminal") return replace(detail);
    replace(detail, graph.element);
    others ??= await tried(Promise.all(["oop", "ip"].map((player) => (player === node.player ? node : get("node", { ...ask(), player })))));
    if (now === call && others) graph.update(others);
    return undefined;
  }

  function saving() {
    const where = { run: params.run, line: node.line, player: node.player };
    return el("div", { class: "tools saving" }, params.class ? button(`${params.class} ×`, () => change({ class: null }, { instead: true }), { "aria-label": "Show all hands", class: "chip" }) : el("span", { class: "quiet" }, "all hands"),
      button("CSV", async () => { const text = await tried(getText("node.csv", where)); if (text !== undefined) download(`${params.run.split("/").at(-1)}-${(node.line || "start").replaceAll("/", "-")}.csv`, text, "text/csv"); }, { title: "All hands here as a table" }),
      button("Copy range", async () => { const text = await tried(getText("range.txt", where)); if (text !== undefined) { await tried(navigator.clipboard.writeText(text.trim())); toast(`The range of ${PLAYERS[node.player]} here is on the clipboard.`, "note"); } }, { title: "The range that gets here, as text" }),
      el("a", { class: "button", href: link({ view: "spot", run: params.run }), title: "This spot in the editor" }, "Edit spot"),
      el("a", { class: "button", href: link({ view: "compare", run: params.run, line: node.line }) }, "Compare"), el("a", { class: "button", href: link({ view: "train", run: params.run }) }, "Train"));
  }

  function walk(key) {
    if (node) beside(node, params.run, key);
  }

  read();
  return {
    update(next) {
      const same = next.run === params.run && (next.line ?? "") === (params.line ?? "") && next.player === params.player;
      params = next;
      if (!same || !node) read();
      else paint();
      return undefined;
    },
    destroy() {
      call++;
      graph.destroy();
      lock.destroy();
    },
    keys: {
      ...Object.fromEntries([..."123456789"].map((key) => [key, ["take an action", () => { const to = node?.actions?.[key - 1]; if (to) change({ line: to.line, class: null }); }]])),
      ArrowLeft: ["one step back", () => walk("ArrowLeft")], ArrowRight: ["on, by the action taken most", () => walk("ArrowRight")],
      ArrowUp: ["the action or card before, at the last step", () => walk("ArrowUp")], ArrowDown: ["the one after", () => walk("ArrowDown")],
      p: ["the other player's hands", () => node?.kind === "decision" && change({ player: node.player === "oop" ? "ip" : "oop", class: null })],
      m: ["colour by the next thing", () => { const at = MODES.findIndex(([key]) => key === (params.show ?? "actions")); const next = MODES[(at + 1) % MODES.length][0]; change({ show: next === "actions" ? null : next }, { instead: true }); }],
      h: ["hands", () => change({ tab: null }, { instead: true })], g: ["equity graph", () => change({ tab: "equity" }, { instead: true })], o: ["runouts", () => change({ tab: "runouts" }, { instead: true })],
      x: ["exploit", () => change({ tab: "exploit" }, { instead: true })], l: ["lock", () => change({ tab: "lock" }, { instead: true })],
      Escape: ["all hands", () => change({ class: null }, { instead: true })],
    },
  };
}
