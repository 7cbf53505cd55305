// Bet sizes that matter: choose the best few, and see their loss and that of all others.
import { attempt, get, listen, live, start } from "./api.js";
import { button, choice, el, field, replace, select, textOf } from "./dom.js";
import { cards, parseCards } from "./cards.js";
import { JobList, isSizes } from "./jobs.js";
import { change, link } from "./route.js";
import { answerView } from "./sizesanswer.js";
import { asSpot, draft, streetOf } from "./spots.js";

export function mount(root, first) {
  let params = first;
  const values = {
    player: "oop",
    keep: "1",
    lose: "",
    street: "",
    bets: "20%, 33%, 50%, 75%, 100%, 150%, 200%, a",
    raises: "40%, 70%, 100%, 150%, a",
    restrict: "bets",
    by: "keep",
    per_decision: false,
  };
  const form = el("section", { class: "panel", "aria-label": "Question" });
  const answer = el("section", { class: "panel wide", "aria-label": "Answer" });
  const list = new JobList((job) => isSizes(job) && (!params.job || job.job === params.job));
  root.append(el("div", { class: "columns sizes-view" }, el("div", { class: "side" }, form, list.element), answer));
  let from = params.run ?? "";
  let drawn = null;

  const text = (key, props) => textOf(values, key, props);

  async function paint() {
    const runs = ((await attempt(get("runs")))?.runs ?? []).filter((run) => run.kind === "spot");
    const spot = draft();
    replace(
      form,
      el("h2", {}, "Which sizes matter?"),
      el(
        "p",
        { class: "quiet" },
        "Find the best few sizes for one player against an opponent who may use all of them, with certified bounds on the loss.",
      ),
      field(
        "Spot",
        select(
          [["", `the editor's spot: ${spot.board}`], ...runs.map((run) => [run.run, run.run])],
          from,
          (run) => {
            from = run;
          },
          { name: "from" },
        ),
      ),
      from
        ? null
        : el(
            "p",
            {},
            cards(parseCards(spot.board)),
            el(
              "span",
              { class: "quiet" },
              ` ${streetOf(spot.board) ?? ""}, pot ${spot.pot}, stack ${spot.effective_stack} `,
            ),
            el("a", { href: link({ view: "spot" }) }, "edit"),
          ),
      el(
        "div",
        { class: "fields" },
        field(
          "For",
          select(
            [
              ["oop", "out of position"],
              ["ip", "in position"],
            ],
            values.player,
            (value) => {
              values.player = value;
            },
            { name: "player" },
          ),
        ),
        field(
          "Choose",
          select(
            [
              ["bets", "bets"],
              ["raises", "raises"],
              ["both", "both"],
            ],
            values.restrict,
            (value) => {
              values.restrict = value;
            },
            { name: "restrict" },
          ),
        ),
        field(
          "Street",
          select(
            [
              ["", "the first"],
              ["flop", "flop"],
              ["turn", "turn"],
              ["river", "river"],
              ["all", "all, one menu each"],
            ],
            values.street,
            (value) => {
              values.street = value;
            },
            { name: "street" },
          ),
        ),
      ),
      choice(
        "Limit",
        [
          ["keep", "number of sizes"],
          ["lose", "lose at most"],
        ],
        values.by,
        (by) => {
          values.by = by;
          paint();
        },
      ),
      values.by === "keep"
        ? field("Number of sizes, all-in included", text("keep", { inputmode: "numeric" }))
        : field("Lose at most, % of pot", text("lose", { inputmode: "decimal", placeholder: "0.1" })),
      field("Candidates for bets", text("bets"), { wide: true }),
      field("Candidates for raises", text("raises"), { wide: true }),
      el(
        "label",
        { class: "tick" },
        el("input", {
          type: "checkbox",
          checked: values.per_decision,
          on: {
            change: (event) => {
              values.per_decision = event.target.checked;
            },
          },
        }),
        " one menu per line of the first street",
      ),
      el("div", { class: "tools" }, button("Find sizes", ask, { class: "main" })),
    );
  }

  async function ask() {
    const spot = from ? (await attempt(get("run", { run: from })))?.spot : asSpot(draft());
    if (!spot) return;
    const body = {
      what: "sizes",
      spot,
      player: values.player,
      restrict: values.restrict,
      bets: values.bets,
      raises: values.raises,
      per_decision: values.per_decision,
    };
    if (values.street) body.street = values.street;
    if (values.by === "keep") body.keep = Number(values.keep);
    else body.lose = Number(values.lose);
    const job = await start(body);
    if (job) change({ job: job.job });
  }

  /** Shows the answer of a run folder instead of a job's. */
  async function showRun(run) {
    const result = (await attempt(get("run", { run })))?.result;
    if (params.answer === run) replace(answer, result ? answerView(result) : el("p", { class: "quiet nothing" }, "There is no answer yet."));
  }

  function follow() {
    if (params.answer && !params.job) {
      list.update(live.jobs);
      if (drawn !== params.answer) showRun((drawn = params.answer));
      return;
    }
    const shown = list.update(live.jobs);
    const done = shown.find((job) => job.result);
    if (done?.job === drawn) return;
    drawn = done?.job ?? null;
    if (done) replace(answer, answerView(done.result));
    else
      replace(
        answer,
        el(
          "p",
          { class: "quiet nothing" },
          shown.length
            ? "The answer appears here once it is certified."
            : "Start a search: its table and two pictures appear here.",
        ),
      );
  }

  paint();
  follow();
  const end = listen("jobs", follow);
  return {
    update(next) {
      params = next;
      drawn = undefined;
      follow();
    },
    destroy() {
      end();
      list.destroy();
    },
  };
}
