// A job of the queue as a card: title, progress, convergence and buttons.
import { attempt, get, post, refresh } from "./api.js";
import { button, el, replace } from "./dom.js";
import { count, precise, seconds } from "./format.js";
import { Plot } from "./plot.js";
import { link } from "./route.js";

const STATES = {
  queued: "waiting",
  running: "running",
  done: "done",
  stopped: "stopped",
  failed: "failed",
  unconfirmed: "waits for you",
};

/** The game of a job, or null where it is a spot. */
export function gameOf(job) {
  if (job.game !== undefined) return job.game;
  return /^([2-9TJQKA][cdhs][ ,]*){3}/.test(job.title ?? "") ? null : job.title;
}

/** Whether a job is a search for bet sizes or its continuation. */
export function isSizes(job) {
  return job.what === "sizes" || Boolean(job.result?.certified);
}

export function resultLink(job) {
  if (isSizes(job)) return link({ view: "sizes", job: job.job });
  if (job.what === "grow") return link({ view: "growth", job: job.job });
  if (!job.run) return null;
  return gameOf(job) ? link({ view: "games", run: job.run }) : link({ view: "browse", run: job.run });
}

async function act(job, what) {
  await attempt(post(`jobs/${encodeURIComponent(job.job)}/${what}`, {}));
  await attempt(refresh());
}

export class JobCard {
  constructor(job, { tall = 150 } = {}) {
    this.plot = new Plot({ x: "seconds", y: "", logY: true, height: tall, label: "convergence" });
    this.title = el("h3");
    this.facts = el("p", { class: "progress-text" });
    this.wrong = el("p", { class: "sentence" });
    this.tools = el("div", { class: "tools" });
    this.element = el(
      "article",
      { class: "job", data: { job: job.job } },
      el("header", {}, this.title, this.tools),
      this.facts,
      this.wrong,
      this.plot.element,
    );
    this.rows = -1;
    this.update(job);
  }

  update(job) {
    this.job = job;
    const progress = job.progress ?? {};
    const rows = (progress.rows ?? []).filter((row) => row[2] > 0);
    replace(
      this.title,
      job.title ?? job.what,
      " ",
      el("span", { class: `state ${job.state}` }, STATES[job.state] ?? job.state),
    );
    const part = typeof progress.percent_of_pot === "number";
    const parts = [
      progress.iteration ? `${count(progress.iteration)} iterations` : null,
      progress.seconds ? seconds(progress.seconds) : null,
      part
        ? `exploitability ${precise(progress.percent_of_pot)}% of pot`
        : typeof progress.nash_conv === "number"
          ? `NashConv ${precise(progress.nash_conv)}`
          : null,
      part && progress.target_percent_of_pot
        ? `target ${precise(progress.target_percent_of_pot)}%`
        : progress.target
          ? `target ${precise(progress.target)}`
          : null,
      progress.compiling ? "compiling kernels (only once on this machine)" : null,
      progress.text || null,
      job.stopping && job.state === "running" ? "stopping …" : null,
    ];
    this.facts.textContent = parts.filter(Boolean).join(" · ");
    replace(this.wrong, job.error ?? "");
    const goes = job.state === "running" || job.state === "queued";
    const open = resultLink(job);
    replace(
      this.tools,
      goes ? button("stop", () => act(job, "stop"), { title: "Stop with the answer so far" }) : null,
      job.state === "unconfirmed"
        ? button("start", () => act(job, "start"), { class: "main", title: "This job came with the folder" })
        : null,
      !goes && open && !["failed", "unconfirmed"].includes(job.state) ? el("a", { class: "button main", href: open }, "open") : null,
      !goes
        ? button("×", () => act(job, "remove"), { "aria-label": "Remove from the list", title: "Remove from the list" })
        : null,
    );
    if (!goes && job.run && !isSizes(job)) {
      this.whole ??= this.finish(job);
      return;
    }
    this.plot.element.hidden = rows.length < 2;
    if (rows.length !== this.rows && rows.length > 1) {
      this.rows = rows.length;
      const unit = part && progress.nash_conv ? progress.percent_of_pot / progress.nash_conv : 1;
      this.draw(
        part,
        rows.map((row) => row[1]),
        rows.map((row) => row[2] * unit),
      );
    }
  }

  draw(part, x, y) {
    this.plot.options.y = part ? "% of pot" : "NashConv";
    this.plot.draw([{ name: part ? "exploitability, % of pot" : "NashConv", x, y }]);
  }

  /** Draws the whole curve of a finished job from its run's log. */
  async finish(job) {
    let columns = null;
    try {
      ({ columns } = await get("log", { run: job.run }));
    } catch {
      /* the job failed before it wrote a log */
    }
    const values = columns?.percent_of_pot ?? columns?.nash_conv ?? [];
    const positive = values.map((_, k) => k).filter((k) => values[k] > 0);
    this.plot.element.hidden = positive.length < 2;
    if (positive.length > 1)
      this.draw(
        Boolean(columns.percent_of_pot),
        positive.map((k) => columns.seconds[k]),
        positive.map((k) => values[k]),
      );
  }

  destroy() {
    this.plot.destroy();
  }
}

/** A list of cards that follows the queue. `chosen(job)` returns whether to show a job. */
export class JobList {
  constructor(chosen = () => true, options = {}) {
    this.chosen = chosen;
    this.options = options;
    this.cards = new Map();
    this.element = el("div", { class: "jobs" });
  }

  update(jobs) {
    const selected = jobs.filter(this.chosen);
    for (const [id, made] of this.cards)
      if (!selected.some((job) => job.job === id)) {
        made.destroy();
        made.element.remove();
        this.cards.delete(id);
      }
    for (const job of selected) {
      const made = this.cards.get(job.job);
      if (made) made.update(job);
      else {
        const card = new JobCard(job, this.options);
        this.cards.set(job.job, card);
        this.element.append(card.element);
        card.plot.fit();
      }
    }
    return selected;
  }

  destroy() {
    for (const made of this.cards.values()) made.destroy();
  }
}
