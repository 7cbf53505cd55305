// The spot editor: board, ranges, money, sizes, cost estimates, import, export and solve.
import { about, attempt, get, listen, live, post } from "./api.js";
import { button, debounce, el, field, replace } from "./dom.js";
import { cards, deck, parseCards } from "./cards.js";
import { JobList } from "./jobs.js";
import { sizesForm } from "./menu.js";
import { RangeEditor } from "./ranges.js";
import { cost as estimated, solveForm } from "./solving.js";
import { asDraft, asSpot, draft, keep, streetOf } from "./spots.js";
import { load, save } from "./store.js";

const MORE = [
  ["rake_rate", "Rake", "0.05 or 5%"],
  ["rake_cap", "Rake cap", "empty: no cap"],
  ["dead_money", "Dead money", "added to the pot"],
  ["chip", "Chip unit", "0.01, 0.5, 1"],
  ["add_allin_threshold", "Add all-in", "if it is at most this × pot"],
  ["force_allin_threshold", "Force all-in", "if at most this fraction of the stack is left"],
  ["merging_threshold", "Merge sizes", "if they are closer than this"],
];

export function mount(root, params) {
  let spot = draft();
  let job = null;
  let calls = 0;
  const ends = [];
  const board = el("div", { class: "board" });
  const picker = el("div");
  const money = el("div", { class: "fields" });
  const sizes = el("div");
  const cost = el("div", { class: "cost", role: "status" });
  const ranges = el("div", { class: "ranges" });
  const solve = el("div", { class: "solve" });
  const list = new JobList((each) => each.job === job, { tall: 180 });

  /** The first missing input, known without the server. */
  function missing() {
    if (!streetOf(spot.board)) return "Choose 3 to 5 cards for the board.";
    const empty = ["oop", "ip"].find((player) => !(spot[`${player}_range`] ?? "").trim());
    return empty ? `Give ${empty.toUpperCase()} a range: paint it on the grid or type it.` : null;
  }

  const check = debounce(async () => {
    const call = ++calls;
    const needed = missing();
    if (needed) {
      replace(cost, el("p", { class: "quiet" }, needed));
      return;
    }
    try {
      const got = await post("spot", { spot: asSpot(spot) });
      if (call === calls) replace(cost, estimated(got));
    } catch (error) {
      if (call === calls) replace(cost, el("p", { class: "sentence" }, error.message));
    }
  }, 350);

  function changed() {
    keep(spot);
    check();
  }

  function paintBoard() {
    const chosen = parseCards(spot.board);
    replace(
      board,
      el("h3", {}, "Board"),
      cards(chosen),
      el("span", { class: "quiet" }, streetOf(spot.board) ?? "3 to 5 cards"),
      chosen.length ? button("clear", () => setBoard([])) : null,
      button("random", () => {
        const all = [...Array(52).keys()].map((k) => "AKQJT98765432"[k % 13] + "shdc"[Math.floor(k / 13)]);
        const length = Math.max(3, chosen.length);
        setBoard(Array.from({ length }, () => all.splice(Math.floor(Math.random() * all.length), 1)[0]));
      }),
    );
    replace(
      picker,
      deck(
        "Cards of the board",
        (name) => ({
          pressed: chosen.includes(name),
          disabled: chosen.length === 5 && !chosen.includes(name),
        }),
        (name) => {
          setBoard(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
          picker.querySelector(`[data-card="${name}"]`)?.focus();
        },
      ),
    );
    sizesForm(sizes, spot, changed);
  }

  function setBoard(chosen) {
    spot.board = chosen.join(" ");
    paintBoard();
    changed();
  }

  function input(key, props = {}) {
    return el("input", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      value: spot[key] ?? "",
      ...props,
      name: key,
      on: {
        input: (event) => {
          spot[key] = event.target.value;
          changed();
        },
      },
    });
  }

  function paintMoney() {
    replace(
      money,
      field("Pot", input("pot")),
      field("Effective stack", input("effective_stack")),
      el(
        "details",
        { class: "more", open: load("more", false), on: { toggle: (event) => save("more", event.target.open) } },
        el("summary", {}, "rake, dead money, chip unit, thresholds"),
        el(
          "div",
          { class: "fields" },
          MORE.map(([key, label, hint]) => field(label, input(key), { hint })),
        ),
      ),
    );
  }

  function paintRanges() {
    const presets = live.about?.presets?.ranges ?? {};
    const made = [
      ["oop", "Out of position (OOP)"],
      ["ip", "In position (IP)"],
    ].map(
      ([player, name]) =>
        new RangeEditor(name, spot[`${player}_range`] ?? "", {
          presets,
          change: (text) => {
            if (spot[`${player}_range`] === text) return;
            spot[`${player}_range`] = text;
            changed();
          },
        }),
    );
    made.forEach((each, k) => {
      each.element.dataset.player = ["oop", "ip"][k];
    });
    replace(
      ranges,
      made.map((each) => each.element),
    );
  }

  /** Uses an import: a spot, parts of a spot, or only ranges. */
  function take(got) {
    const [oop, ip] = Object.entries(got.ranges ?? {})
      .sort(([one], [two]) => (one === "ip") - (two === "ip"))
      .map(([, text]) => text);
    const imported = Object.fromEntries(
      [
        ["oop_range", oop],
        ["ip_range", ip],
      ].filter(([, text]) => text !== undefined),
    );
    spot = got.ranges
      ? { ...spot, ...imported }
      : got.partial
        ? { ...spot, ...asDraft({ ...asSpot(spot), ...got.spot }) }
        : asDraft(got.spot);
    const percentOfPot = /^([\d.]+)%pot$/.exec(got.target ?? "");
    if (percentOfPot) save("target", percentOfPot[1]);
    keep(spot);
    paint();
  }

  function paint() {
    paintBoard();
    paintMoney();
    paintRanges();
    replace(
      solve,
      solveForm({
        spot: () => asSpot(spot),
        take,
        below: list.element,
        started: (made) => {
          job = made;
          list.update(live.jobs);
        },
      }),
    );
    check();
  }

  root.append(
    el(
      "div",
      { class: "editor" },
      el(
        "div",
        { class: "side" },
        el("section", { class: "panel", "aria-label": "Board and money" }, board, picker, money),
        el("section", { class: "panel", "aria-label": "Sizes" }, sizes),
      ),
      el(
        "div",
        { class: "side" },
        ranges,
        el("section", { class: "panel solving", "aria-label": "Solve" }, cost, solve),
      ),
    ),
  );
  ends.push(listen("jobs", (jobs) => list.update(jobs)));
  (async () => {
    await attempt(about());
    if (params.run) {
      const got = await attempt(get("run", { run: params.run }));
      if (got?.spot) spot = asDraft(got.spot);
    }
    paint();
  })();
  return {
    update: (next) => next.run === params.run,
    destroy() {
      for (const end of ends) end();
      list.destroy();
    },
    keys: { s: ["solve", () => document.getElementById("solve")?.click()] },
  };
}
