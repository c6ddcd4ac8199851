// Samples: what each model makes of them, as classes, numbers, pictures and boxes.

function outputNames(example) {
  return [...new Set(example.results.flatMap(({outputs}) => (outputs || []).map(({name}) => name)))];
}

function outputOf(result, name) {
  return (result.outputs || []).find((output) => output.name === name) || {};
}

// Rows of [place, a value for each model]; what only one model names is unknown of the others.
function comparison(example, name, key) {
  const lists = example.results.map((result) => new Map(outputOf(result, name)[key] || []));
  const places = [...new Set(lists.flatMap((list) => [...list.keys()]))];
  return places.map((place) => [place, ...lists.map((list) => list.get(place))]);
}

function headRow(words, wordCount) {
  const cells = words.map((word, i) =>
    element("th", {scope: "col", class: i < wordCount ? null : "number"}, word));
  return element("thead", {}, element("tr", {}, cells));
}

function smallTable(caption, head, rows) {
  return element("div", {class: "scroll"}, element("table", {class: "plain small-table"},
      caption ? element("caption", {}, caption) : null, head, element("tbody", {}, rows)));
}

// The row with the greatest value of each model.
function topRows(rows, models) {
  return models.map((model, i) => rows.reduce((best, row) => {
    return known(row[i + 1]) && !(best && best[i + 1] >= row[i + 1]) ? row : best;
  }, null));
}

// The top class of a model stands out, more so when the float model has another one.
function valueCell(value, top, changed) {
  if (!top) return element("td", {class: "number"}, number(value, 3));
  const title = changed ? "not the top class of the float model" : null;
  return element("td", {class: changed ? "number top changed" : "number top", title},
      changed ? "\u2717 " : "", number(value, 3));
}

function compareTable(example, caption, rows, first, titleOf) {
  const models = example.results.map(({model}) => shorten(visible(model), 20));
  const tops = first === "Class" ? topRows(rows, models) : [];
  const lines = rows.map((row) => element("tr", {}, element("th", {scope: "row"}, titleOf(row[0])),
      row.slice(1).map((value, i) => valueCell(value, tops[i] === row, tops[0] !== row))));
  return smallTable(caption, headRow([first, ...models], 1), lines);
}

function boxRows(data, result) {
  return boxesOf(result).map((box) => element("tr", {},
      element("th", {scope: "row"}, shorten(visible(result.model), 20)),
      element("td", {}, classTitle(data, box[4])),
      element("td", {class: "number"}, number(box[5], 3)),
      element("td", {class: "number"}, box.slice(0, 4).map((value) => number(value, 3)).join(", "))));
}

function boxTable(data, example) {
  const rows = example.results.flatMap((result) => boxRows(data, result));
  if (!rows.length) return [];
  return [element("details", {}, element("summary", {}, "Boxes as numbers"),
      smallTable(null, headRow(["Model", "Class", "Score", "x0, y0, x1, y1"], 2), rows))];
}

function outputTitle(example, name) {
  const first = outputOf(example.results[0], name);
  const last = outputOf(example.results[example.results.length - 1], name);
  const notes = [
    first.shape ? first.shape.join("\u00d7") : null,
    known(first.row) ? `row ${count(first.row)}` : null,
    known(last.quality_db) ? decibels(last.quality_db) : null,
  ];
  return [nameOf(name, 40), " ", element("span", {class: "small"}, notes.filter(Boolean).join(", "))];
}

function viewOutput(data, example, name, parent) {
  const classes = comparison(example, name, "classes"), values = comparison(example, name, "values");
  const title = outputTitle(example, name);
  if (classes.length)
    parent.append(compareTable(example, title, classes, "Class", (place) => classTitle(data, place)));
  else if (values.length)
    parent.append(compareTable(example, title, values, "Place", count));
  else if (!viewMaps(example, name, title, parent))
    parent.append(element("p", {class: "caption"}, title));
}

function viewInput(data, example, input, parent) {
  if (isDrawable(input.picture)) return viewPicture(data, example, input, parent);
  if (!input.values) return undefined;
  const some = input.values.slice(0, 8).map((value) => number(value, 3)).join(", ");
  return parent.append(element("p", {class: "remark"}, nameOf(input.name, 40),
      ` ${(input.shape || []).join("\u00d7")}: ${some}${input.values.length > 8 ? ", \u2026" : ""}`,
      known(input.min) ? ` (from ${number(input.min, 3)} to ${number(input.max, 3)})` : ""));
}

function exampleTitle(example) {
  const tag = example.rank ? element("span", {class: "tag"}, shorten(visible(example.rank), 30)) : "";
  const quality = known(example.quality_db) ? decibels(example.quality_db) : "";
  return element("h3", {}, nameOf(example.sample, 60), " ", tag, " ", element("span", {class: "small"}, quality));
}

function viewExample(data, found) {
  const example = {...found, results: found.results || []};
  const seen = element("div", {class: "inputs"}), made = element("div", {class: "outputs"});
  for (const input of example.inputs || []) viewInput(data, example, input, seen);
  for (const name of outputNames(example)) viewOutput(data, example, name, made);
  made.append(...boxTable(data, example));
  return element("article", {class: "sample"}, exampleTitle(example), element("div", {class: "pair"}, seen, made));
}

function viewSamples(data, parent) {
  const results = data.examples.flatMap((example) => example.results || []);
  const rules = new Set(results.map(({boxes}) => boxes && boxes.rule).filter(Boolean));
  for (const rule of rules)
    parent.append(element("p", {class: "remark"}, "Boxes are read by the rule: ", shorten(visible(rule), 200), "."));
  parent.append(...data.examples.map((example) => viewExample(data, example)));
}
