// The graph as a strip along its layers: error, width, cost. A cursor names the layer under it.

const STRIP = {left: 46, right: 10, end: 330};
const TRACKS = {error: [26, 176], activation: [196, 206], weight: [222, 232], cost: [254, 306]};
const LEAST_LAYERS = 24; // in view, however near
const MANY = 1;          // layers to a pixel, from which on marks are fainter

const WEIGHT_MARK = "m-2.5,-2.5l5,5m0,-5l-5,5";
const INPUT_MARK = "m-2.6,0a2.6,2.6 0 1 0 5.2,0a2.6,2.6 0 1 0 -5.2,0";

const ERRORS = [
  {key: "whole_db", mark: () => shape("path", {class: "whole", d: "M1,6H17"}), title: "error in the whole model"},
  {key: "weights_db", mark: () => shape("path", {class: "alone", d: "M9,6" + WEIGHT_MARK}), title: "weights alone"},
  {key: "input_db", mark: () => shape("path", {class: "alone", d: "M9,6" + INPUT_MARK}), title: "input alone"},
];

function fixed(value) {
  return value.toFixed(2);
}

// Neighbours of one width as one run, from begin to end.
function runsOf(layers, begin, end, widthOfLayer) {
  const runs = [];
  for (let i = begin; i < end; i++) {
    const width = widthOfLayer(layers[i]);
    const last = runs[runs.length - 1];
    if (last && last.width === width) last.end = i + 1;
    else runs.push({width, begin: i, end: i + 1});
  }
  return runs.filter((run) => run.width);
}

// The wider lie above the narrower, and each run is seen: it is a pixel wide at least.
function widthLane(x, runs, [top, bottom]) {
  return WIDTHS.map(({key}) => {
    const path = runs.filter((run) => run.width === key).map((run) => {
      const wide = fixed(Math.max(x(run.end) - x(run.begin), 1));
      return `M${fixed(x(run.begin))},${top}h${wide}V${bottom}h-${wide}z`;
    }).join("");
    return path && shape("path", {class: "width " + key, d: path});
  }).filter(Boolean);
}

function stripFacts(layer) {
  const types = [layer.activation, layer.weight].filter(Boolean).map((type) => shorten(visible(type), 30));
  const decibelsOf = (value) => (known(value) ? decibels(value) : null);
  return [
    ["whole model", decibelsOf(layer.whole_db)],
    ["weights alone", decibelsOf(layer.weights_db)],
    ["input alone", decibelsOf(layer.input_db)],
    ["cost", known(layer.cost) ? share(layer.cost) : null],
    ["types", [...new Set(types)].join(" \u00d7 ")],
    [layer.state === "float" ? "float" : "why", layer.why ? shorten(visible(layer.why), 80) : null],
  ].filter(([, value]) => value);
}

function worstLayer(layers) {
  let worst = 0;
  layers.forEach((layer, i) => {
    if (known(layer.whole_db) && !(layers[worst].whole_db <= layer.whole_db)) worst = i;
  });
  return worst;
}

class Strip {
  constructor(data, openLayer) {
    this.layers = data.layers;
    this.openLayer = openLayer;
    this.errors = ERRORS.filter(({key}) => this.layers.some((layer) => known(layer[key])));
    this.begin = 0;
    this.end = this.layers.length;
    this.most = (extent(this.layers.map((layer) => layer.cost)) || [0, 0])[1];
    this.goal = ((data.goals || []).find((one) => one.metric === "sqnr") || {}).least;
    this.placeTracks();
    this.readout = element("div", {class: "readout"});
  }

