// Locks: fix the frequencies of hands at a decision, solve around them, compare before and after.
import { attempt, get, listen, live, start, toast } from "./api.js";
import { button, choice, el, field, replace } from "./dom.js";
import { CLASSES } from "./grid.js";
import { percent } from "./format.js";
import { JobList } from "./jobs.js";
import { link } from "./route.js";
import { load, save } from "./store.js";

export function locksOf(run) {
  return load(`locks:${run}`, []);
}

/** The tab "Lock" of a node. `repaint()` repaints the grid; `chosen` has the classes chosen there. */
export class LockPanel {
  constructor(repaint) {
    this.element = el("div", { class: "lock" });
    this.chosen = new Set();
    this.text = "";
    this.who = "all";
    this.repaint = repaint;
    this.job = null;
    this.list = new JobList((job) => job.job === this.job);
    this.end = listen("jobs", (jobs) => this.follow(jobs));
  }

  async update(run, node, actions) {
    if (this.run !== run) {
      this.run = run;
      this.about = await attempt(get("run", { run }));
      const saved = this.about?.request?.options?.locks ?? [];
      if (!load(`locks:${run}`, null) && Array.isArray(saved) && saved.length) save(`locks:${run}`, saved);
    }
    if (this.line !== node.line) {
      this.line = node.line;
      this.shares = actions.map((action) => Math.round(1000 * (action.frequency ?? 0)) / 10);
      this.chosen.clear();
    }
    [this.node, this.actions] = [node, actions];
    this.paint();
  }

  toggle(k) {
    this.who = "some";
    const name = CLASSES[k];
    if (this.chosen.has(name)) this.chosen.delete(name);
    else this.chosen.add(name);
    this.text = [...this.chosen].join(",");
    this.paint();
    this.repaint();
  }

  shareInput(action, k) {
    const input = el("input", {
      type: "number",
      min: "0",
      max: "100",
      step: "0.1",
      value: String(this.shares[k] ?? 0),
      "aria-label": `${action.name}, per cent`,
      name: `share-${k}`,
      on: {
        input: () => {
          this.shares[k] = Number(input.value);
          this.sum();
        },
      },
    });
    return el(
      "div",
      { class: "share" },
      el("i", { class: "swatch", style: { background: action.colour, color: action.ink } }, action.letter),
      el("span", {}, action.label ?? action.name),
      input,
      el("span", {}, "%"),
      button(
        "always",
        () => {
          this.shares = this.actions.map((_, i) => (i === k ? 100 : 0));
          this.paint();
        },
        { "aria-label": `${action.name} always` },
      ),
    );
  }

  sum() {
    const sum = this.shares.reduce((all, share) => all + (share || 0), 0);
    this.total.textContent =
      Math.abs(sum - 100) < 0.35 ? "" : `The sum is ${percent(sum / 100)}; the frequencies are scaled to 100%.`;
    return sum;
  }

  add() {
    const sum = this.sum();
    if (!(sum > 0)) return toast("Set a frequency above zero for at least one action.");
    const hands = this.who === "all" ? "all" : this.text.trim();
    if (!hands) return toast("Type hands, or click classes on the grid.");
    const plays = {};
    this.actions.forEach((action, k) => {
      if (this.shares[k] > 0) plays[action.name] = this.shares[k] / sum;
    });
    const locks = locksOf(this.run).filter(
      (lock) => !(lock.line === this.node.line && Object.keys(lock.strategy).join() === hands),
    );
    save(`locks:${this.run}`, [...locks, { line: this.node.line, strategy: { [hands]: plays } }]);
    this.paint();
    return undefined;
  }

