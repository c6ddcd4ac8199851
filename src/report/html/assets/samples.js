// Samples as the model saw them, and what each model makes of them: boxes, classes, numbers.

const PICTURE_MOST = 460;

function classTitle(data, place) {
  const title = (data.labels || {})[String(place)];
  return title ? shorten(visible(title), 40) : `class ${place}`;
}

function decimals(value) {
  return known(value) ? number(value, 3) : UNKNOWN;
}

// One box: corners as shares of the sides, its class and score above it.
function drawBox(data, box, width, height, kind) {
  const [x0, y0, x1, y1, place, score] = box;
  const rect = {
    x: Math.min(x0, x1) * width,
    y: Math.min(y0, y1) * height,
    width: Math.abs(x1 - x0) * width,
    height: Math.abs(y1 - y0) * height
  };
  const title = `${classTitle(data, place)} ${decimals(score)}`;
  const text = {x: rect.x + 3, y: kind === "float" ? rect.y + 12 : rect.y + rect.height - 4};
  return shape(
      "g", {}, shape("title", {}, `${kind}: ${title}`),
      shape("rect", {class: "box under", ...rect}), shape("rect", {class: "box " + kind, ...rect}),
      label(text.x, text.y, decimals(score), {class: "box-text"}));
}

function kindOf(index, last) {
  return index === 0 ? "float" : index === last ? "quantized" : "step";
}

function viewPicture(data, example, input, parent) {
  const {picture} = input;
  const scale = Math.min(PICTURE_MOST / Math.max(picture.width, 1), 2);
  const width = Math.round(picture.width * scale), height = Math.round(picture.height * scale);
  const image = shape(
      "image",
      {href: "data:image/png;base64," + picture.png, width, height, preserveAspectRatio: "none"});
  const svg = shape(
      "svg", {
        class: "picture",
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: "img",
        "aria-label": pictureTitle(data, example)
      },
      image);
  const figure = element("figure", {class: "seen"}, svg);
  const drawn = example.results.map((result, i) => {
    if (!result.boxes || !result.boxes.list.length) return null;
    const group = shape(
        "g", {},
        result.boxes.list.filter((box) => box.length >= 6)
            .map(
                (box) => drawBox(data, box, width, height, kindOf(i, example.results.length - 1))));
    svg.append(group);
    return group;
  });
  if (drawn.some(Boolean)) {
    figure.append(element(
        "p", {class: "tools"},
        drawn.map((group, i) => group && switchFor(example, i, group)).filter(Boolean)));
  }
  parent.append(figure);
}

function switchFor(example, i, group) {
  const last = example.results.length - 1;
  const on = i === 0 || i === last;
  group.classList.toggle("off", !on);
  const made = switchOf("", on, (now) => group.classList.toggle("off", !now));
  const line = shape(
      "svg", {width: 18, height: 12, viewBox: "0 0 18 12", "aria-hidden": "true"},
      shape("path", {class: "box " + kindOf(i, last), d: "M1,6H17"}));
  made.append(line, " ", visible(shorten(example.results[i].model, 24)));
  return made;
}

function pictureTitle(data, example) {
  const found = example.results.filter((result) => result.boxes)
                    .map(
                        (result) => `${visible(result.model)}: ${
                            plural(result.boxes.list.length, "box").replace("boxs", "boxes")}`);
  return `Sample ${shorten(visible(example.sample || ""), 60)}${
      found.length ? "; " + found.join(", ") : ""}`;
}

function outputNames(example) {
  return [...new Set(
      example.results.flatMap((result) => (result.outputs || []).map((output) => output.name)))];
}

function outputOf(result, name) {
  return (result.outputs || []).find((output) => output.name === name) || {};
}

// Rows of [what, a value for each model]; what only one model names is unknown in the others.
function comparison(example, name, key) {
  const places = [...new Set(example.results.flatMap(
      (result) => (outputOf(result, name)[key] || []).map(([place]) => place)))];
  return places.map((place) => [place, ...example.results.map((result) => {
                      const found =
                          (outputOf(result, name)[key] || []).find(([other]) => other === place);
                      return found ? found[1] : NaN;
                    })]);
}

function compareTable(example, title, rows, first, titleOf) {
  const models = example.results.map((result) => visible(shorten(result.model, 20)));
  const tops = example.results.map(
      (result, i) => rows.reduce(
          (best, row) => (known(row[i + 1]) && !(best && best[i + 1] >= row[i + 1]) ? row : best),
          null));
  return element(
      "div", {class: "scroll"},
      element(
          "table", {class: "plain small-table"}, element("caption", {}, title),
          element(
              "thead", {},
              element(
                  "tr", {}, element("th", {scope: "col"}, first),
                  models.map((model) => element("th", {scope: "col", class: "number"}, model)))),
          element(
              "tbody", {},
              rows.map(
                  (row) => element(
                      "tr", {}, element("th", {scope: "row"}, titleOf(row[0])),
                      row.slice(1).map(
                          (value, i) => valueCell(
                              value, first === "Class" && tops[i] === row, tops[0] !== row)))))));
}

