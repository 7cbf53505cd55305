// The trainer: play hands against the solution, see the EV loss of every decision, repeat mistakes.
import { attempt, get, post } from "./api.js";
import { button, choice, el, field, replace, select } from "./dom.js";
import { opened } from "./opening.js";
import { cards, hand } from "./cards.js";
import { side } from "./crumbs.js";
import { PLAYERS, amount, chips, fixed, percent } from "./format.js";
import { dressed } from "./palette.js";
import { change, link } from "./route.js";
import { SIGNS, WORDS, counted, forget, score, statistics } from "./score.js";

export function mount(root, first) {
  let params = first;
  let [question, marked, answered, repeating, call] = [null, null, null, false, 0];
  const play = el("section", { class: "panel wide", "aria-label": "Hand" });
  const numbers = el("section", { class: "panel", "aria-label": "Statistics" });
  const pickers = el("div", { class: "tools pickers" });
  root.append(el("div", { class: "trainer" }, pickers, el("div", { class: "columns" }, play, numbers)));

  async function pick() {
    const runs = ((await attempt(get("runs")))?.runs ?? []).filter((run) => run.kind === "spot");
    replace(
      pickers,
      field(
        "Run",
        select(
          [["", "choose a run …"], ...runs.map((run) => [run.run, `${run.run} (${run.game})`])],
          params.run ?? "",
          (run) => change({ run, player: null }),
          { name: "run" },
        ),
      ),
      choice(
        "You play",
        [
          ["oop", "OOP", "out of position"],
          ["ip", "IP", "in position"],
        ],
        player(),
        (who) => change({ player: who }, { instead: true }),
      ),
    );
  }

  function player() {
    return params.player === "ip" ? "ip" : "oop";
  }

  async function begin() {
    const now = ++call;
    [question, marked] = [null, null];
    pick();
    if (!params.run) {
      replace(play, el("p", { class: "quiet nothing" }, "Choose a solved spot to play against."));
      replace(numbers);
      return;
    }
    try {
      if (await opened(params.run, play, () => now === call)) await deal();
    } catch (error) {
      if (now === call) replace(play, el("p", { class: "sentence" }, error.message));
    }
  }

  async function deal() {
    const wrong = score(params.run).wrong;
    repeating = repeating && wrong.length > 0;
    if (repeating) question = wrong[0];
    else
      question = await attempt(
        post("train", { run: params.run, player: player(), seed: Math.floor(Math.random() * 2 ** 31) }),
      );
    [marked, answered] = [null, null];
    if (question) paint();
  }

  async function take(k) {
    if (!question || marked || answered === question || k >= question.node.actions.length) return;
    answered = question; // ignore further clicks until the answer is graded
    const got = await attempt(post("train/answer", { run: params.run, question, action: k }));
    if (!got) answered = null;
    if (!got || answered !== question) return;
    marked = got;
    counted(params.run, question, got);
    paint();
  }

  function onward() {
    if (!marked) return;
    const next = marked.next;
    if (!repeating && next?.hand) {
      [question, marked, answered] = [next, null, null];
      paint();
    } else deal();
  }

  function story(node) {
    const steps = node.crumbs.map((crumb) =>
      crumb.kind === "chance"
        ? crumb.card
        : `${PLAYERS[crumb.player]} ${crumb.actions[crumb.taken].label ?? crumb.actions[crumb.taken].name}`,
    );
    return el("p", { class: "story" }, steps.length ? steps.join(" → ") : "You are first to act.");
  }

  function paint() {
    const { node } = question;
    const actions = dressed(node.actions);
    const top = marked && Math.max(...marked.ev.filter((value) => value !== null));
    replace(
      play,
      el(
        "header",
        {},
        el("h2", {}, repeating ? "Repeat: a decision that went wrong" : "Your decision"),
        el(
          "span",
          { class: "quiet" },
          `${PLAYERS[question.player]} · pot ${amount(node.pot)}${node.to_call ? ` · to call ${amount(node.to_call)}` : ""}`,
        ),
      ),
      el(
        "div",
        { class: "felt" },
        el("div", {}, el("small", {}, "board"), cards(node.board)),
        el("div", { class: "mine" }, el("small", {}, "your hand"), hand(question.hand)),
      ),
      story(node),
      el(
        "div",
        { class: "answers" },
        actions.map((action, k) =>
          button(
            [
              el("kbd", {}, String(k + 1)),
              el("i", { class: "swatch", style: { background: action.colour, color: action.ink } }, action.letter),
              ` ${action.label ?? action.name}`,
              marked
                ? el(
                    "span",
                    { class: "solution" },
                    el("b", {}, percent(marked.frequencies[k])),
                    el("small", {}, ` EV ${chips(marked.ev[k], node.pot)}`),
                    marked.ev[k] === top ? el("em", {}, " best") : null,
                  )
                : null,
            ],
            () => take(k),
            { class: marked ? (k === marked.chosen ? "chosen" : "") : "", disabled: Boolean(marked), "data-action": k },
          ),
        ),
      ),
      marked
        ? verdict(node)
        : el("p", { class: "quiet" }, "Choose with keys 1 to 9. The solution's strategy appears after your answer."),
    );
    count();
    if (marked) play.querySelector(".next")?.focus();
  }

  function verdict(node) {
    const over = marked.next && !marked.next.hand ? marked.next : null;
    return el(
      "div",
      { class: `verdict ${marked.verdict}`, role: "status" },
      el(
        "p",
        {},
        el("strong", {}, `${SIGNS[marked.verdict]} ${WORDS[marked.verdict] ?? marked.verdict}`),
        marked.lost > 0
          ? ` · ${chips(marked.lost, node.pot)} chips lost, ${fixed(marked.lost_percent_of_pot, 2)} % of the pot${marked.verdict === "best" ? ", within the run's accuracy" : ""}`
          : marked.verdict === "unknown"
            ? " · the solution has no reply to this action, so its EV is unknown"
            : " · nothing lost",
      ),
      over && !repeating
        ? el(
            "p",
            {},
            `The hand is over (${side(over.result)}): you win ${chips(over.won, over.pot)} of ${amount(over.pot)}. `,
            over.hands ? ["The opponent had ", hand(over.hands[question.player === "oop" ? "ip" : "oop"]), "."] : null,
            over.board ? [" Board ", cards(over.board)] : null,
          )
        : null,
      el(
        "div",
        { class: "tools" },
        button(over || repeating ? "Next hand" : "Go on", onward, { class: "main next" }),
        el(
          "a",
          {
            class: "button",
            href: link({ view: "browse", run: params.run, line: question.line, player: question.player }),
          },
          "Open this node",
        ),
      ),
    );
  }

  function count() {
    replace(
      numbers,
      statistics(score(params.run), params.run, repeating, {
        repeat: () => {
          repeating = !repeating;
          deal();
        },
        anew: () => {
          forget(params.run);
          repeating = false;
          count();
        },
      }),
    );
  }

  begin();
  return {
    update(next) {
      params = next;
      begin();
    },
    destroy() {
      call++;
    },
    keys: {
      ...Object.fromEntries(
        [..."123456789"].map((digit) => [digit, ["choose an action", () => take(Number(digit) - 1)]]),
      ),
      Enter: ["go on", onward],
      " ": ["go on", onward],
    },
  };
}
