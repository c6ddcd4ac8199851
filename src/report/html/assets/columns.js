// Columns of the table, of tensors and of layers, and what can be filtered and searched.

const TENSOR_COLUMNS = [
  {title: "Tensor", value: (row) => row.name || "", name: true},
  {
    title: "#",
    value: (row, i) => i,
    show: (row, i) => count(i + 1),
    number: true,
    wide: true,
    hint: "place in the report"
  },
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
  {
    title: "Clipped",
    value: (row) => row.clipped,
    show: (row) => share(row.clipped),
    number: true,
    wide: true,
    high: true
  },
  {
    title: "Alone",
    value: (row) => row.alone_db,
    show: (row) => decibels(row.alone_db),
    number: true,
    wide: true,
    hint: "SQNR of its values when it alone is quantized"
  },
  {
    title: "Whole",
    value: (row) => row.whole_db,
    show: (row) => decibels(row.whole_db),
    number: true,
    error: true,
    hint: "SQNR in the quantized model, behind all errors before it"
  },
];

const LAYER_COLUMNS = [
  {title: "Layer", value: (row) => row.name || "", name: true},
  {
    title: "#",
    value: (row, i) => i,
    show: (row, i) => count(i + 1),
    number: true,
    wide: true,
    hint: "place along the graph"
  },
  {title: "Operator", value: (row) => row.op_type || ""},
  {title: "State", value: (row) => row.state || "", wide: true},
  {title: "Activation", value: (row) => row.activation || "", wide: true},
  {title: "Weight", value: (row) => row.weight || "", wide: true},
  {
    title: "Cost",
    value: (row) => row.cost,
    show: (row) => share(row.cost),
    number: true,
    wide: true,
    high: true,
    hint: "share of multiply-adds"
  },
  {
    title: "Weights",
    value: (row) => row.weights_db,
    show: (row) => decibels(row.weights_db),
    number: true,
    wide: true,
    hint: "SQNR when its weights alone are quantized"
  },
  {
    title: "Input",
    value: (row) => row.input_db,
    show: (row) => decibels(row.input_db),
    number: true,
    wide: true,
    hint: "SQNR when its input alone is quantized"
  },
  {
    title: "Whole",
    value: (row) => row.whole_db,
    show: (row) => decibels(row.whole_db),
    number: true,
    error: true,
    hint: "SQNR of its output in the quantized model"
  },
];

const LINEAR_COLUMNS = [
  {title: "Weight", value: (row) => row.name || "", name: true},
  {
    title: "#",
    value: (row, i) => i,
    show: (row, i) => count(i + 1),
    number: true,
    wide: true,
    hint: "place in the report"
  },
  {title: "Part", value: (row) => row.part, wide: true},
  {title: "Type", value: (row) => row.type},
  {title: "Method", value: (row) => row.method, wide: true},
  {title: "Bits", value: (row) => row.bits, show: (row) => number(row.bits, 3), number: true, wide: true},
  {
    title: "Share",
    value: (row) => row.share,
    show: (row) => share(row.share),
    number: true,
    wide: true,
    high: true,
    hint: "of the bits of all that are quantized"
  },
  {
    title: "Nearest",
    value: (row) => row.nearest,
    show: (row) => share(row.nearest),
    number: true,
    wide: true,
    high: true,
    hint: "error with nearest levels"
  },
  {
    title: "Error",
    value: (row) => row.error,
    show: (row) => share(row.error),
    number: true,
    high: true,
    worst: true,
    hint: "squared error of its output, without texts of its weights, as a share"
  },
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
