// Drawing: scales, axes, surfaces that follow their width, a cursor for mouse, finger and keys.

const SVG = "http://www.w3.org/2000/svg";
const UNSEEN_WIDTH = 640; // of a part that is not laid out yet

function shape(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function label(x, y, text, attributes) {
  return shape("text", {x, y, ...attributes}, text);
}

// Values from low to high to places from begin to end.
function linear(low, high, begin, end) {
  const room = high - low || 1;
  return (value) => begin + ((value - low) / room) * (end - begin);
}

// Round values between low and high, about as many as `wanted`.
function ticks(low, high, wanted) {
  const room = high - low;
  if (!(room > 0) || !Number.isFinite(room)) return [low];
  const raw = room / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    found.push(i * step);
  return found;
}

// The least and greatest of what is known, or null.
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!known(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

// Lines across with their values at the left; unit stands above them.
function axisLeft(at, values, left, right, format) {
  return values.map(
      (value) => shape(
          "g", {},
          shape("line", {class: "grid", x1: left, x2: right, y1: at(value), y2: at(value)}),
          label(left - 6, at(value) + 4, format(value), {class: "tick", "text-anchor": "end"})));
}

function axisBelow(at, values, y, format) {
  return values.map(
      (value) => shape(
          "g", {}, shape("line", {class: "axis", x1: at(value), x2: at(value), y1: y, y2: y + 4}),
          label(at(value), y + 17, format(value), {class: "tick", "text-anchor": "middle"})));
}

// An SVG that is drawn again when its room gets another width. draw(svg, width) fills it and
// returns its height.
function surface(parent, title, draw) {
  const svg = shape("svg", {role: "img", "aria-label": title});
  let drawn = 0;
  function redraw(force) {
    const width = Math.floor(parent.clientWidth) || UNSEEN_WIDTH;
    if (width === drawn && !force) return;
    drawn = width;
    svg.replaceChildren();
    const height = draw(svg, width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
  }
  parent.append(svg);
  redraw(true);
  new ResizeObserver(() => redraw(false)).observe(parent);
  return {svg, redraw: () => redraw(true)};
}

// Makes `box` a slider over `size` places. find(event) says which is under a pointer, -1 none;
// show(place) draws it and returns its words; open(place), for Enter and double click, may be
// missing.
function cursor(box, title, size, {find, show, open, start}) {
  let place = start;
  function go(next) {
    place = Math.min(Math.max(next, 0), size - 1);
    const words = show(place);
    box.setAttribute("aria-valuenow", place + 1);
    box.setAttribute("aria-valuetext", words);
  }
  const page = Math.max(1, Math.round(size / 10));
  const moves = {
    ArrowRight: () => place + 1,
    ArrowUp: () => place + 1,
    ArrowLeft: () => place - 1,
    ArrowDown: () => place - 1,
    PageUp: () => place + page,
    PageDown: () => place - page,
    Home: () => 0,
    End: () => size - 1,
  };
  for (const [name, value] of Object.entries({
         tabindex: 0,
         role: "slider",
         "aria-label": title,
         "aria-valuemin": 1,
         "aria-valuemax": size
       }))
    box.setAttribute(name, value);
  box.addEventListener("keydown", (event) => {
    if (event.target !== box) return;
    if (event.key === "Enter" && open)
      open(place);
    else if (moves[event.key])
      go(moves[event.key]());
    else
      return;
    event.preventDefault();
  });
  for (const kind of ["pointermove", "pointerdown"])
    box.addEventListener(kind, (event) => {
      const found = find(event);
      if (found >= 0 && found !== place) go(found);
    });
  if (open) box.addEventListener("dblclick", () => open(place));
  go(place);
  return {go, place: () => place};
}

// Where in the drawing a pointer is.
function pointIn(svg, event) {
  const box = svg.getBoundingClientRect();
  const scale = box.width ? svg.viewBox.baseVal.width / box.width : 1;
  return {x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale};
}

function legend(entries) {
  return element("ul", {class: "legend"}, entries.map(({mark, title}) => {
    const svg =
        shape("svg", {width: 18, height: 12, viewBox: "0 0 18 12", "aria-hidden": "true"}, mark);
    return element("li", {}, svg, " ", title);
  }));
}
