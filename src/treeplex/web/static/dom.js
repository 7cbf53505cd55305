// Helpers that build the page. All text goes through textContent, so text from files is never read as markup.

const PROPERTIES = new Set(["value", "checked", "selected", "disabled", "hidden", "open", "indeterminate"]);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (name === "class") node.setAttribute("class", value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) node.style.setProperty(key, each);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "on") for (const [event, fn] of Object.entries(value)) node.addEventListener(event, fn);
    else if (PROPERTIES.has(name)) node[name] = value;
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An element: el("a", {class: "x", href: "#", on: {click: fn}}, "text", other). */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An element inside an SVG drawing. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

export function replace(node, ...children) {
  node.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/** A button; give it an aria-label if its text is only a symbol. */
export function button(text, click, props = {}) {
  return el("button", { type: "button", ...props, on: { click, ...(props.on ?? {}) } }, text);
}

let fields = 0;

/** A label and its control. */
export function field(label, control, { hint = "", wide = false, className = "" } = {}) {
  control.id ||= `field-${++fields}`;
  return el(
    "div",
    { class: `field ${wide ? "wide" : ""} ${className}` },
    el("label", { for: control.id }, label),
    control,
    hint ? el("small", {}, hint) : null,
  );
}

export function select(options, value, change, props = {}) {
  return el(
    "select",
    { ...props, on: { change: (event) => change(event.target.value) } },
    options.map((option) => {
      const [key, name] = Array.isArray(option) ? option : [option, option];
      return el("option", { value: key, selected: key === value }, name);
    }),
  );
}

/** A group of buttons of which one is pressed. */
export function choice(label, options, value, change) {
  return el(
    "div",
    { class: "choice", role: "group", "aria-label": label },
    options.map(([key, name, title]) =>
      button(name, () => change(key), { "aria-pressed": String(key === value), title }),
    ),
  );
}

/** A table with headers: columns are {name, title, number}; cells text or elements. */
export function table(caption, columns, rows, props = {}) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      props,
      el("caption", { class: "unseen" }, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map((column) =>
            el("th", { scope: "col", class: column.number ? "number" : null, title: column.title }, column.name),
          ),
        ),
      ),
      el("tbody", {}, rows),
    ),
  );
}

export function row(cells, columns, props = {}) {
  return el(
    "tr",
    props,
    cells.map((cell, k) => el("td", { class: columns[k]?.number ? "number" : null }, cell)),
  );
}

export function debounce(fn, wait) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), wait);
  };
}

/** Downloads text as a file. */
export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A text input for one field of `values`. */
export function textOf(values, key, props = {}) {
  return el("input", {
    type: "text",
    value: values[key],
    name: key,
    autocomplete: "off",
    ...props,
    on: {
      input: (event) => {
        values[key] = event.target.value;
      },
    },
  });
}