// The top class of a model stands out, more so when the float model has another one.
function valueCell(value, top, changed) {
  if (!top) return element("td", {class: "number"}, decimals(value));
  return element(
      "td", {
        class: changed ? "number top changed" : "number top",
        title: changed ? "not the top class of the float model" : null
      },
      changed ? "\u2717 " : "", decimals(value));
}

function boxTable(data, example) {
  const rows =
      example.results.filter((result) => result.boxes)
          .flatMap(
              (result) =>
                  result.boxes.list.filter((box) => box.length >= 6)
                      .map(
                          (box) => element(
                              "tr", {},
                              element("th", {scope: "row"}, visible(shorten(result.model, 20))),
                              element("td", {}, classTitle(data, box[4])),
                              element("td", {class: "number"}, decimals(box[5])),
                              element(
                                  "td", {class: "number"},
                                  box.slice(0, 4).map((value) => number(value, 3)).join(", ")))));
  if (!rows.length) return null;
  return element(
      "details", {}, element("summary", {}, "Boxes as numbers"),
      element(
          "div", {class: "scroll"},
          element(
              "table", {class: "plain small-table"},
              element(
                  "thead", {},
                  element(
                      "tr", {},
                      ["Model", "Class"].map((title) => element("th", {scope: "col"}, title)),
                      ["Score", "x0, y0, x1, y1"].map(
                          (title) => element("th", {scope: "col", class: "number"}, title)))),
              element("tbody", {}, rows))));
}

function outputTitle(example, name) {
  const quality = example.results.map((result) => outputOf(result, name).quality_db).filter(known);
  const {shape: size} = outputOf(example.results[0], name);
  return [
    nameOf(name, 40), " ",
    element(
        "span", {class: "small"},
        [
          size ? size.join("\u00d7") : null,
          quality.length ? decibels(quality[quality.length - 1]) : null
        ].filter(Boolean)
            .join(", "))
  ];
}

function viewOutputs(data, example, parent) {
  for (const name of outputNames(example)) {
    const classes = comparison(example, name, "classes"),
          values = comparison(example, name, "values");
    if (classes.length)
      parent.append(compareTable(
          example, outputTitle(example, name), classes, "Class",
          (place) => classTitle(data, place)));
    else if (values.length)
      parent.append(compareTable(
          example, outputTitle(example, name), values, "Place", (place) => count(place)));
    else
      parent.append(element("p", {class: "remark"}, outputTitle(example, name)));
  }
}

function viewInput(data, example, input, parent) {
  if (input.picture && known(input.picture.width) && known(input.picture.height))
    viewPicture(data, example, input, parent);
  else if (input.values)
    parent.append(element(
        "p", {class: "remark"}, nameOf(input.name, 40),
        ` ${(input.shape || []).join("\u00d7")}: ${
            input.values.slice(0, 8).map((value) => number(value, 3)).join(", ")}${
            input.values.length > 8 ? ", \u2026" : ""}`,
        known(input.min) ? ` (from ${number(input.min, 3)} to ${number(input.max, 3)})` : ""));
}

function viewExample(data, example) {
  const seen = element("div", {class: "inputs"}), made = element("div", {class: "outputs"});
  example.results = example.results || [];
  for (const input of example.inputs || []) viewInput(data, example, input, seen);
  if (example.results.length) {
    viewOutputs(data, example, made);
    const boxes = boxTable(data, example);
    if (boxes) made.append(boxes);
  }
  return element(
      "article", {class: "sample"},
      element(
          "h3", {}, nameOf(example.sample, 60), " ",
          example.rank ? element("span", {class: "tag"}, visible(example.rank)) : "", " ",
          element(
              "span", {class: "small"},
              known(example.quality_db) ? decibels(example.quality_db) : "")),
      element("div", {class: "pair"}, seen, made));
}

function viewSamples(data, parent) {
  const rules = new Set(data.examples.flatMap(
      (example) => (example.results || [])
                       .map((result) => result.boxes && result.boxes.rule)
                       .filter(Boolean)));
  for (const rule of rules)
    parent.append(
        element("p", {class: "remark"}, "Boxes are read by the rule: ", visible(rule), "."));
  parent.append(...data.examples.map((example) => viewExample(data, example)));
}
