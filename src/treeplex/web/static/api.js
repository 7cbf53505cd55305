// Requests to the server with the token, errors as one sentence, and the stream of events.
import { el } from "./dom.js";

const token = new URLSearchParams(location.search).get("token") ?? "";

export class ServerError extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

function address(path, params = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) if (value !== undefined && value !== null) query.set(key, value);
  const text = query.toString();
  return `/api/${path}${text ? `?${text}` : ""}`;
}

async function answer(path, params, options) {
  let got;
  try {
    got = await fetch(address(path, params), { ...options, headers: { "X-Token": token, ...(options.headers ?? {}) } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError("The server does not answer. Is `treeplex serve` still running?", 0);
  }
  if (got.ok) return got;
  let sentence = `The server answered with ${got.status}.`;
  try {
    sentence = (await got.json()).error ?? sentence;
  } catch {
    /* not JSON: the status is enough */
  }
  if (got.status === 401) sentence = "The token is missing or wrong. Open the address that `treeplex serve` printed.";
  throw new ServerError(sentence, got.status);
}

export async function get(path, params = {}, signal = undefined) {
  return (await answer(path, params, { signal })).json();
}

export async function getText(path, params = {}) {
  return (await answer(path, params, {})).text();
}

export async function post(path, body, signal = undefined) {
  const options = {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    signal,
  };
  return (await answer(path, {}, options)).json();
}

/** Shows a sentence in the corner for some seconds. */
export function toast(sentence, kind = "error") {
  const box = el("div", { class: `toast ${kind}` }, el("span", {}, sentence));
  box.append(el("button", { type: "button", "aria-label": "Close", on: { click: () => box.remove() } }, "×"));
  document.getElementById("toasts").append(box);
  setTimeout(() => box.remove(), kind === "error" ? 9000 : 4000);
}

/** Awaits a promise; shows its error, if any, and returns undefined. */
export async function attempt(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.name !== "AbortError") {
      toast(error.message);
      if (!(error instanceof ServerError)) console.error(error);
    }
    return undefined;
  }
}

export const live = { jobs: [], about: null };
const listeners = { jobs: new Set(), runs: new Set(), open: new Set() };

/** Calls fn on every event of a kind ("jobs", "runs", "open"); returns a function that stops this. */
export function listen(kind, fn) {
  listeners[kind].add(fn);
  return () => listeners[kind].delete(fn);
}

function notify(kind, data) {
  if (kind === "jobs") live.jobs = data.jobs ?? data;
  for (const fn of listeners[kind]) fn(kind === "jobs" ? live.jobs : data);
}

let wait = 500;

/** Opens the stream of events, and reopens it whenever it ends. */
export function stream() {
  const banner = document.getElementById("banner");
  const source = new EventSource(address("events", { token }));
  source.onopen = () => {
    wait = 500;
    if (!banner.hidden) {
      banner.hidden = true;
      attempt(refresh());
      notify("runs", {});
    }
  };
  source.onerror = () => {
    source.close();
    banner.textContent = "The server does not answer. Retrying … Nothing is lost: runs and jobs are on disk.";
    banner.hidden = false;
    setTimeout(stream, wait);
    wait = Math.min(wait * 2, 5000);
  };
  for (const kind of Object.keys(listeners))
    source.addEventListener(kind, (event) => notify(kind, event.data ? JSON.parse(event.data) : {}));
}

export async function refresh() {
  notify("jobs", await get("jobs"));
}

export async function about() {
  live.about ??= await get("about");
  return live.about;
}

/** Queues a job and shows a note; returns the job, or undefined if it was refused. */
export async function start(body) {
  const job = await attempt(post("jobs", body));
  if (job) {
    toast(`${job.title ?? "The job"} is in the queue.`, "note");
    await attempt(refresh());
  }
  return job;
}
