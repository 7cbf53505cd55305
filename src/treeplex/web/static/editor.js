// The spot editor: board, ranges, money, sizes; what it will cost; import, export and solve.
import { about, get, listen, live, post, start, tried } from "./api.js";
import { button, debounce, el, field, replace, select } from "./dom.js";
import { cards, deck, parseCards } from "./cards.js";
import { bytes, count, seconds } from "./format.js";
import { exchange } from "./exchange.js";
import { JobList } from "./jobs.js";
import { RangeEditor } from "./ranges.js";
import { STREETS, asDraft, asSpot, draft, keep, streetOf } from "./spots.js";
import { load, save } from "./store.js";

const MORE = [["rake_rate", "Rake", "0.05 or 5%"], ["rake_cap", "Rake cap", "empty: none"], ["dead_money", "Dead money", "added to the pot"],
  ["chip", "Chip unit", "0.01, 0.5, 1"],
  ["add_allin_threshold", "Add all-in", "where it is at most this × pot"], ["force_allin_threshold", "Force all-in", "where at most this share is left"],
  ["merging_threshold", "Merge sizes", "closer than this"]];

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

  /** What is plainly missing, said without asking the server. */
  function missing() {
    if (!streetOf(spot.board)) return "Choose 3 to 5 cards for the board.";
    const empty = ["oop", "ip"].find((player) => !(spot[`${player}_range`] ?? "").trim());
    return empty ? `Give ${empty.toUpperCase()} a range: paint it or write it.` : null;
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
      if (call === calls) told(got);
    } catch (error) {
      if (call === calls) replace(cost, el("p", { class: "sentence" }, error.message));
    }
  }, 350);

  function changed() {
    keep(spot);
    check();
  }

  function told(got) {
    const [storage, least] = ["float32", "int16"].map((name) => [name, got.bytes?.[name]]).concat(Object.entries(got.bytes ?? {}))
      .find(([, size]) => size !== undefined) ?? ["", undefined];
    const half = got.bytes?.int16;
    const times = Object.entries(got.seconds ?? {}).map(([target, each]) => `${seconds(each)} to ${target.replace("%pot", "% of pot")}`);
    const tight = got.bytes_free && least > got.bytes_free;
    replace(cost,
      el("p", {}, el("strong", {}, count(got.nodes)), " nodes · ", el("strong", { class: tight ? "bad" : null }, bytes(least)), " of memory",
        half && storage !== "int16" ? ` (${bytes(half)} with 16-bit storage)` : "", got.bytes_free ? ` · ${bytes(got.bytes_free)} free` : ""),
      times.length ? el("p", {}, "about ", times.join(", ")) : null,
      got.decisions_by_street ? el("p", { class: "quiet" }, "decisions: ", got.decisions_by_street.map((n, k) => [STREETS[STREETS.length - got.decisions_by_street.length + k], n]).filter(([, n]) => n)
        .map(([street, n]) => `${street} ${count(n)}`).join(" · ")) : null);
  }

  function paintBoard() {
    const chosen = parseCards(spot.board);
    replace(board, el("h3", {}, "Board"), cards(chosen), el("span", { class: "quiet" }, streetOf(spot.board) ?? "3 to 5 cards"),
      chosen.length ? button("clear", () => setBoard([])) : null,
      button("random", () => {
        const all = [...Array(52).keys()].map((k) => "AKQJT98765432"[k % 13] + "shdc"[Math.floor(k / 13)]);
        const length = Math.max(3, chosen.length);
        setBoard(Array.from({ length }, () => all.splice(Math.floor(Math.random() * all.length), 1)[0]));
      }));
    replace(picker, deck("Cards of the board", (name) => ({
      pressed: chosen.includes(name), disabled: chosen.length === 5 && !chosen.includes(name),
    }), (name) => {
      setBoard(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
      picker.querySelector(`[data-card="${name}"]`)?.focus();
    }));
    paintSizes();
  }

  function setBoard(chosen) {
    spot.board = chosen.join(" ");
    paintBoard();
    changed();
  }

  function input(key, props = {}) {
    return el("input", { type: "text", inputmode: "decimal", autocomplete: "off", value: spot[key] ?? "", ...props, name: key,
      on: { input: (event) => { spot[key] = event.target.value; changed(); } } });
  }

  function paintMoney() {
    replace(money, field("Pot", input("pot")), field("Effective stack", input("effective_stack")),
      el("details", { class: "more", open: load("more", false), on: { toggle: (event) => save("more", event.target.open) } },
        el("summary", {}, "rake, dead money, chip unit, thresholds"),
        el("div", { class: "fields" }, MORE.map(([key, label, hint]) => field(label, input(key), { hint })))));
  }

  function sizeInput(street, player, kind) {
    return el("input", { type: "text", autocomplete: "off", spellcheck: "false", value: spot.sizes[street]?.[player]?.[kind] ?? "",
      "aria-label": `${street} ${player.toUpperCase()} ${kind} sizes`, placeholder: "none", name: `${street}-${player}-${kind}`,
      on: { input: (event) => {
        ((spot.sizes[street] ??= {})[player] ??= {})[kind] = event.target.value;
        changed();
      } } });
  }

  function paintSizes() {
    const first = Math.max(0, STREETS.indexOf(streetOf(spot.board) ?? "flop"));
    const presets = live.about?.presets?.sizes ?? {};
    const pick = select([["", "presets …"], ...Object.keys(presets).map((key) => [key, key])], "", (key) => {
      if (!key) return;
      spot.sizes = asDraft({ sizes: presets[key] }).sizes;
      paintSizes();
      changed();
    }, { "aria-label": "Presets of sizes" });
    replace(sizes, el("header", {}, el("h3", {}, "Bet sizes"), pick,
      button("IP as OOP", () => {
        for (const street of STREETS) if (spot.sizes[street]) spot.sizes[street].ip = { ...spot.sizes[street].oop };
        paintSizes();
        changed();
      }, { title: "The same sizes for both players" })),
      el("table", { class: "sizes" }, el("caption", { class: "unseen" }, "Bet sizes by street and player"),
        el("thead", {}, el("tr", {}, ["", "OOP bets", "raises", "IP bets", "raises"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, STREETS.slice(first).map((street) => el("tr", {}, el("th", { scope: "row" }, street),
          ["oop", "ip"].flatMap((player) => ["bet", "raise"].map((kind) => el("td", {}, sizeInput(street, player, kind)))))))),
      el("p", { class: "quiet" }, "33% of the pot · 2.5x the bet · 120c chips · e geometric · a all-in"),
      Object.keys(spot.line_sizes ?? {}).length ? el("p", { class: "note" }, `${Object.keys(spot.line_sizes).length} decisions have sizes of their own. `,
        button("remove them", () => { spot.line_sizes = {}; paintSizes(); changed(); })) : null,
      first < 2 ? el("details", { class: "more", open: Object.values(spot.donk_sizes ?? {}).some(Boolean) }, el("summary", {}, "donk bets"),
        el("div", { class: "fields" }, STREETS.slice(Math.max(1, first + 1)).map((street) => field(`${street} donk bets`, el("input", {
          type: "text", value: spot.donk_sizes?.[street] ?? "", placeholder: "as other bets",
          on: { input: (event) => { (spot.donk_sizes ??= {})[street] = event.target.value; changed(); } } }))))) : null);
  }

  function paintRanges() {
    const presets = live.about?.presets?.ranges ?? {};
    const made = [["oop", "Out of position (OOP)"], ["ip", "In position (IP)"]].map(([player, name]) =>
      new RangeEditor(name, spot[`${player}_range`] ?? "", { presets, change: (text) => {
        if (spot[`${player}_range`] === text) return;
        spot[`${player}_range`] = text;
        changed();
      } }));
    made.forEach((each, k) => { each.element.dataset.player = ["oop", "ip"][k]; });
    replace(ranges, made.map((each) => each.element));
  }

  function paintSolve() {
    const target = el("input", { type: "text", inputmode: "decimal", value: load("target", "0.5"), name: "target" });
    const most = el("input", { type: "text", inputmode: "decimal", value: "", placeholder: "no limit", name: "seconds" });
    const storage = select([["", "as fits"], ["float32", "32 bits"], ["int16", "16 bits"], ["float64", "64 bits"]], "", () => {}, { name: "storage" });
    const name = el("input", { type: "text", placeholder: "by the board", name: "name", autocomplete: "off" });
    replace(solve, el("div", { class: "fields" }, field("Target, % of pot", target), field("At most, seconds", most), field("Storage", storage), field("Name", name)),
      el("div", { class: "tools" }, button("Solve", async () => {
        save("target", target.value);
        const body = { what: "solve", spot: asSpot(spot), exploitability: `${target.value.trim()}%pot` };
        if (most.value.trim()) body.seconds = Number(most.value);
        if (storage.value) body.storage = storage.value;
        if (name.value.trim()) body.name = name.value.trim();
        const made = await start(body);
        if (made) {
          job = made.job;
          list.update(live.jobs);
        }
      }, { class: "main", id: "solve" }), exchange(() => asSpot(spot), take)), list.element);
  }

  function take(given) {
    spot = asDraft(given);
    keep(spot);
    paint();
  }

  function paint() {
    paintBoard();
    paintMoney();
    paintRanges();
    paintSolve();
    check();
  }

  root.append(el("div", { class: "editor" },
    el("div", { class: "side" }, el("section", { class: "panel", "aria-label": "Board and money" }, board, picker, money), el("section", { class: "panel", "aria-label": "Sizes" }, sizes)),
    el("div", { class: "side" }, ranges, el("section", { class: "panel solving", "aria-label": "Solve" }, cost, solve))));
  ends.push(listen("jobs", (jobs) => list.update(jobs)));
  (async () => {
    await tried(about());
    if (params.run) {
      const got = await tried(get("run", { run: params.run }));
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
