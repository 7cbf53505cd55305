// The draft of a spot in this browser, and its conversion to and from the server's form.
import { load, save } from "./store.js";
import { parseCards } from "./cards.js";

export const STREETS = ["flop", "turn", "river"];
const NO_DONKS = "none"; // an empty field means the same sizes as other bets
const EXAMPLE = {
  board: "Ks 8h 4d 2c",
  pot: "60",
  effective_stack: "170",
  chip: "1",
  dead_money: "0",
  oop_range: "22+,A2s+,K9s+,QTs+,JTs,T9s,98s,87s,76s,65s,ATo+,KJo+",
  ip_range: "22-JJ,A2s-AJs,K9s+,Q9s+,J9s+,T8s+,97s+,86s+,75s+,65s,ATo+,KTo+,QTo+",
  sizes: {},
  donk_sizes: {},
  rake_rate: "0",
  rake_cap: "",
  add_allin_threshold: "0",
  force_allin_threshold: "0",
  merging_threshold: "0",
};
for (const street of STREETS)
  EXAMPLE.sizes[street] = { oop: { bet: "33%, 75%", raise: "60%" }, ip: { bet: "33%, 75%", raise: "60%" } };

/** Without rake the server returns a cap of 0. In the form it would cap a rake that is typed later. */
function uncapped(made) {
  return Number(made.rake_rate) === 0 && Number(made.rake_cap) === 0 ? { ...made, rake_cap: "" } : made;
}

export function draft() {
  return uncapped({ ...structuredClone(EXAMPLE), ...load("draft", {}) });
}

export function keep(spot) {
  save("draft", spot);
}

/** Converts the server's spot to a draft. */
export function asDraft(spot) {
  const made = structuredClone(EXAMPLE);
  for (const [key, value] of Object.entries(spot)) {
    if (key === "sizes") {
      for (const street of STREETS)
        for (const player of ["oop", "ip"]) {
          const menu = value?.[street]?.[player] ?? {};
          made.sizes[street][player] = { bet: menu.bet ?? "", raise: menu.raise ?? "" };
        }
    } else if (value !== null && typeof value === "object") made[key] = structuredClone(value);
    else if (key in EXAMPLE) made[key] = value === null ? "" : String(value);
    else made[key] = value;
  }
  if (spot.dead_money === undefined) made.dead_money = "0";
  for (const [street, text] of Object.entries(made.donk_sizes)) made.donk_sizes[street] = text.trim() || NO_DONKS;
  return uncapped(made);
}

function number(text) {
  const value = String(text).trim().replace(",", ".");
  return value !== "" && Number.isFinite(Number(value)) ? Number(value) : String(text).trim();
}

/** Converts a draft to the server's spot: numbers where possible, else the text. */
export function asSpot(made) {
  const spot = { ...made, sizes: structuredClone(made.sizes), donk_sizes: {} };
  for (const key of [
    "pot",
    "effective_stack",
    "chip",
    "dead_money",
    "rake_rate",
    "rake_cap",
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
  ]) {
    if (String(spot[key] ?? "").trim() === "") delete spot[key];
    else spot[key] = number(spot[key]);
  }
  for (const [street, text] of Object.entries(made.donk_sizes ?? {}))
    if (text.trim()) spot.donk_sizes[street] = text.trim() === NO_DONKS ? "" : text;
  return spot;
}

/** The street on which a board's betting starts. */
export function streetOf(board) {
  return STREETS[parseCards(board).length - 3] ?? null;
}
