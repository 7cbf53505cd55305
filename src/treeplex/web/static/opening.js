// Opening a run: the server computes values of both players at every node once, in four passes.
import { listen, post } from "./api.js";
import { el, replace } from "./dom.js";

/** Waits until a run is open and shows progress in `box`; returns false once `current()` is false. */
export async function opened(run, box, current) {
  const bar = el("progress", { max: "1", value: 0, "aria-label": "Opening" });
  const show = (state) => {
    if (state.run === undefined || state.run === run)
      bar.value = state.passes?.[1] ? state.passes[0] / state.passes[1] : 0;
  };
  const end = listen("open", show);
  try {
    for (;;) {
      const state = await post("open", { run });
      if (!current()) return false;
      if (state.state === "open") return true;
      if (state.state === "failed") throw new Error(state.error ?? "The run cannot be opened.");
      if (!bar.isConnected)
        replace(
          box,
          el(
            "div",
            { class: "opening" },
            el("p", {}, `Opening ${run}: computing the values of every hand at every node, once.`),
            bar,
          ),
        );
      show(state);
      await new Promise((done) => setTimeout(done, 150));
      if (!current()) return false;
    }
  } finally {
    end();
  }
}
