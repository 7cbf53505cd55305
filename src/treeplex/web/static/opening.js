// Opening a run: values of both players at every node, found once in two passes over the tree.
import { listen, post } from "./api.js";
import { el, replace } from "./dom.js";

/** Waits until a run is open, and shows in `box` how far it is; gives false once it is no longer `wanted`. */
export async function opened(run, box, wanted) {
  const bar = el("progress", { max: "1", value: 0, "aria-label": "Opening" });
  const show = (state) => {
    if (state.run === undefined || state.run === run)
      bar.value = state.passes?.[1] ? state.passes[0] / state.passes[1] : 0;
  };
  const end = listen("open", show);
  try {
    for (;;) {
      const state = await post("open", { run });
      if (!wanted()) return false;
      if (state.state === "open") return true;
      if (state.state === "failed") throw new Error(state.error ?? "The run cannot be opened.");
      if (!bar.isConnected)
        replace(
          box,
          el(
            "div",
            { class: "opening" },
            el("p", {}, `Opening ${run}: values of every hand at every node, once.`),
            bar,
          ),
        );
      show(state);
      await new Promise((done) => setTimeout(done, 150));
      if (!wanted()) return false;
    }
  } finally {
    end();
  }
}