  // Without errors the other tracks move up.
  placeTracks() {
    const up = this.errors.length ? 0 : TRACKS.error[1] - 6;
    const values = this.errors.flatMap(({key}) => this.layers.map((layer) => layer[key]));
    const found = extent(values.filter((value) => value < EQUAL));
    const [least, most] = found || [0, 40];
    this.tracks = {};
    for (const [name, ends] of Object.entries(TRACKS)) this.tracks[name] = ends.map((y) => y - up);
    this.height = STRIP.end - up;
    this.low = Math.min(0, Math.max(least, -20));
    this.high = Math.min(Math.max(most, 25), 60);
    const y = linear(this.low, this.high, this.tracks.error[1], this.tracks.error[0]);
    this.y = (value) => y(Math.min(Math.max(value, this.low), this.high));
  }

  // Places of the values of a member as one path; `before` and `after` are around each. What has no
  // error at all has no place.
  path(key, before, after) {
    let path = "";
    for (let i = this.begin; i < this.end; i++) {
      const value = this.layers[i][key];
      if (known(value) && value < EQUAL) path += (path ? before : "M") + `${fixed(this.x(i + 0.5))},${fixed(this.y(value))}` + after;
    }
    return path;
  }

  drawErrors(svg) {
    const right = this.width - STRIP.right;
    const many = (this.end - this.begin) / (right - STRIP.left) > MANY ? " many" : "";
    svg.append(
        label(0, 12, "SQNR of each layer\u2019s output, dB", {class: "axis-title"}),
        ...axisLeft(this.y, ticks(this.low, this.high, 4), STRIP.left, right, (value) => number(value)));
    if (this.goal < this.high) {
      const at = this.y(this.goal);
      svg.append(shape("line", {class: "goal", x1: STRIP.left, x2: right, y1: at, y2: at}));
    }
    svg.append(
        shape("path", {class: "alone" + many, d: this.path("weights_db", "M", WEIGHT_MARK)}),
        shape("path", {class: "alone" + many, d: this.path("input_db", "M", INPUT_MARK)}),
        shape("path", {class: "whole" + many, d: this.path("whole_db", "L", "")}));
  }

  drawLane(svg, key, title) {
    const [top, bottom] = this.tracks[key];
    const width = this.width - STRIP.left - STRIP.right;
    const runs = runsOf(this.layers, this.begin, this.end, (layer) => widthOf(layer[key]));
    svg.append(
        label(STRIP.left, top - 4, title, {class: "axis-title"}),
        shape("rect", {class: "lane", x: STRIP.left, y: top, width, height: bottom - top}),
        ...widthLane(this.x, runs, this.tracks[key]));
  }

  drawCosts(svg) {
    const [top, bottom] = this.tracks.cost;
    const height = linear(0, this.most, 0, bottom - top);
    const gap = this.x(1) - this.x(0) > 4 ? 1 : 0;
    let path = "";
    for (let i = this.begin; i < this.end; i++) {
      const {cost} = this.layers[i];
      if (!(cost > 0)) continue;
      const tall = fixed(Math.max(height(cost), 1)), wide = Math.max(this.x(i + 1) - this.x(i) - gap, 0.75);
      path += `M${fixed(this.x(i))},${bottom}v-${tall}h${fixed(wide)}v${tall}z`;
    }
    const tick = {class: "tick", "text-anchor": "end"};
    svg.append(
        label(STRIP.left, top - 6, "Share of multiply-adds", {class: "axis-title"}),
        label(STRIP.left - 6, top + 8, share(this.most), tick), label(STRIP.left - 6, bottom + 1, "0", tick),
        shape("path", {class: "cost", d: path}));
  }

  draw(svg, width) {
    const right = width - STRIP.right, bottom = this.tracks.cost[1];
    const numbers = ticks(this.begin + 1, this.end, Math.max(width / 90, 2)).map(Math.round);
    this.width = width;
    this.x = linear(this.begin, this.end, STRIP.left, right);
    if (this.errors.length) this.drawErrors(svg);
    this.drawLane(svg, "activation", "Activations");
    this.drawLane(svg, "weight", "Weights");
    if (this.most > 0) this.drawCosts(svg);
    this.line = shape("line", {class: "cursor", y1: this.errors.length ? TRACKS.error[0] - 6 : 0, y2: bottom});
    svg.append(
        shape("line", {class: "axis", x1: STRIP.left, x2: right, y1: bottom, y2: bottom}),
        ...axisBelow((n) => this.x(n - 0.5), [...new Set(numbers)], bottom, count), this.line);
    if (this.slider) this.moveLine(this.slider.place());
    return this.height;
  }

