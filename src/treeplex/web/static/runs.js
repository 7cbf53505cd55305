// All runs of the folder with their quality, the queue, and convergence of several runs in one plot.
import { attempt, get, listen, live, post, refresh, start, toast } from "./api.js";
import { button, el, field, replace, row, table } from "./dom.js";
import { ago, count, quality, seconds } from "./format.js";
import { JobList } from "./jobs.js";
import { Plot } from "./plot.js";
import { change, link } from "./route.js";

const COLUMNS = [
  { name: "" },
  { name: "run" },
  { name: "game" },
  { name: "algorithm" },
  { name: "status" },
  { name: "exploitability", number: true, title: "For a spot in per cent of the pot, for other games NashConv" },
  { name: "iterations", number: true },
  { name: "time", number: true },
  { name: "changed", number: true },
  { name: "" },
];

export function openLink(run) {
  if (run.kind === "sizes") return link({ view: "sizes", answer: run.run });
  return run.kind === "spot" || run.spot
    ? link({ view: "browse", run: run.run })
    : run.kind === "growth" && run.percent_of_pot != null
      ? link({ view: "browse", run: run.run })
      : link({ view: "games", run: run.run });
}

/** Convergence of several runs as curves, and the name of the quantity. */
export async function curvesOf(names, x = "seconds") {
  const logs = await Promise.all(names.map((run) => attempt(get("log", { run }))));
  const parts = logs.every((log) => !log || Array.isArray(log.columns.percent_of_pot));
  const quantity = parts ? "percent_of_pot" : "nash_conv";
  const curves = [];
  logs.forEach((log, k) => {
    if (!log) return;
    const points = log.columns[quantity]
      .map((value, i) => [log.columns[x][i], value])
      .filter(([at, value]) => value > 0 && at !== null);
    if (points.length) curves.push({ name: names[k], x: points.map((each) => each[0]), y: points.map((each) => each[1]) });
  });
  return { curves, y: parts ? "exploitability, % of pot" : "NashConv" };
}

function goOn(run) {
  const part = run.percent_of_pot != null;
  const now = part ? run.percent_of_pot : run.nash_conv;
  const target = el("input", {
    type: "text",
    inputmode: "decimal",
    value: now ? Number((now / 2).toPrecision(1)) : "0.1",
  });
  const most = el("input", { type: "text", inputmode: "decimal", placeholder: "no limit" });
  const box = el(
    "dialog",
    { class: "ask", on: { close: () => box.remove() } },
    el(
      "form",
      { method: "dialog" },
      el("h2", {}, `Continue ${run.run}`),
      el("p", { class: "quiet" }, `The run has reached ${quality(run)} after ${count(run.iterations)} iterations.`),
      field(part ? "Target, % of the pot" : "Target, NashConv", target),
      field("At most, seconds", most),
      el(
        "div",
        { class: "tools" },
        button(
          "Go on",
          async () => {
            const body = { what: "resume", run: run.run };
            if (part) body.exploitability = `${target.value.trim()}%pot`;
            else body.nash_conv = Number(target.value);
            if (most.value.trim()) body.seconds = Number(most.value);
            if (await start(body)) box.close();
          },
          { class: "main" },
        ),
        button("Cancel", () => box.close()),
      ),
    ),
  );
  document.body.append(box);
  box.showModal();
}

