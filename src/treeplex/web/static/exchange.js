// Import and export of spots: paste or choose a file in any known format, or download one.
import { attempt, live, post, toast } from "./api.js";
import { button, download, el, field, replace, select } from "./dom.js";

const OURS = "treeplex";
const NAMES = {
  treeplex: "treeplex JSON",
  pio: "PioSOLVER tree",
  texas: "TexasSolver console file",
  desktop: "desktop-postflop JSON",
  wasm: "wasm-postflop configuration",
};
const RANGES = new Set(["wasm-ranges", "range", "gtoplus", "floats"]); // these have ranges, not spots

function formats() {
  const known = (live.about?.formats ?? []).filter((each) => !RANGES.has(each) && each !== OURS);
  return [OURS, ...known].map((each) => [each, NAMES[each] ?? each]);
}

/** Reads a treeplex spot here, and leaves any other text to the server. */
async function read(text) {
  let ours = null;
  try {
    ours = JSON.parse(text);
  } catch {
    /* text of another program */
  }
  if (!ours?.board || !ours.oop_range) return post("import", { text });
  const got = await post("spot", { spot: ours });
  return { spot: got.spot, format: NAMES[OURS], notes: [] };
}

function ask(take) {
  const text = el("textarea", {
    rows: "12",
    cols: "70",
    spellcheck: "false",
    "aria-label": "Text of the spot",
    placeholder:
      "Paste a spot (PioSOLVER tree, wasm-postflop or desktop-postflop JSON, TexasSolver console file, treeplex JSON) or ranges",
  });
  const wrong = el("p", { class: "sentence", role: "status" });
  const file = el("input", {
    type: "file",
    "aria-label": "File",
    on: {
      change: async () => {
        if (file.files[0]) text.value = await file.files[0].text();
      },
    },
  });
  const box = el(
    "dialog",
    { class: "ask import", on: { close: () => box.remove() } },
    el(
      "form",
      { method: "dialog" },
      el("h2", {}, "Import a spot"),
      text,
      file,
      wrong,
      el(
        "div",
        { class: "tools" },
        button(
          "Import",
          async () => {
            try {
              const got = await read(text.value);
              take(got);
              box.close();
              toast([`Read as ${NAMES[got.format] ?? got.format}.`, ...(got.notes ?? [])].join(" "), "note");
            } catch (error) {
              replace(wrong, error.message);
            }
          },
          { class: "main" },
        ),
        button("Cancel", () => box.close()),
      ),
    ),
  );
  document.body.append(box);
  box.showModal();
}

function give(spot) {
  const format = select(formats(), formats()[0][0], () => show(), { name: "format" });
  const text = el("textarea", {
    rows: "12",
    cols: "70",
    readonly: true,
    spellcheck: "false",
    "aria-label": "The spot as text",
  });
  const wrong = el("p", { class: "sentence", role: "status" });
  let name = "spot.json";
  async function show() {
    try {
      const got =
        format.value === OURS
          ? { text: `${JSON.stringify(spot, null, 2)}\n`, name: "spot.json" }
          : await post("export", { spot, format: format.value });
      [text.value, name] = [got.text, got.name];
      replace(wrong, ...(got.notes ?? []));
    } catch (error) {
      text.value = "";
      replace(wrong, error.message);
    }
  }
  const box = el(
    "dialog",
    { class: "ask export", on: { close: () => box.remove() } },
    el(
      "form",
      { method: "dialog" },
      el("h2", {}, "Export the spot"),
      field("Format", format),
      text,
      wrong,
      el(
        "div",
        { class: "tools" },
        button("Download", () => download(name, text.value), { class: "main" }),
        button("Copy", async () => {
          await attempt(navigator.clipboard.writeText(text.value));
          toast("Copied.", "note");
        }),
        button("Close", () => box.close()),
      ),
    ),
  );
  document.body.append(box);
  box.showModal();
  show();
}

/** Two buttons: import passes a spot to `take`, and export calls `spot()`. */
export function exchange(spot, take) {
  return [button("Import …", () => ask(take)), button("Export …", () => give(spot()))];
}
