// The graph as a strip along its layers: error, width, cost. A cursor names the layer under it.

const STRIP = {
  left: 46,
  right: 10,
  error: [26, 176],
  activation: [196, 206],
  weight: [222, 232],
  cost: [254, 306],
  height: 344
};

// The narrower of neighbours that fall on one pixel must not hide the others: runs of one width
// become one bar, and a bar is at least a pixel wide.
function runsOf(layers, begin, end, widthOfLayer) {
  const runs = [];
  for (let i = begin; i < end; i++) {
    const width = widthOfLayer(layers[i]);
    const last = runs[runs.length - 1];
    if (last && last.width === width)
      last.end = i + 1;
    else
      runs.push({width, begin: i, end: i + 1});
  }
  return runs.filter((run) => run.width);
}

function widthLane(x, layers, begin, end, [top, bottom], widthOfLayer) {
  const paths = {};
  for (const run of runsOf(layers, begin, end, widthOfLayer)) {
    const from = x(run.begin), wide = Math.max(x(run.end) - from, 1);
    paths[run.width] = (paths[run.width] || "") +
        `M${from.toFixed(2)},${top}h${wide.toFixed(2)}V${bottom}h${(-wide).toFixed(2)}z`;
  }
  return WIDTHS.filter(({key}) => paths[key])
      .map(({key}) => shape("path", {class: "width " + key, d: paths[key]}));
}

// A line through what is known; a lone point is a short dash.
function errorLine(x, y, layers, begin, end, value) {
  let path = "", open = false;
  for (let i = begin; i < end; i++) {
    if (!known(value(layers[i]))) continue;
    path += `${open ? "L" : "M"}${(x(i + 0.5)).toFixed(2)},${y(value(layers[i])).toFixed(2)}`;
    open = true;
  }
  return path;
}

function errorMarks(x, y, layers, begin, end, value, mark) {
  let path = "";
  for (let i = begin; i < end; i++)
    if (known(value(layers[i])))
      path += `M${x(i + 0.5).toFixed(2)},${y(value(layers[i])).toFixed(2)}` + mark;
  return path;
}

const WEIGHT_MARK = "m-2.5,-2.5l5,5m0,-5l-5,5",
      INPUT_MARK = "m-2.6,0a2.6,2.6 0 1 0 5.2,0a2.6,2.6 0 1 0 -5.2,0";

function stripFacts(layer) {
  const types =
      [...new Set([layer.activation, layer.weight].filter(Boolean).map(visible))].join(" \u00d7 ");
  return [
    ["whole model", known(layer.whole_db) ? decibels(layer.whole_db) : null],
    ["weights alone", known(layer.weights_db) ? decibels(layer.weights_db) : null],
    ["input alone", known(layer.input_db) ? decibels(layer.input_db) : null],
    ["cost", known(layer.cost) ? share(layer.cost) : null],
    ["types", types || null],
    [layer.state === "float" ? "float" : "why", layer.why ? visible(shorten(layer.why, 80)) : null],
  ].filter(([, value]) => value);
}

function stripLegend(layers, measured) {
  const used =
      new Set(layers.flatMap((layer) => [widthOf(layer.activation), widthOf(layer.weight)]));
  const entries =
      WIDTHS.filter(({key}) => used.has(key))
          .map(({key, title}) => ({
                 mark: shape("rect", {class: "width " + key, x: 1, y: 1, width: 16, height: 10}),
                 title
               }));
  const lines = [
    {
      key: "whole_db",
      mark: shape("path", {class: "whole", d: "M1,6H17"}),
      title: "error in the whole model"
    },
    {
      key: "weights_db",
      mark: shape("path", {class: "alone", d: "M9,6" + WEIGHT_MARK}),
      title: "weights alone"
    },
    {
      key: "input_db",
      mark: shape("path", {class: "alone", d: "M9,6" + INPUT_MARK}),
      title: "input alone"
    },
  ];
  return legend([...lines.filter(({key}) => measured[key]), ...entries]);
}

