// The form that solves a spot: cost estimate, target accuracy, import and export.
import { start } from "./api.js";
import { button, el, field, select } from "./dom.js";
import { bytes, count, seconds } from "./format.js";
import { exchange } from "./exchange.js";
import { STREETS } from "./spots.js";
import { load, save } from "./store.js";

/** The server's estimate of the cost of a solve. */
export function cost(got) {
  const [storage, least] = ["float32", "int16"]
    .map((name) => [name, got.bytes?.[name]])
    .concat(Object.entries(got.bytes ?? {}))
    .find(([, size]) => size !== undefined) ?? ["", undefined];
  const half = got.bytes?.int16;
  const times = Object.entries(got.seconds ?? {}).map(
    ([target, each]) => `${seconds(each)} to ${target.replace("%pot", "% of pot")}`,
  );
  const tight = got.bytes_free && least > got.bytes_free;
  return [
    el(
      "p",
      {},
      el("strong", {}, count(got.nodes)),
      " nodes · ",
      el("strong", { class: tight ? "bad" : null }, bytes(least)),
      " of memory",
      half && storage !== "int16" ? ` (${bytes(half)} with 16-bit storage)` : "",
      got.bytes_free ? ` · ${bytes(got.bytes_free)} free` : "",
    ),
    times.length ? el("p", {}, "about ", times.join(", ")) : null,
    got.decisions_by_street
      ? el(
          "p",
          { class: "quiet" },
          "decisions: ",
          got.decisions_by_street
            .map((n, k) => [STREETS[STREETS.length - got.decisions_by_street.length + k], n])
            .filter(([, n]) => n)
            .map(([street, n]) => `${street} ${count(n)}`)
            .join(" · "),
        )
      : null,
  ];
}

/** The form that starts a solve. on: {spot(): the spot, take(imported), started(job)}. */
export function solveForm(on) {
  const target = el("input", { type: "text", inputmode: "decimal", value: load("target", "0.5"), name: "target" });
  const most = el("input", { type: "text", inputmode: "decimal", value: "", placeholder: "no limit", name: "seconds" });
  const storage = select(
    [
      ["", "automatic"],
      ["float32", "32 bits"],
      ["int16", "16 bits"],
      ["float64", "64 bits"],
    ],
    "",
    () => {},
    { name: "storage" },
  );
  const name = el("input", { type: "text", placeholder: "from the board", name: "name", autocomplete: "off" });
  return [
    el(
      "div",
      { class: "fields" },
      field("Target, % of pot", target),
      field("At most, seconds", most),
      field("Storage", storage),
      field("Name", name),
    ),
    el(
      "div",
      { class: "tools" },
      button(
        "Solve",
        async () => {
          save("target", target.value);
          const body = { what: "solve", spot: on.spot(), exploitability: `${target.value.trim()}%pot` };
          if (most.value.trim()) body.seconds = Number(most.value);
          if (storage.value) body.storage = storage.value;
          if (name.value.trim()) body.name = name.value.trim();
          const made = await start(body);
          if (made) on.started(made.job);
        },
        { class: "main", id: "solve" },
      ),
      exchange(on.spot, on.take),
    ),
    on.below,
  ];
}
