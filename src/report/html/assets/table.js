// The table of tensors or layers: sorts, filters, searches; a row opens into its details.

const CHUNK = 100;

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
    short: (text) => text.replace(/, (per tensor|symmetric|asymmetric)/g, ""),
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

const KINDS = {
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

function compareValues(a, b) {
  const none = (value) =>
      value === "" || value === null || value === undefined || Number.isNaN(value);
  if (none(a) || none(b)) return none(a) - none(b) || 0;
  return typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a - b;
}

function distinct(rows, key, most = 40) {
  return [
    ...new Set(rows.map((row) => row[key]).filter((value) => typeof value === "string" && value))
  ].sort()
      .slice(0, most);
}

class Table {
  constructor(data, kind, openOther) {
    this.data = data;
    this.kind = KINDS[kind];
    this.key = kind;
    this.rows = data[kind];
    this.openOther = openOther;
    this.columns = this.kind.columns.filter(
        (column) => column.name ||
            this.rows.some((row, i) => ![null, undefined, ""].includes(column.value(row, i))));
    this.texts = this.rows.map(
        (row) => this.kind.search.map((key) => row[key] || "").join("\n").toLowerCase());
    const error = this.columns.find((column) => column.error);
    this.sort = error ? {column: error, down: false} : {column: null, down: false};
    this.filter = {text: "", below: NaN};
    this.shown = CHUNK;
    this.open = new Set();
    this.build();
  }

  build() {
    this.status = element("p", {class: "status", role: "status"});
    this.body = element("tbody");
    this.heads = this.columns.map((column) => this.head(column));
    this.more = element("p", {class: "tools more"});
    this.table = element(
        "table", {class: "rows", "aria-rowcount": this.rows.length + 1},
        element("caption", {class: "unseen"}, `${this.kind.one}s`),
        element("thead", {}, element("tr", {}, this.heads.map(({cell}) => cell))), this.body);
    this.box = element("div", {}, this.tools(), this.status, this.table, this.more);
    this.update();
  }

  head(column) {
    const button = element(
        "button", {type: "button", title: column.hint, click: () => this.sortBy(column)},
        column.title, element("span", {class: "arrow", "aria-hidden": "true"}));
    const cell = element("th", {scope: "col", class: this.classOf(column)}, button);
    return {column, cell, button};
  }

  classOf(column) {
    return [
      column.number ? "number" : "", column.wide ? "wide" : "", column.name ? "names" : "",
      column.title === "#" ? "index" : ""
    ].join(" ").trim() ||
        null;
  }

  tools() {
    const search = element("input", {
      type: "search",
      placeholder: `Search ${this.kind.one}s`,
      "aria-label": `Search ${this.kind.one}s`,
      input: () => this.change({text: search.value.trim().toLowerCase()})
    });
    const selects = this.kind.filters.filter(([key]) => distinct(this.rows, key).length > 1)
                        .map(([key, title]) => this.select(key, title));
    const below = element("input", {
      type: "number",
      step: "any",
      inputmode: "decimal",
      class: "narrow",
      input: () => this.change({below: below.value === "" ? NaN : Number(below.value)})
    });
    const sort = element(
        "select", {change: () => this.sortBy(this.columns[Number(sort.value)], false)},
        this.columns.map(
            (column, i) => element(
                "option", {value: i},
                column.hint ? `${column.title} (${column.hint})` : column.title)));
    this.sorter = sort;
    const hasError = this.columns.some((column) => column.error);
    return element(
        "div", {class: "tools filters"}, search, selects,
        hasError ? element("label", {}, "SQNR below ", below, " dB") : null,
        element("label", {class: "sorter"}, "Sort by ", sort));
  }

  select(key, title) {
    const select = element(
        "select", {change: () => this.change({[key]: select.value})},
        element("option", {value: ""}, "all"),
        distinct(this.rows, key)
            .map((value) => element("option", {value}, shorten(visible(value), 60))));
    return element("label", {}, title + " ", select);
  }

  change(filter) {
    Object.assign(this.filter, filter);
    this.shown = CHUNK;
    this.update();
  }

  sortBy(column, down) {
    const same = this.sort.column === column;
    this.sort = {
      column,
      down: down !== undefined ? down :
          same                 ? !this.sort.down :
                                 Boolean(column.high)
    };
    this.shown = CHUNK;
    this.update();
  }

  passes(row, i) {
    const {text, below} = this.filter;
    if (text && !this.texts[i].includes(text)) return false;
    if (!Number.isNaN(below) &&
        !(row.whole_db < below || (!known(row.whole_db) && row.alone_db < below)))
      return false;
    return this.kind.filters.every(([key]) => !this.filter[key] || row[key] === this.filter[key]);
  }

  update() {
    const {column, down} = this.sort;
    this.order = [];
    this.rows.forEach((row, i) => {
      if (this.passes(row, i)) this.order.push(i);
    });
    if (column) {
      const values = this.rows.map((row, i) => column.value(row, i));
      const none = (i) => compareValues(values[i], "") !== 0 ? 0 : 1;
      this.order.sort((a, b) => {
        const missing = none(a) - none(b);
        return missing ||
            (down ? compareValues(values[b], values[a]) : compareValues(values[a], values[b])) ||
            a - b;
      });
      this.sorter.value = String(this.columns.indexOf(column));
    }
    for (const {column: own, cell} of this.heads) {
      const sorted = own === column ? (down ? "descending" : "ascending") : null;
      if (sorted)
        cell.setAttribute("aria-sort", sorted);
      else
        cell.removeAttribute("aria-sort");
    }
    this.fill();
  }

  fill() {
    const visibleRows = this.order.slice(0, this.shown);
    this.body.replaceChildren(...visibleRows.flatMap((i) => this.rowsOf(i)));
    if (!visibleRows.length)
      this.body.append(element(
          "tr", {}, element("td", {colspan: this.columns.length}, `No ${this.kind.one} matches.`)));
    const left = this.order.length - visibleRows.length;
    this.status.textContent = this.order.length === this.rows.length ?
        plural(this.rows.length, this.kind.one) :
        `${count(this.order.length)} of ${plural(this.rows.length, this.kind.one)}`;
    this.more.replaceChildren(
        ...(left > 0 ?
                [
                  element("span", {}, `${count(visibleRows.length)} shown. `),
                  element(
                      "button", {type: "button", click: () => this.showMore(CHUNK)},
                      `Show ${Math.min(CHUNK, left)} more`),
                  element(
                      "button", {type: "button", click: () => this.showMore(Infinity)},
                      `Show all ${count(this.order.length)}`)
                ] :
                []));
    this.body.classList.toggle("cut", left > 0);
  }

  showMore(size) {
    const begin = this.shown;
    this.shown = Math.min(this.shown + size, this.order.length);
    this.fill();
    const first = this.body.querySelector(`tr[data-row="${this.order[begin]}"] button`);
    if (first) first.focus();
  }

  rowsOf(i) {
    const row = this.rows[i], open = this.open.has(i);
    const line = element(
        "tr", {"data-row": i, class: open ? "open" : null},
        this.columns.map((column) => this.cell(column, row, i)));
    return open ? [line, this.detailsRow(i)] : [line];
  }

  cell(column, row, i) {
    if (column.name) {
      const button = element(
          "button", {
            type: "button",
            class: "name-button",
            "aria-expanded": String(this.open.has(i)),
            click: () => this.toggle(i)
          },
          nameOf(row.name));
      const why = row.why ?
          element("span", {class: "why"}, element("bdi", {}, shorten(visible(row.why), 90))) :
          null;
      return element("th", {scope: "row", class: "names"}, button, why);
    }
    if (column.show) {
      const cell = element("td", {class: this.classOf(column)}, column.show(row, i));
      if (column.error && known(row.whole_db)) cell.append(meter(row.whole_db / 50));
      return cell;
    }
    const text = visible(column.value(row, i));
    return element(
        "td", {class: this.classOf(column)}, shorten(column.short ? column.short(text) : text, 30));
  }

  toggle(i) {
    if (this.open.has(i))
      this.open.delete(i);
    else
      this.open.add(i);
    const line = this.body.querySelector(`tr[data-row="${i}"]`);
    const next = line.nextElementSibling;
    if (next && next.classList.contains("details")) next.remove();
    line.classList.toggle("open", this.open.has(i));
    line.querySelector("button").setAttribute("aria-expanded", String(this.open.has(i)));
    if (this.open.has(i)) line.after(this.detailsRow(i));
  }

  detailsRow(i) {
    const inside = element("div", {class: "inside"});
    const row =
        element("tr", {class: "details"}, element("td", {colspan: this.columns.length}, inside));
    const fill = () => (this.key === "tensors" ? tensorDetails : layerDetails)(
        this.data, i, inside, this.openOther);
    requestAnimationFrame(fill);
    return row;
  }

  // Makes a row seen, whatever the filters are.
  reveal(i) {
    let at = this.order.indexOf(i);
    if (at < 0) {
      this.clear();
      at = this.order.indexOf(i);
    }
    this.shown = Math.max(this.shown, Math.ceil((at + 1) / CHUNK) * CHUNK);
    this.open.add(i);
    this.fill();
    const button = this.body.querySelector(`tr[data-row="${i}"] button`);
    button.scrollIntoView({block: "center"});
    button.focus({preventScroll: true});
  }

  clear() {
    this.filter = {text: "", below: NaN};
    for (const field of this.box.querySelectorAll(".filters input")) field.value = "";
    for (const field of this.box.querySelectorAll(".filters label:not(.sorter) select"))
      field.value = "";
    this.update();
  }
}

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

// Returns a function that opens a row: ("layers", 12).
function viewTable(data, parent) {
  const kinds = ["tensors", "layers"].filter((kind) => (data[kind] || []).length);
  const tables = {};
  const tabs = element("div", {class: "tabs", role: "group", "aria-label": "Rows"});
  const box = element("div");
  function choose(kind) {
    tables[kind] = tables[kind] || new Table(data, kind, open);
    box.replaceChildren(tables[kind].box);
    for (const button of tabs.children)
      button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
    return tables[kind];
  }
  function open(kind, i) {
    choose(kind).reveal(i);
  }
  for (const kind of kinds)
    tabs.append(element(
        "button", {type: "button", "data-kind": kind, click: () => choose(kind)},
        `${kind[0].toUpperCase()}${kind.slice(1)} `,
        element("span", {class: "small"}, count(data[kind].length))));
  if (kinds.length > 1) parent.append(tabs);
  parent.append(box);
  choose(kinds[0]);
  return open;
}
