// Pictures of samples as the model saw them, with the boxes that each model finds in them, and
// pictures that models make.

const PICTURE_MOST = 400; // pixels of the page
const MAP_MOST = 180;

function pngOf(picture) {
  return "data:image/png;base64," + picture.png;
}

// How large a picture is drawn: at most twice its size.
function sizeOf(picture, most) {
  const scale = Math.min(most / Math.max(picture.width, picture.height * 0.75, 1), 2);
  return {width: Math.round(picture.width * scale), height: Math.round(picture.height * scale)};
}

function isDrawable(picture) {
  return picture && picture.width > 0 && picture.height > 0;
}

function classTitle(data, place) {
  const title = Object.hasOwn(data.labels || {}, place) ? data.labels[place] : null;
  return title ? shorten(visible(title), 40) : `class ${place}`;
}

function kindOf(index, last) {
  return index === 0 ? "float" : index === last ? "quantized" : "step";
}

function boxesOf(result) {
  return result.boxes ? result.boxes.list.filter((box) => box.length >= 6 && box.every(known)) : [];
}

// One box: corners as shares of the sides; the float model's score is at its top, others' below.
function drawBox(data, [x0, y0, x1, y1, place, score], {width, height}, kind) {
  const x = Math.min(x0, x1) * width, y = Math.min(y0, y1) * height;
  const place4 = {x, y, width: Math.abs(x1 - x0) * width, height: Math.abs(y1 - y0) * height};
  const line = kind === "float" ? y + 12 : y + place4.height - 4;
  return shape("g", {},
      shape("title", {}, `${kind}: ${classTitle(data, place)} ${number(score, 3)}`),
      shape("rect", {class: "box under", ...place4}),
      shape("rect", {class: "box " + kind, ...place4}),
      label(x + 3, line, number(score, 2), {class: "box-text"}));
}

function boxSwitch(result, index, last, group) {
  const on = index === 0 || index === last;
  const made = switchOf("", on, (now) => group.classList.toggle("off", !now));
  const size = {width: 18, height: 12, viewBox: "0 0 18 12", "aria-hidden": "true"};
  group.classList.toggle("off", !on);
  made.append(shape("svg", size, shape("path", {class: "box " + kindOf(index, last), d: "M1,6H17"})),
      " ", shorten(visible(result.model), 24));
  return made;
}

function pictureTitle(example) {
  const found = example.results.filter((result) => result.boxes).map((result) => {
    const size = boxesOf(result).length;
    return `${shorten(visible(result.model), 24)}: ${size} ${size === 1 ? "box" : "boxes"}`;
  });
  return [`Sample ${shorten(visible(example.sample || ""), 60)}`, ...found].join("; ");
}

function viewPicture(data, example, {picture}, parent) {
  const size = sizeOf(picture, PICTURE_MOST), last = example.results.length - 1;
  const image = shape("image", {href: pngOf(picture), ...size, preserveAspectRatio: "none"});
  const svg = shape("svg", {
    class: "picture",
    viewBox: `0 0 ${size.width} ${size.height}`,
    ...size,
    role: "img",
    "aria-label": pictureTitle(example),
  }, image);
  const switches = example.results.flatMap((result, i) => {
    const boxes = boxesOf(result);
    if (!boxes.length) return [];
    const group = shape("g", {}, boxes.map((box) => drawBox(data, box, size, kindOf(i, last))));
    svg.append(group);
    return [boxSwitch(result, i, last, group)];
  });
  parent.append(element("figure", {class: "seen"}, svg,
      picture.stretched ? element("figcaption", {}, "Least value black, greatest white.") : null,
      switches.length ? element("p", {class: "tools"}, switches) : null));
}

// What models make of a sample, where that is a picture: beside each other.
function viewMaps(example, name, title, parent) {
  const maps = example.results.map((result) => ({result, picture: outputOf(result, name).picture}))
                   .filter(({picture}) => isDrawable(picture));
  if (!maps.length) return false;
  parent.append(element("div", {}, element("p", {class: "caption"}, title), element("div", {class: "maps"},
      maps.map(({result, picture}) => element("figure", {},
          element("img", {src: pngOf(picture), ...sizeOf(picture, MAP_MOST), alt: `Output of ${shorten(visible(result.model), 24)}`}),
          element("figcaption", {}, shorten(visible(result.model), 24)))))));
  return true;
}