  moveLine(index) {
    const inside = index >= this.begin && index < this.end;
    const at = inside ? this.x(index + 0.5) : NOWHERE.x;
    this.line.setAttribute("x1", at);
    this.line.setAttribute("x2", at);
  }

  show(index) {
    const layer = this.layers[index];
    const facts = stripFacts(layer);
    if (index < this.begin || index >= this.end) this.zoomTo(index, this.end - this.begin);
    this.moveLine(index);
    const words = (title, value) => element("li", {}, element("span", {class: "label"}, title), " ", value);
    this.readout.replaceChildren(
        element("p", {},
            element("span", {class: "place"}, `${count(index + 1)} of ${count(this.layers.length)}`), " ",
            element("span", {class: "tag"}, shorten(visible(layer.op_type), 40)), " ", nameOf(layer.name, 80)),
        element("ul", {class: "facts"}, facts.map((pair) => words(...pair))),
        element("p", {}, element("button",
            {type: "button", class: "quiet", click: () => this.openLayer(index)}, "Show in the table")));
    const name = shorten(visible(`${layer.op_type} ${layer.name || ""}`), 80);
    return [`layer ${index + 1} of ${this.layers.length}: ${name}`, ...facts.map((pair) => pair.join(" "))].join(", ");
  }

  zoomTo(index, size) {
    const all = this.layers.length;
    size = Math.min(Math.max(size, Math.min(LEAST_LAYERS, all)), all);
    this.begin = Math.min(Math.max(Math.round(index - size / 2), 0), all - size);
    this.end = this.begin + size;
    this.drawing.redraw();
  }

  zoomBy(factor) {
    this.zoomTo(this.slider.place(), Math.ceil((this.end - this.begin) * factor));
  }

  find(event) {
    const part = (pointIn(this.drawing.svg, event).x - STRIP.left) / (this.width - STRIP.left - STRIP.right);
    const index = Math.floor(this.begin + part * (this.end - this.begin));
    return Math.min(Math.max(index, this.begin), this.end - 1);
  }

  tools() {
    const button = (title, factor) =>
      element("button", {type: "button", class: "quiet", click: () => this.zoomBy(factor)}, title);
    return element("p", {class: "tools"}, button("Zoom in", 0.5), button("Zoom out", 2));
  }

  legend() {
    const used = new Set(this.layers.flatMap((layer) => [widthOf(layer.activation), widthOf(layer.weight)]));
    const size = {x: 1, y: 1, width: 16, height: 10};
    return legend([
      ...this.errors.map(({mark, title}) => ({mark: mark(), title})),
      ...WIDTHS.filter(({key}) => used.has(key))
          .map(({key, title}) => ({mark: shape("rect", {class: "width " + key, ...size}), title})),
    ]);
  }

  view(parent) {
    const box = element("div", {class: "charts one"});
    if (this.layers.length > 2 * LEAST_LAYERS) parent.append(this.tools());
    parent.append(box, this.readout, this.legend());
    this.drawing = surface(box,
        `Error, width and cost of ${this.layers.length} layers; the table below has the figures`,
        (svg, width) => this.draw(svg, width));
    this.slider = cursor(box, "Layers along the graph", this.layers.length, {
      find: (event) => this.find(event),
      show: (index) => this.show(index),
      open: this.openLayer,
      start: worstLayer(this.layers),
    });
  }
}

function viewStrip(data, parent, openLayer) {
  new Strip(data, openLayer).view(parent);
}