  paint() {
    const { node } = this;
    this.total = el("p", { class: "sentence", role: "status" });
    const acts = node.kind === "decision";
    const text = el("input", {
      type: "text",
      value: this.text,
      name: "locked-hands",
      placeholder: "AA, AKs … or click classes on the grid",
      on: {
        input: () => {
          this.text = text.value;
          this.chosen = new Set(text.value.split(/[\s,]+/).filter((name) => CLASSES.includes(name)));
          this.repaint();
        },
      },
    });
    replace(
      this.element,
      acts
        ? el(
            "section",
            {},
            el("h3", {}, `Lock ${node.to_act.toUpperCase()} here`),
            choice(
              "Which hands",
              [
                ["all", "all hands"],
                ["some", "some hands"],
              ],
              this.who,
              (who) => {
                this.who = who;
                this.paint();
                this.repaint();
              },
            ),
            this.who === "some" ? field("Hands", text, { wide: true }) : null,
            el(
              "div",
              { class: "shares" },
              this.actions.map((action, k) => this.shareInput(action, k)),
            ),
            this.total,
            el(
              "div",
              { class: "tools" },
              button("Add lock", () => this.add(), { class: "main", id: "add-lock" }),
              button(
                "as solved",
                () => {
                  this.shares = this.actions.map((action) => Math.round(1000 * action.frequency) / 10);
                  this.paint();
                },
                { title: "Use the frequencies of the solution" },
              ),
            ),
          )
        : null,
      this.locked(),
      this.list.element,
      this.before(),
    );
    if (acts) this.sum();
  }

  locked() {
    const locks = locksOf(this.run);
    const target = el("input", {
      type: "text",
      inputmode: "decimal",
      value: load("target", "0.5"),
      name: "lock-target",
    });
    return el(
      "section",
      {},
      el("h3", {}, "Locks to solve with"),
      locks.length
        ? el(
            "ul",
            { class: "locks" },
            locks.map((lock, k) =>
              el(
                "li",
                {},
                el(
                  "span",
                  {},
                  el(
                    "a",
                    { href: link({ view: "browse", run: this.run, line: lock.line, tab: "lock" }) },
                    lock.line || "start",
                  ),
                  ": ",
                  Object.entries(lock.strategy)
                    .map(
                      ([hands, plays]) =>
                        `${hands} ${Object.entries(plays)
                          .map(([name, part]) => `${name} ${typeof part === "number" ? percent(part) : part}`)
                          .join(", ")}`,
                    )
                    .join("; "),
                ),
                button(
                  "×",
                  () => {
                    save(
                      `locks:${this.run}`,
                      locks.filter((_, i) => i !== k),
                    );
                    this.paint();
                  },
                  { "aria-label": "Remove this lock" },
                ),
              ),
            ),
          )
        : el(
            "p",
            { class: "quiet" },
            "There are no locks yet. Locked hands play your frequencies, and everything else is solved around them.",
          ),
      el(
        "div",
        { class: "tools" },
        field("Target, % of pot", target),
        button("Solve around it", () => this.solve(target.value), {
          class: "main",
          id: "solve-around",
          disabled: !locks.length,
        }),
      ),
    );
  }

  async solve(target) {
    const spot = this.about?.spot;
    if (!spot) return toast("The spot of this run is unknown.");
    const job = await start({
      what: "solve",
      spot,
      exploitability: `${target.trim()}%pot`,
      locks: locksOf(this.run),
      name: lockedName(this.run),
    });
    if (!job) return undefined;
    this.job = job.job;
    save(`before:${job.job}`, this.run);
    return this.follow(live.jobs);
  }

  follow(jobs) {
    const [job] = this.list.update(jobs);
    if (job?.run) save(`before-run:${job.run}`, this.run);
    const note = this.element.querySelector(".before");
    if (note && this.node) note.replaceWith(this.before());
  }

  /** A link to the comparison, once the new run is done, or if this run was solved around locks of another. */
  before() {
    const job = live.jobs.find((each) => each.job === this.job);
    const earlier = load(`before-run:${this.run}`, null);
    const line = this.node.line;
    const to =
      job?.run && job.state === "done"
        ? { run: this.run, other: job.run }
        : earlier
          ? { run: earlier, other: this.run }
          : null;
    return el(
      "p",
      { class: "before" },
      to
        ? el(
            "a",
            { class: "button main", id: "before-after", href: link({ view: "compare", ...to, line }) },
            "Compare before and after",
          )
        : null,
    );
  }

  destroy() {
    this.end();
    this.list.destroy();
  }
}

/** A legal name for the run with locks, derived from the original run. */
function lockedName(run) {
  const plain = run.split("/").at(-1).replace(/[^\w+.=,-]+/g, "_").replace(/(-locked)+$/, "").replace(/^[^\w]+/, "");
  return `${plain.slice(0, 60) || "run"}-locked`;
}
