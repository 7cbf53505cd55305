// Any game: solve one of the catalog; view infosets with strategies, the tree move by move, and convergence.
import { about, attempt, get, listen, live } from "./api.js";
import { choice, debounce, el, replace } from "./dom.js";
import { precise } from "./format.js";
import { chooser } from "./gamesform.js";
import { infosets, tree } from "./gameviews.js";
import { JobList, gameOf } from "./jobs.js";
import { Plot } from "./plot.js";
import { change, link } from "./route.js";
import { curvesOf } from "./runs.js";

export function mount(root, first) {
  let params = first;
  let call = 0;
  const list = new JobList(
    (job) => job.what !== "sizes" && gameOf(job) && ["queued", "running", "failed"].includes(job.state),
  );
  const plot = new Plot({ logY: true, logX: true, x: "seconds", height: 280, label: "convergence" });
  const side = el("div", { class: "side" });
  const shown = el("section", { class: "panel wide" });
  root.append(el("div", { class: "columns games" }, side, shown));
  let runs = [];
  const chosen = () => (params.chosen ?? params.run ?? latest()).split("|").filter(Boolean);

  /** The default choice: runs of the game that was solved last. */
  function latest() {
    return runs
      .filter((run) => run.game === runs[0].game && run.nash_conv !== null)
      .slice(0, 6)
      .map((run) => run.run)
      .join("|");
  }

  async function paintSide() {
    runs = ((await attempt(get("runs")))?.runs ?? []).filter((run) => run.percent_of_pot === null && !["spot", "sizes"].includes(run.kind));
    const ticks = new Set(chosen());
    if (!side.firstChild) {
      await attempt(about());
      replace(side, chooser(list), el("section", { class: "panel", "aria-label": "Runs of games" }));
    }
    replace(
      side.lastChild,
      el("h2", {}, "Runs"),
      runs.length
        ? el(
            "ul",
            { class: "plain runs" },
            runs.map((run) =>
              el(
                "li",
                { class: run.run === params.run ? "here" : null },
                el("input", {
                  type: "checkbox",
                  checked: ticks.has(run.run),
                  "aria-label": `Show the convergence of ${run.run}`,
                  on: {
                    change: (event) => {
                      if (event.target.checked) ticks.add(run.run);
                      else ticks.delete(run.run);
                      change({ chosen: [...ticks].join("|"), tab: "convergence" }, { instead: true });
                    },
                  },
                }),
                el(
                  "a",
                  {
                    href: link({ view: "games", run: run.run, tab: params.tab === "convergence" ? null : params.tab }),
                  },
                  run.run,
                ),
                el("small", {}, `${run.algorithm} · ${precise(run.nash_conv)} · ${run.status}`),
              ),
            ),
          )
        : el("p", { class: "quiet" }, "There are no runs yet."),
    );
  }

  async function paint() {
    const now = ++call;
    const tab = params.tab ?? (params.run ? "infosets" : "convergence");
    const tabs = choice(
      "Show",
      [
        ["infosets", "Strategies"],
        ["tree", "Tree"],
        ["convergence", "Convergence"],
      ],
      tab,
      (next) => change({ tab: next, path: null, search: null }),
    );
    const box = el("div");
    if (!shown.querySelector(`[data-tab="${tab}"]`) || shown.dataset.run !== (params.run ?? "")) {
      replace(
        shown,
        el("header", {}, el("h2", {}, params.run ?? "Games"), tabs),
        el("div", { class: "content", "data-tab": tab }, box),
      );
      shown.dataset.run = params.run ?? "";
    } else replace(shown.querySelector("header"), el("h2", {}, params.run ?? "Games"), tabs);
    const content = shown.querySelector(".content");
    if (tab === "convergence") return convergence(content, now);
    if (!params.run)
      return replace(content, el("p", { class: "quiet nothing" }, "Solve a game or choose a run on the left."));
    return (tab === "tree" ? tree : infosets)(content, params, () => now === call);
  }

  async function convergence(content, now) {
    const names = chosen();
    if (!names.length)
      return replace(
        content,
        el(
          "p",
          { class: "quiet nothing" },
          "Tick runs on the left to see their convergence in one plot. Unfinished runs are updated live.",
        ),
      );
    const x = params.x ?? "seconds";
    const got = await curvesOf(names, x);
    if (now !== call) return undefined;
    Object.assign(plot.options, {
      x: { seconds: "seconds", iteration: "iterations", nodes: "nodes touched" }[x],
      y: "NashConv",
    });
    replace(
      content,
      el(
        "div",
        { class: "tools" },
        choice(
          "Against",
          [
            ["seconds", "seconds"],
            ["iteration", "iterations"],
            ["nodes", "nodes touched"],
          ],
          x,
          (next) => change({ x: next }, { instead: true }),
        ),
      ),
      plot.element,
    );
    return plot.draw(got.curves);
  }

  const follow = debounce(() => {
    if ((params.tab ?? "") === "convergence" || !params.run) paint();
  }, 400);
  const ends = [
    listen("jobs", (jobs) => {
      list.update(jobs);
      if (jobs.some((job) => job.state === "running" && chosen().includes(job.run))) follow();
    }),
    listen("runs", () => paintSide().then(follow)),
  ];
  paintSide().then(paint);
  list.update(live.jobs);
  return {
    update(next) {
      params = next;
      paintSide().then(paint);
    },
    destroy() {
      call++;
      for (const end of ends) end();
      list.destroy();
      plot.destroy();
    },
    keys: {
      ...Object.fromEntries(
        [..."123456789"].map((digit) => [
          digit,
          ["follow a branch of the tree", () => shown.querySelector(`[data-branch="${digit - 1}"]`)?.click()],
        ]),
      ),
      ArrowLeft: [
        "one step back",
        () => {
          const steps = shown.querySelectorAll(".path a");
          steps[steps.length - 2]?.click();
        },
      ],
      ArrowRight: ["the first branch", () => shown.querySelector("[data-branch]")?.click()],
      "/": ["search", () => shown.querySelector("input[type=search]")?.focus()],
    },
  };
}
