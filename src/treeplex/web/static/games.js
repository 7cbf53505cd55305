// Any game: solve one of the catalog; infosets with their strategies; the tree, move by move; convergence.
import { about, get, listen, live, start, tried } from "./api.js";
import { button, choice, debounce, el, field, replace, row, select, table } from "./dom.js";
import { count, fixed, precise } from "./format.js";
import { JobList, gameOf } from "./jobs.js";
import { Plot } from "./plot.js";
import { change, link } from "./route.js";
import { curvesOf } from "./runs.js";

const PAGE = 50;

/** How often each action is taken, as bars with their numbers. */
function mix(actions, probabilities) {
  return el("div", { class: "mixbars" }, actions.map((name, k) => el("div", {}, el("span", { class: "name" }, name), el("span", { class: "track" }, el("i", { style: { width: `${100 * probabilities[k]}%` } })), el("span", { class: "number" }, fixed(probabilities[k], 3)))));
}

function chooser(list) {
  const asked = { game: "leduc", algorithm: "cfr+", nash_conv: "0.001", seconds: "10", iterations: "" };
  const game = el("input", { type: "text", value: asked.game, list: "games", name: "game", autocomplete: "off" });
  const algorithm = el("input", { type: "text", value: asked.algorithm, list: "algorithms", name: "algorithm", autocomplete: "off" });
  const limits = Object.fromEntries(["nash_conv", "seconds", "iterations"].map((key) => [key, el("input", { type: "text", inputmode: "decimal", value: asked[key], name: key, placeholder: "no limit" })]));
  async function ask(names) {
    for (const name of names) {
      const body = { what: "solve", game: game.value.trim(), algorithm: name };
      for (const [key, input] of Object.entries(limits)) if (input.value.trim()) body[key] = Number(input.value);
      if (!await start(body)) return;
    }
  }
  return el("section", { class: "panel", "aria-label": "Solve a game" }, el("h2", {}, "Solve a game"),
    el("datalist", { id: "games" }, (live.about?.games ?? []).map((name) => el("option", { value: name }))), el("datalist", { id: "algorithms" }, (live.about?.algorithms ?? []).map((name) => el("option", { value: name }))),
    field("Game", game, { hint: "with parameters: goofspiel(cards=4)" }), field("Algorithms", algorithm, { hint: "several, to compare them: cfr, cfr+, dcfr" }),
    el("div", { class: "fields" }, field("NashConv", limits.nash_conv), field("Seconds", limits.seconds), field("Iterations", limits.iterations)),
    el("div", { class: "tools" }, button("Solve", () => ask(split(algorithm.value)), { class: "main" })), list.element);
}

/** "cfr, dcfr(alpha=1,beta=0)" at the commas that are not inside brackets. */
function split(text) {
  return text.split(/,(?![^(]*\))/).map((each) => each.trim()).filter(Boolean);
}

