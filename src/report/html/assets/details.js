// What a row of the table opens into.

// A short line that is as long as the share.
function meter(part) {
  const width = (48 * Math.min(Math.max(part, 0), 1)).toFixed(1);
  return shape(
      "svg", {class: "meter", viewBox: "0 0 48 4", "aria-hidden": "true"},
      shape("rect", {class: "room", width: 48, height: 4}),
      shape("rect", {class: "fill", width, height: 4}));
}

function facts(pairs) {
  return element(
      "dl", {class: "details-facts"},
      pairs
          .filter(
              ([, value]) =>
                  value !== null && value !== undefined && value !== "" && value !== UNKNOWN)
          .map(
              ([title, value, whole]) => element(
                  "div", {class: whole ? "whole-row" : null}, element("dt", {}, title),
                  element("dd", {}, value))));
}

// The whole name, in a box that scrolls when it is long.
function fullName(name) {
  const clean = visible(name || UNKNOWN);
  return element(
      "p", {
        class: clean.length > 400 ? "full-name long" : "full-name",
        tabindex: clean.length > 400 ? 0 : null
      },
      element("bdi", {}, clean));
}

function tensorDetails(data, i, inside, openOther) {
  const tensor = data.tensors[i];
  const several = tensor.scales > 1;
  inside.append(fullName(tensor.name));
  if (tensor.histogram && tensor.histogram.counts.length &&
      tensor.histogram.high >= tensor.histogram.low)
    viewHistogram(tensor, inside);
  inside.append(facts([
    ["Type", visible(tensor.type || "")],
    ["Role", visible(tensor.role || "")],
    [
      several ? `Scales, ${count(tensor.scales)}` : "Scale",
      several ? `${number(tensor.scale)} \u2026 ${number(tensor.last_scale)}` : number(tensor.scale)
    ],
    ["Zero point", number(tensor.zero_point)],
    ["Range", known(tensor.low) ? `${number(tensor.low)} to ${number(tensor.high)}` : null],
    ["Values", known(tensor.min) ? `${number(tensor.min)} to ${number(tensor.max)}` : null],
    ["Root mean square", number(tensor.rms)],
    ["Zeros", share(tensor.zeros)],
    ["Clipped", share(tensor.clipped)],
    ["SQNR alone", decibels(tensor.alone_db)],
    ["SQNR in the whole model", decibels(tensor.whole_db)],
    ["Why", visible(tensor.why || ""), true],
    ["Rules changed", visible(tensor.remarks || ""), true],
    ["Parameters of", tensor.shares ? nameOf(tensor.shares, 80) : null, true],
    ["Layers", layersAround(data, i, openOther), true],
  ]));
}

function otherButton(name, open) {
  return element("button", {type: "button", class: "quiet", click: open}, nameOf(name, 48));
}

function layersAround(data, i, openOther) {
  const found =
      (data.layers || [])
          .map((layer, at) => ({layer, at}))
          .filter(({layer}) => [...(layer.inputs || []), ...(layer.outputs || [])].includes(i))
          .slice(0, 12);
  return found.length ?
      found
          .map(
              ({layer, at}) =>
                  [otherButton(
                       `${layer.op_type} ${layer.name || ""}`, () => openOther("layers", at)),
                   " "])
          .flat() :
      null;
}

function tensorsOf(data, places, openOther) {
  const found = (places || []).filter((at) => data.tensors && data.tensors[at]).slice(0, 12);
  return found.length ?
      found.map((at) => [otherButton(data.tensors[at].name, () => openOther("tensors", at)), " "])
          .flat() :
      null;
}

function layerDetails(data, i, inside, openOther) {
  const layer = data.layers[i];
  inside.append(
      fullName(layer.name), facts([
        ["Operator", visible(layer.op_type || "")],
        ["State", visible(layer.state || "")],
        ["Why", visible(layer.why || ""), true],
        ["Multiply-adds", count(layer.multiply_adds)],
        ["Share of all", share(layer.cost)],
        ["Activation", visible(layer.activation || "")],
        ["Weight", visible(layer.weight || "")],
        ["SQNR, weights alone", decibels(layer.weights_db)],
        ["SQNR, input alone", decibels(layer.input_db)],
        ["SQNR in the whole model", decibels(layer.whole_db)],
        [
          "Mean error",
          known(layer.shift) ? share(layer.shift) + " of the output\u2019s root mean square" : null
        ],
        ["Nested", layer.nested ? "in a graph of If, Loop or Scan" : null],
        ["Reads", tensorsOf(data, layer.inputs, openOther), true],
        ["Writes", tensorsOf(data, layer.outputs, openOther), true],
      ]));
}
