// Cards, hands, and the deck of 13 x 4 cards to choose from.
import { button, el } from "./dom.js";

export const RANKS = "AKQJT98765432";
export const SUITS = "shdc";
export const SIGNS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const NAMES = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };

export function card(name) {
  return el("span", { class: `card ${name[1]}`, title: `${name[0]} of ${NAMES[name[1]]}` }, name[0], SIGNS[name[1]]);
}

export function cards(names) {
  return el("span", { class: "cards", "aria-label": names.join(" ") }, names.map(card));
}

/** "AsKd" as two cards. */
export function hand(name) {
  return cards([name.slice(0, 2), name.slice(2, 4)]);
}

export function parseCards(text) {
  return (text ?? "").match(/[2-9TJQKA][cdhs]/gi)?.map((each) => each[0].toUpperCase() + each[1].toLowerCase()) ?? [];
}

/** The whole deck in four rows. `look(name)` returns {disabled, pressed, colour, ink, text, title} of a card. */
export function deck(label, look, choose) {
  const box = el("div", { class: "deck", role: "group", "aria-label": label });
  for (const suit of SUITS) {
    for (const rank of RANKS) {
      const name = rank + suit;
      const seen = look(name);
      const made = button(
        [el("span", { class: "rank" }, rank, SIGNS[suit]), seen.text ? el("span", { class: "value" }, seen.text) : null],
        () => choose(name),
        {
          class: `pick ${suit} ${seen.text !== undefined ? "heat" : ""}`,
          disabled: Boolean(seen.disabled),
          title: seen.title,
          "aria-label": `${rank} of ${NAMES[suit]}${seen.text ? `, ${seen.text}` : ""}`,
          "aria-pressed": seen.pressed === undefined ? null : String(seen.pressed),
          data: { card: name },
        },
      );
      if (seen.colour && !seen.disabled) {
        made.style.setProperty("background", seen.colour);
        made.style.setProperty("color", seen.ink);
      }
      box.append(made);
    }
  }
  return box;
}