function viewStrip(data, parent, openLayer) {
  const layers = data.layers;
  const measured = {};
  for (const key of ["whole_db", "weights_db", "input_db", "cost"])
    measured[key] = layers.some((layer) => known(layer[key]));
  const hasError = measured.whole_db || measured.weights_db || measured.input_db;
  const shift = hasError ? 0 : STRIP.error[1] - 6;
  const tracks = Object.fromEntries(["error", "activation", "weight", "cost"].map(
      (name) => [name, STRIP[name].map((y) => y - shift)]));
  const found =
      extent(layers.flatMap((layer) => [layer.whole_db, layer.weights_db, layer.input_db]));
  const low = Math.min(0, Math.max(found ? found[0] : 0, -20)),
        high = Math.min(Math.max(found ? found[1] : 40, 25), 60);
  const clamped = linear(low, high, tracks.error[1], tracks.error[0]);
  const y = (value) => clamped(Math.min(Math.max(value, low), high));
  const most = extent(layers.map((layer) => layer.cost)) || [0, 1];
  const goal = (data.goals || []).find((one) => one.metric === "sqnr" && known(one.least));
  let begin = 0, end = layers.length, x = null, wide = 0, line = null, slider = null;

  function drawError(svg) {
    svg.append(
        label(0, 12, "SQNR of each layer\u2019s output, dB", {class: "axis-title"}),
        ...axisLeft(
            y, ticks(low, high, 4), STRIP.left, wide - STRIP.right, (value) => number(value)));
    if (goal && goal.least < high)
      svg.append(shape("line", {
        class: "goal",
        x1: STRIP.left,
        x2: wide - STRIP.right,
        y1: y(goal.least),
        y2: y(goal.least)
      }));
    const whole = errorLine(x, y, layers, begin, end, (layer) => layer.whole_db);
    const many = (end - begin) / (wide - STRIP.left) > 0.25 ? " many" : "";
    svg.append(
        shape("path", {
          class: "alone" + many,
          d: errorMarks(x, y, layers, begin, end, (layer) => layer.weights_db, WEIGHT_MARK)
        }),
        shape("path", {
          class: "alone" + many,
          d: errorMarks(x, y, layers, begin, end, (layer) => layer.input_db, INPUT_MARK)
        }),
        shape("path", {class: "whole" + many, d: whole}));
  }
  function drawLanes(svg) {
    for (const [name, title, width] of [
             ["activation", "Activations", (layer) => widthOf(layer.activation)],
             ["weight", "Weights", (layer) => widthOf(layer.weight)]]) {
      const [top, bottom] = tracks[name];
      svg.append(
          label(STRIP.left, top - 4, title, {class: "axis-title"}), shape("rect", {
            class: "lane",
            x: STRIP.left,
            y: top,
            width: wide - STRIP.left - STRIP.right,
            height: bottom - top
          }),
          ...widthLane(x, layers, begin, end, tracks[name], width));
    }
  }
  function drawCost(svg) {
    const [top, bottom] = tracks.cost;
    const height = linear(0, most[1] || 1, 0, bottom - top);
    const gap = x(1) - x(0) > 4 ? 1 : 0;
    let path = "";
    for (let i = begin; i < end; i++) {
      if (!(layers[i].cost > 0)) continue;
      const tall = Math.max(height(layers[i].cost), 1);
      path += `M${x(i).toFixed(2)},${bottom}v${(-tall).toFixed(2)}h${
          Math.max(x(i + 1) - x(i) - gap, 0.75).toFixed(2)}v${tall.toFixed(2)}z`;
    }
    svg.append(
        label(STRIP.left, top - 6, "Share of multiply-adds", {class: "axis-title"}),
        label(STRIP.left - 6, top + 8, share(most[1]), {class: "tick", "text-anchor": "end"}),
        label(STRIP.left - 6, bottom + 1, "0", {class: "tick", "text-anchor": "end"}),
        shape("path", {class: "cost", d: path}));
  }
  function draw(svg, width) {
    wide = width;
    x = linear(begin, end, STRIP.left, width - STRIP.right);
    const bottom = tracks.cost[1];
    const numbers = [...new Set(ticks(begin + 1, end, Math.max(width / 90, 2)).map(Math.round))];
    if (hasError) drawError(svg);
    drawLanes(svg);
    if (measured.cost) drawCost(svg);
    line = shape("line", {class: "cursor", y1: hasError ? tracks.error[0] - 6 : 0, y2: bottom});
    svg.append(
        shape(
            "line",
            {class: "axis", x1: STRIP.left, x2: width - STRIP.right, y1: bottom, y2: bottom}),
        ...axisBelow((n) => x(n - 0.5), numbers, bottom, (n) => count(n)), line);
    if (slider) place(slider.place());
    return STRIP.height - shift - 14;
  }
  function place(index) {
    const at = x(index + 0.5);
    const inside = index >= begin && index < end;
    line.setAttribute("x1", inside ? at : -9);
    line.setAttribute("x2", inside ? at : -9);
  }
  const readout = element("div", {class: "readout"});
  function show(index) {
    const layer = layers[index];
    if (index < begin || index >= end) zoomTo(index, end - begin);
    place(index);
    const facts = stripFacts(layer);
    readout.replaceChildren(
        element(
            "p", {},
            element("span", {class: "place"}, `${count(index + 1)} of ${count(layers.length)}`),
            " ", element("span", {class: "tag"}, visible(shorten(layer.op_type, 40))), " ",
            nameOf(layer.name, 80)),
        element(
            "ul", {class: "facts"},
            facts.map(
                ([title, value]) =>
                    element("li", {}, element("span", {class: "label"}, title), " ", value))),
        element(
            "p", {},
            element(
                "button", {type: "button", class: "quiet", click: () => openLayer(index)},
                "Show in the table")));
    return `layer ${index + 1} of ${layers.length}: ${
               shorten(visible(layer.op_type + " " + (layer.name || "")), 80)}, ` +
        facts.map((pair) => pair.join(" ")).join(", ");
  }
  function zoomTo(index, size) {
    size = Math.min(Math.max(size, Math.min(24, layers.length)), layers.length);
    begin = Math.min(Math.max(Math.round(index - size / 2), 0), layers.length - size);
    end = begin + size;
    drawing.redraw();
  }
  const box = element("div", {class: "charts one"});
  parent.append(box, readout, stripLegend(layers, measured));
  const drawing = surface(
      box, `Error, width and cost of ${layers.length} layers; the table below has the figures`,
      draw);
  const find = (event) => {
    const index = Math.floor(
        begin +
        ((pointIn(drawing.svg, event).x - STRIP.left) / (wide - STRIP.left - STRIP.right)) *
            (end - begin));
    return event.target === box || drawing.svg.contains(event.target) ?
        Math.min(Math.max(index, begin), end - 1) :
        -1;
  };
  slider = cursor(
      box, "Layers along the graph", layers.length,
      {find, show, open: openLayer, start: worstLayer(layers)});
  if (layers.length > 48)
    box.before(element(
        "p", {class: "tools"},
        element(
            "button", {
              type: "button",
              class: "quiet",
              click: () => zoomTo(slider.place(), Math.ceil((end - begin) / 2))
            },
            "Zoom in"),
        element(
            "button", {
              type: "button",
              class: "quiet",
              click: () => zoomTo(slider.place(), (end - begin) * 2)
            },
            "Zoom out")));
}

function worstLayer(layers) {
  let worst = 0;
  layers.forEach((layer, i) => {
    if (known(layer.whole_db) && !(layers[worst].whole_db <= layer.whole_db)) worst = i;
  });
  return worst;
}
