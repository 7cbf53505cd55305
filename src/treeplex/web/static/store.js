// The page's storage in this browser: drafts, settings, statistics of the trainer.

const PREFIX = "treeplex:";

export function load(name, otherwise = null) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

export function save(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    /* a private window, or storage is full: the page works without it */
  }
}
