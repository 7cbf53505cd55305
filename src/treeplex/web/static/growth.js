// Growth: a spot or a game is solved while bet sizes are added; they appear in a table as they are added.
import { attempt, get, listen, live, start } from "./api.js";
import { button, el, field, replace, row, select, table, textOf } from "./dom.js";
import { count, fixed, precise, size } from "./format.js";
import { JobList, gameOf } from "./jobs.js";
import { Plot } from "./plot.js";
import { change, link } from "./route.js";
import { asSpot, draft } from "./spots.js";

const SIZED = /continuous|sized/i;

export function mount(root, first) {
  let params = first;
  const values = { from: params.run ?? "", target: "0.5", seconds: "20", bets: "", raises: "", street: "" };
  const form = el("section", { class: "panel", "aria-label": "Question" });
  const output = el("section", { class: "panel wide", "aria-label": "Sizes found" });
  const list = new JobList((job) => job.what === "grow" && (!params.job || job.job === params.job), { tall: 190 });
  const plot = new Plot({
    x: "iterations",
    y: "sizes found",
    height: 180,
    label: "sizes found over iterations",
    format: (value) => count(value),
  });
  let seen = "";
  root.append(el("div", { class: "columns" }, el("div", { class: "side" }, form, list.element), output));

  const text = (key, props) => textOf(values, key, props);

  async function paint() {
    const runs = ((await attempt(get("runs")))?.runs ?? []).filter((run) => run.kind === "spot");
    const games = (live.about?.games ?? []).filter((name) => SIZED.test(name));
    const spot = draft();
    const options = [
      ["", `the editor's spot: ${spot.board}`],
      ...runs.map((run) => [`run:${run.run}`, run.run]),
      ...games.map((name) => [`game:${name}`, name]),
    ];
    const game = values.from.startsWith("game:");
    replace(
      form,
      el("h2", {}, "Find sizes while solving"),
      el(
        "p",
        { class: "quiet" },
        "The solve starts with few sizes and adds those that matter. Exploitability is measured with all candidates allowed.",
      ),
      field(
        "Spot or game",
        select(
          options,
          values.from,
          (from) => {
            values.from = from;
            paint();
          },
          { name: "from" },
        ),
      ),
      el(
        "div",
        { class: "fields" },
        game ? null : field("Target, % of pot", text("target", { inputmode: "decimal" })),
        field("At most, seconds", text("seconds", { inputmode: "decimal" })),
      ),
      game
        ? null
        : [
            field("Candidates for bets", text("bets", { placeholder: "20%, 33%, 50%, 75%, … a" }), { wide: true }),
            field("Candidates for raises", text("raises", { placeholder: "40%, 70%, 100%, 150%, a" }), { wide: true }),
            field(
              "Street",
              select(
                [
                  ["", "the first"],
                  ["flop", "flop"],
                  ["turn", "turn"],
                  ["river", "river"],
                  ["all", "all"],
                ],
                values.street,
                (street) => {
                  values.street = street;
                },
              ),
            ),
          ],
      el("div", { class: "tools" }, button("Grow", ask, { class: "main" })),
    );
  }

  async function ask() {
    const body = { what: "grow" };
    if (values.from.startsWith("game:")) body.game = values.from.slice(5);
    else {
      body.spot = values.from ? (await attempt(get("run", { run: values.from.slice(4) })))?.spot : asSpot(draft());
      if (!body.spot) return;
      if (values.target.trim()) body.exploitability = `${values.target.trim()}%pot`;
      for (const key of ["bets", "raises", "street"]) if (values[key].trim()) body[key] = values[key].trim();
    }
    if (values.seconds.trim()) body.seconds = Number(values.seconds);
    const job = await start(body);
    if (job) change({ job: job.job });
  }

  function follow() {
    const [job] = list.update(live.jobs);
    const added = job?.progress?.additions ?? [];
    const mark = `${job?.job} ${job?.state} ${added.length}`;
    if (mark === seen) return;
    seen = mark;
    if (!job) return replace(output, el("p", { class: "quiet nothing" }, "Sizes appear here as they are added."));
    const sized = added.some((each) => typeof each.histories === "number");
    const columns = [
      { name: "added at", number: true, title: "Iteration" },
      { name: "player" },
      { name: "decision" },
      { name: "size" },
      {
        name: "gain",
        number: true,
        title: "Chips per hand that the size won, when it was added, from an opponent who had no reply to it",
      },
      ...(sized ? [{ name: "nodes added", number: true }] : []),
    ];
    const rows = [...added]
      .reverse()
      .slice(0, 200)
      .map((each) =>
        row(
          [
            count(each.iteration),
            typeof each.player === "number"
              ? gameOf(job)
                ? `player ${each.player}`
                : ["OOP", "IP"][each.player]
              : each.player,
            each.decision || "first to act",
            `${each.word ?? ""} ${typeof each.size === "number" ? precise(each.size) : size(each.size)}`.trim(),
            fixed(each.gain, 3),
            ...(sized ? [count(each.histories)] : []),
          ],
          columns,
        ),
      );
    replace(
      output,
      el(
        "header",
        {},
        el("h2", {}, `${count(added.length)} sizes found`),
        job.run && job.state === "done"
          ? el(
              "a",
              {
                class: "button main",
                href: link(gameOf(job) ? { view: "games", run: job.run } : { view: "browse", run: job.run }),
              },
              "browse the solution",
            )
          : null,
      ),
      plot.element,
      added.length ? table("Sizes found, newest first", columns, rows) : el("p", { class: "quiet" }, "None yet."),
    );
    const at = [...new Set(added.map((each) => each.iteration))];
    return plot.draw(
      at.length
        ? [
            {
              name: "sizes found",
              x: [0, ...at],
              y: [0, ...at.map((iteration) => added.filter((each) => each.iteration <= iteration).length)],
              points: true,
            },
          ]
        : [],
    );
  }

  paint();
  follow();
  const end = listen("jobs", follow);
  return {
    update(next) {
      params = next;
      seen = "";
      follow();
    },
    destroy() {
      end();
      list.destroy();
      plot.destroy();
    },
  };
}