export function mount(root, first) {
  let params = first;
  let call = 0;
  const list = new JobList((job) => job.what !== "sizes" && gameOf(job) && ["queued", "running", "failed"].includes(job.state));
  const plot = new Plot({ logY: true, logX: true, x: "seconds", height: 280, label: "convergence" });
  const side = el("div", { class: "side" });
  const shown = el("section", { class: "panel wide" });
  root.append(el("div", { class: "columns games" }, side, shown));
  let runs = [];
  const chosen = () => (params.chosen ?? params.run ?? latest()).split("|").filter(Boolean);

  /** Without a choice: the runs of the game that was solved last. */
  function latest() {
    return runs.filter((run) => run.game === runs[0].game && run.nash_conv !== null).slice(0, 6).map((run) => run.run).join("|");
  }

  async function paintSide() {
    runs = ((await tried(get("runs")))?.runs ?? []).filter((run) => run.percent_of_pot === null && run.kind !== "spot");
    const ticks = new Set(chosen());
    if (!side.firstChild) {
      await tried(about());
      replace(side, chooser(list), el("section", { class: "panel", "aria-label": "Runs of games" }));
    }
    replace(side.lastChild, el("h2", {}, "Runs"), runs.length ? el("ul", { class: "plain runs" }, runs.map((run) => el("li", { class: run.run === params.run ? "here" : null },
      el("input", { type: "checkbox", checked: ticks.has(run.run), "aria-label": `Show the convergence of ${run.run}`, on: { change: (event) => {
        if (event.target.checked) ticks.add(run.run);
        else ticks.delete(run.run);
        change({ chosen: [...ticks].join("|"), tab: "convergence" }, { instead: true });
      } } }), el("a", { href: link({ view: "games", run: run.run, tab: params.tab === "convergence" ? null : params.tab }) }, run.run), el("small", {}, `${run.algorithm} · ${precise(run.nash_conv)} · ${run.status}`)))) : el("p", { class: "quiet" }, "None yet."));
  }

  async function paint() {
    const now = ++call;
    const tab = params.tab ?? (params.run ? "infosets" : "convergence");
    const tabs = choice("Show", [["infosets", "Strategies"], ["tree", "Tree"], ["convergence", "Convergence"]], tab, (next) => change({ tab: next, path: null, search: null }));
    const box = el("div");
    if (!shown.querySelector(`[data-tab="${tab}"]`) || shown.dataset.run !== (params.run ?? "")) {
      replace(shown, el("header", {}, el("h2", {}, params.run ?? "Games"), tabs), el("div", { class: "content", "data-tab": tab }, box));
      shown.dataset.run = params.run ?? "";
    } else replace(shown.querySelector("header"), el("h2", {}, params.run ?? "Games"), tabs);
    const content = shown.querySelector(".content");
    if (tab === "convergence") return convergence(content, now);
    if (!params.run) return replace(content, el("p", { class: "quiet nothing" }, "Solve a game or choose a run on the left."));
    return tab === "tree" ? tree(content, now) : infosets(content, now);
  }

  async function convergence(content, now) {
    const names = chosen();
    if (!names.length) return replace(content, el("p", { class: "quiet nothing" }, "Tick runs on the left to see their convergence in one plot; runs that are being solved are drawn as they go."));
    const x = params.x ?? "seconds";
    const got = await curvesOf(names, x);
    if (now !== call) return undefined;
    Object.assign(plot.options, { x: { seconds: "seconds", iteration: "iterations", nodes: "nodes touched" }[x], y: "NashConv" });
    replace(content, el("div", { class: "tools" }, choice("Against", [["seconds", "seconds"], ["iteration", "iterations"], ["nodes", "nodes touched"]], x, (next) => change({ x: next }, { instead: true }))), plot.element);
    return plot.draw(got.curves);
  }

  async function infosets(content, now) {
    const [offset, search, player] = [Number(params.offset ?? 0), params.search ?? "", params.player ?? ""];
    const got = await tried(get("infosets", { run: params.run, search: search || undefined, player: player || undefined, offset, most: PAGE }));
    if (!got || now !== call) return;
    let input = content.querySelector("input[type=search]");
    if (!input) {
      input = el("input", { type: "search", placeholder: "search infosets", "aria-label": "Search infosets", value: search, on: { input: debounce((event) => change({ search: event.target.value || null, offset: null }, { instead: true }), 250) } });
      replace(content, el("div", { class: "tools" }, input, select([["", "both players"], ["0", "player 0"], ["1", "player 1"]], player, (next) => change({ player: next || null, offset: null }, { instead: true }), { "aria-label": "Player" }), el("span", { class: "quiet total" })), el("div", { class: "rows" }));
    }
    content.querySelector(".total").textContent = `${count(got.total)} infosets`;
    const columns = [{ name: "player" }, { name: "infoset" }, { name: "strategy" }];
    replace(content.querySelector(".rows"), table("Infosets", columns, got.infosets.map((each) => row([String(each.player), el("code", {}, each.infoset || "(start)"), mix(each.actions, each.probabilities)], columns))),
      el("div", { class: "tools" }, button("←", () => change({ offset: Math.max(0, offset - PAGE) || null }), { disabled: offset === 0, "aria-label": "Before" }), el("span", { class: "quiet" }, got.total ? `${offset + 1} to ${Math.min(offset + PAGE, got.total)}` : "none"),
        button("→", () => change({ offset: offset + PAGE }), { disabled: offset + PAGE >= got.total, "aria-label": "After" })));
  }

  async function tree(content, now) {
    try {
      const got = await get("tree", { run: params.run, path: params.path ?? "" });
      if (now !== call) return;
      const who = { decision: `player ${got.player} to move`, chance: "chance", terminal: "the end" }[got.kind];
      replace(content, el("ol", { class: "path", "aria-label": "Line" }, el("li", {}, el("a", { href: link({ ...params, path: null }) }, "start")), got.crumbs.filter((crumb) => crumb.path !== "").map((crumb) => el("li", {}, el("a", { href: link({ ...params, path: crumb.path }) }, crumb.name)))),
        el("p", { class: "lead" }, el("strong", {}, who), got.infoset ? [" · infoset ", el("code", {}, got.infoset)] : null, typeof got.payoff === "number" ? ` · player 0 gets ${precise(got.payoff)}` : null,
          typeof got.value === "number" ? ` · worth ${fixed(got.value, 4)} to player 0` : null, typeof got.reach === "number" ? ` · reached with probability ${precise(got.reach)}` : null),
        el("ul", { class: "branches" }, got.actions.map((action, k) => el("li", {}, el("a", { href: link({ ...params, path: action.path }), "data-branch": k }, el("kbd", {}, k < 9 ? String(k + 1) : ""), el("span", { class: "name" }, action.name), el("span", { class: "track" }, el("i", { style: { width: `${100 * (action.probability ?? 0)}%` } })), el("span", { class: "number" }, fixed(action.probability, 3)))))));
    } catch (error) {
      if (now === call) replace(content, el("p", { class: "sentence" }, error.message));
    }
  }

  const follow = debounce(() => { if ((params.tab ?? "") === "convergence" || !params.run) paint(); }, 400);
  const ends = [listen("jobs", (jobs) => { list.update(jobs); if (jobs.some((job) => job.state === "running" && chosen().includes(job.run))) follow(); }), listen("runs", () => paintSide().then(follow))];
  paintSide().then(paint);
  list.update(live.jobs);
  return {
    update(next) {
      params = next;
      paintSide().then(paint);
    },
    destroy() { call++; for (const end of ends) end(); list.destroy(); plot.destroy(); },
    keys: {
      ...Object.fromEntries([..."123456789"].map((digit) => [digit, ["take a branch of the tree", () => shown.querySelector(`[data-branch="${digit - 1}"]`)?.click()]])),
      ArrowLeft: ["one step back", () => { const steps = shown.querySelectorAll(".path a"); steps[steps.length - 2]?.click(); }],
      ArrowRight: ["the first branch", () => shown.querySelector("[data-branch]")?.click()],
      "/": ["search", () => shown.querySelector("input[type=search]")?.focus()],
    },
  };
}