export function mount(root, params) {
  let [runs, unreadable] = [[], []];
  let chosen = new Set((params.chosen ?? "").split("|").filter(Boolean));
  let x = params.x ?? "seconds";
  const list = new JobList((job) => ["queued", "running", "failed", "unconfirmed"].includes(job.state));
  const plot = new Plot({ logY: true, height: 260, label: "convergence of the chosen runs" });
  const jobs = el("section", { class: "panel", "aria-label": "Queue" }, el("h2", {}, "Queue"), list.element);
  const drawn = el("section", { class: "panel", "aria-label": "Convergence" });
  const rows = el("section", { class: "panel wide", "aria-label": "Runs" });
  const search = el("input", {
    type: "search",
    placeholder: "search runs",
    "aria-label": "Search runs",
    on: { input: () => paint() },
  });
  root.append(el("div", { class: "side runs" }, jobs, rows, drawn));

  function statusOf(run) {
    const job = live.jobs.find((each) => each.job === run.job || (each.run === run.run && each.state === "running"));
    return job?.state === "running" ? "running" : (run.status ?? "–");
  }

  function paint() {
    const query = search.value.trim().toLowerCase();
    const seen = runs.filter((run) =>
      `${run.run} ${run.game} ${run.algorithm} ${run.kind}`.toLowerCase().includes(query),
    );
    const made = seen.map((run) => {
      const box = el("input", {
        type: "checkbox",
        checked: chosen.has(run.run),
        "aria-label": `Show the convergence of ${run.run}`,
        on: {
          change: () => {
            if (box.checked) chosen.add(run.run);
            else chosen.delete(run.run);
            change({ chosen: [...chosen].join("|") }, { instead: true });
          },
        },
      });
      const status = statusOf(run);
      return row(
        [
          box,
          el("a", { href: openLink(run), class: "name" }, run.run),
          [
            run.game,
            run.locks ? el("span", { class: "tag", title: "Number of locked decisions" }, `${run.locks} locked`) : null,
            ["growth", "exploration", "sizes"].includes(run.kind) ? el("span", { class: "tag" }, run.kind) : null,
          ],
          el("span", { class: "algorithm", title: run.algorithm }, run.algorithm),
          el("span", { class: `state ${status}` }, status),
          quality(run),
          count(run.iterations),
          seconds(run.seconds),
          ago(run.changed),
          el(
            "span",
            { class: "tools" },
            status === "running"
              ? button("stop", () => stop(run))
              : run.kind === "sizes"
                ? button("go on", () => start({ what: "resume", run: run.run }), { title: "Continue to the end" })
                : button("go on", () => goOn(run), { title: "Continue to a tighter target" }),
            el("a", { class: "button", href: openLink(run) }, "open"),
          ),
        ],
        COLUMNS,
        { data: { run: run.run } },
      );
    });
    if (!rows.firstChild)
      rows.append(
        el(
          "header",
          {},
          el("h2", {}, "Runs"),
          search,
          el("span", { class: "quiet count" }),
          el("a", { class: "button main", href: link({ view: "spot" }) }, "new spot"),
        ),
        el("div", { class: "list" }),
      );
    rows.querySelector(".count").textContent = live.about?.directory
      ? `${count(seen.length)} in ${live.about.directory}`
      : "";
    replace(
      rows.querySelector(".list"),
      made.length
        ? table("Runs", COLUMNS, made)
        : el(
            "p",
            { class: "quiet nothing" },
            runs.length
              ? "No run matches the search."
              : "There are no runs yet. Create a spot and solve it, or solve a game under “Any game”.",
          ),
      unreadable.length
        ? el(
            "details",
            { class: "quiet" },
            el("summary", {}, `${count(unreadable.length)} folders cannot be read`),
            el(
              "ul",
              { class: "plain" },
              unreadable.slice(0, 100).map((each) => el("li", {}, `${each.run}: ${each.error}`)),
            ),
          )
        : null,
    );
  }

  async function stop(run) {
    const job = live.jobs.find((each) => each.run === run.run && each.state === "running");
    if (!job) return toast("Another process is solving this run; stop it there.");
    await attempt(post(`jobs/${encodeURIComponent(job.job)}/stop`, {}));
    return attempt(refresh());
  }

  async function draw() {
    const names = [...chosen];
    if (!names.length) {
      replace(
        drawn,
        el("h2", {}, "Convergence"),
        el("p", { class: "quiet" }, "Tick runs to see their convergence in one plot."),
      );
      return;
    }
    replace(
      drawn,
      el("h2", {}, "Convergence"),
      el(
        "div",
        { class: "tools" },
        el("span", { class: "quiet" }, "against"),
        ["seconds", "iteration", "nodes"].map((key) =>
          button(
            key === "iteration" ? "iterations" : key === "nodes" ? "nodes touched" : key,
            () => change({ x: key }, { instead: true }),
            { "aria-pressed": String(x === key) },
          ),
        ),
      ),
      plot.element,
    );
    const got = await curvesOf(names, x);
    Object.assign(plot.options, {
      y: got.y,
      x: { seconds: "seconds", iteration: "iterations", nodes: "nodes touched" }[x],
      logX: x !== "seconds",
    });
    plot.draw(got.curves);
  }

  async function read() {
    const got = await attempt(get("runs"));
    if (!got) return;
    [runs, unreadable] = [got.runs, got.unreadable];
    paint();
    draw();
  }

  function follow() {
    jobs.hidden = list.update(live.jobs).length === 0;
    paint();
  }

  const ends = [listen("runs", read), listen("jobs", follow)];
  follow();
  read();
  return {
    update(next) {
      chosen = new Set((next.chosen ?? "").split("|").filter(Boolean));
      x = next.x ?? "seconds";
      paint();
      draw();
    },
    destroy() {
      for (const end of ends) end();
      plot.destroy();
      list.destroy();
    },
    keys: {
      "/": ["search", () => search.focus()],
      n: [
        "new spot",
        () => {
          location.hash = link({ view: "spot" });
        },
      ],
    },
  };
}
