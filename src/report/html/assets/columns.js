// Columns of the table, of tensors and of layers, and what can be filtered and searched.

const placeColumn = (hint) =>
    ({title: "#", value: (row, i) => i, show: (row, i) => count(i + 1), number: true, wide: true, hint});

const decibelColumn = (title, key, hint, more) =>
    ({title, value: (row) => row[key], show: (row) => decibels(row[key]), number: true, hint, ...more});

const shareColumn = (title, key, more) =>
    ({title, value: (row) => row[key], show: (row) => share(row[key]), number: true, high: true, ...more});

const TENSOR_COLUMNS = [
  {title: "Tensor", value: (row) => row.name || "", name: true},
  placeColumn("place in the report"),
  {title: "Role", value: (row) => row.role || "", wide: true},
  {
    title: "Type",
    value: (row) => row.type || "",
    short: (text) => text.split(",")[0] + (text.includes("per channel") ? ", per channel" : ""),
  },
  {
    title: "Scale",
    value: (row) => row.scale,
    show: (row) => number(row.scale, 3),
    number: true,
    wide: true
  },
  {
    title: "Values",
    value: (row) => (known(row.min) ? Math.max(Math.abs(row.min), Math.abs(row.max)) : NaN),
    show: (row) =>
        (known(row.min) ? `${number(row.min, 3)} \u2026 ${number(row.max, 3)}` : UNKNOWN),
    number: true,
    wide: true,
    high: true,
    hint: "least and greatest; sorted by magnitude"
  },
  shareColumn("Clipped", "clipped", {wide: true}),
  decibelColumn("Alone", "alone_db", "SQNR of its values when it alone is quantized", {wide: true}),
  decibelColumn("Whole", "whole_db", "SQNR in the quantized model, with all errors before it", {error: true}),
];

const LAYER_COLUMNS = [
  {title: "Layer", value: (row) => row.name || "", name: true},
  placeColumn("place along the graph"),
  {title: "Operator", value: (row) => row.op_type || ""},
  {title: "State", value: (row) => row.state || "", wide: true},
  {title: "Activation", value: (row) => row.activation || "", wide: true},
  {title: "Weight", value: (row) => row.weight || "", wide: true},
  shareColumn("Cost", "cost", {wide: true, hint: "share of multiply-adds"}),
  decibelColumn("Weights", "weights_db", "SQNR when its weights alone are quantized", {wide: true}),
  decibelColumn("Input", "input_db", "SQNR when its input alone is quantized", {wide: true}),
  decibelColumn("Whole", "whole_db", "SQNR of its output in the quantized model", {error: true}),
];

const LINEAR_COLUMNS = [
  {title: "Weight", value: (row) => row.name || "", name: true},
  placeColumn("place in the report"),
  {title: "Part", value: (row) => row.part, wide: true},
  {title: "Type", value: (row) => row.type},
  {title: "Method", value: (row) => row.method, wide: true},
  {title: "Bits", value: (row) => row.bits, show: (row) => number(row.bits, 3), number: true, wide: true},
  shareColumn("Share", "share", {wide: true, hint: "of the bits of all that are quantized"}),
  shareColumn("Nearest", "nearest", {wide: true, hint: "error with nearest levels"}),
  shareColumn("Error", "error", {worst: true, hint: "squared error of its output, without texts of its weights, as a share"}),
  {
    title: "KL",
    value: (row) => row.kl,
    show: (row) => number(row.kl, 3),
    number: true,
    high: true,
    worst: true,
    hint: "divergence that it adds by itself, predicted"
  },
];

const KINDS = {
  linears: {
    one: "weight",
    columns: LINEAR_COLUMNS,
    filters: [["part", "Part"], ["type", "Type"], ["method", "Method"]],
    search: ["name", "type", "why"]
  },
  tensors: {
    one: "tensor",
    columns: TENSOR_COLUMNS,
    filters: [["role", "Role"], ["type", "Type"]],
    search: ["name", "type", "why", "remarks"]
  },
  layers: {
    one: "layer",
    columns: LAYER_COLUMNS,
    filters: [["op_type", "Operator"], ["state", "State"], ["activation", "Activation"]],
    search: ["name", "op_type", "why", "weight"]
  },
};
