// Strategies of a game: searchable infosets, and the tree move by move.
import { attempt, get } from "./api.js";
import { button, debounce, el, replace, row, select, table } from "./dom.js";
import { count, fixed, precise } from "./format.js";
import { change, link } from "./route.js";

const PAGE = 50;

/** Probabilities of actions as bars with numbers. */
function mix(actions, probabilities) {
  return el(
    "div",
    { class: "mixbars" },
    actions.map((name, k) =>
      el(
        "div",
        {},
        el("span", { class: "name" }, name),
        el("span", { class: "track" }, el("i", { style: { width: `${100 * probabilities[k]}%` } })),
        el("span", { class: "number" }, fixed(probabilities[k], 3)),
      ),
    ),
  );
}

/** Pages of a run's infosets with their strategies. `still()` returns whether this view is still shown. */
export async function infosets(content, params, still) {
  const [offset, search, player] = [Number(params.offset ?? 0), params.search ?? "", params.player ?? ""];
  const got = await attempt(
    get("infosets", { run: params.run, search: search || undefined, player: player || undefined, offset, most: PAGE }),
  );
  if (!got || !still()) return;
  let input = content.querySelector("input[type=search]");
  if (!input) {
    input = el("input", {
      type: "search",
      placeholder: "search infosets",
      "aria-label": "Search infosets",
      value: search,
      on: {
        input: debounce(
          (event) => change({ search: event.target.value || null, offset: null }, { instead: true }),
          250,
        ),
      },
    });
    replace(
      content,
      el(
        "div",
        { class: "tools" },
        input,
        select(
          [
            ["", "both players"],
            ["0", "player 0"],
            ["1", "player 1"],
          ],
          player,
          (next) => change({ player: next || null, offset: null }, { instead: true }),
          { "aria-label": "Player" },
        ),
        el("span", { class: "quiet total" }),
      ),
      el("div", { class: "rows" }),
    );
  }
  content.querySelector(".total").textContent = `${count(got.total)} infosets`;
  const columns = [{ name: "player" }, { name: "infoset" }, { name: "strategy" }];
  replace(
    content.querySelector(".rows"),
    table(
      "Infosets",
      columns,
      got.infosets.map((each) =>
        row(
          [String(each.player), el("code", {}, each.infoset || "(start)"), mix(each.actions, each.probabilities)],
          columns,
        ),
      ),
    ),
    el(
      "div",
      { class: "tools" },
      button("←", () => change({ offset: Math.max(0, offset - PAGE) || null }), {
        disabled: offset === 0,
        "aria-label": "Previous page",
      }),
      el("span", { class: "quiet" }, got.total ? `${offset + 1} to ${Math.min(offset + PAGE, got.total)}` : "none"),
      button("→", () => change({ offset: offset + PAGE }), {
        disabled: offset + PAGE >= got.total,
        "aria-label": "Next page",
      }),
    ),
  );
}

/** A node of a game's tree, its branches and its path. */
export async function tree(content, params, still) {
  try {
    const got = await get("tree", { run: params.run, path: params.path ?? "" });
    if (!still()) return;
    const who = { decision: `player ${got.player} to move`, chance: "chance", terminal: "the end" }[got.kind];
    replace(
      content,
      el(
        "ol",
        { class: "path", "aria-label": "Line" },
        el("li", {}, el("a", { href: link({ ...params, path: null }) }, "start")),
        got.crumbs
          .filter((crumb) => crumb.path !== "")
          .map((crumb) => el("li", {}, el("a", { href: link({ ...params, path: crumb.path }) }, crumb.name))),
      ),
      el(
        "p",
        { class: "lead" },
        el("strong", {}, who),
        got.infoset ? [" · infoset ", el("code", {}, got.infoset)] : null,
        typeof got.payoff === "number" ? ` · player 0 gets ${precise(got.payoff)}` : null,
        typeof got.value === "number" ? ` · value ${fixed(got.value, 4)} for player 0` : null,
        typeof got.reach === "number" ? ` · reached with probability ${precise(got.reach)}` : null,
      ),
      el(
        "ul",
        { class: "branches" },
        got.actions.map((action, k) =>
          el(
            "li",
            {},
            el(
              "a",
              { href: link({ ...params, path: action.path }), "data-branch": k },
              el("kbd", {}, k < 9 ? String(k + 1) : ""),
              el("span", { class: "name" }, action.name),
              el("span", { class: "track" }, el("i", { style: { width: `${100 * (action.probability ?? 0)}%` } })),
              el("span", { class: "number" }, fixed(action.probability, 3)),
            ),
          ),
        ),
      ),
    );
  } catch (error) {
    if (still()) replace(content, el("p", { class: "sentence" }, error.message));
  }
}
