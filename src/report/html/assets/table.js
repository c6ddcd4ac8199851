// The table of tensors or layers: sorts, filters, searches; a row opens into its details.

const CHUNK = 100;
const DETAILS = {tensors: tensorDetails, layers: layerDetails, linears: linearDetails};

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
    const worst = this.columns.find((column) => column.worst);
    this.sort = {column: error || worst || null, down: !error && Boolean(worst)};
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
    this.cut = element("p", {class: "cut-note"});
    this.box = element("div", {}, this.tools(), this.status, this.table, this.cut, this.more);
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
        hasError ? element("label", {}, "SQNR below ", element("span", {class: "field"}, below, "dB")) : null,
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
    this.cut.textContent = left > 0 ? `The table is cut here: ${count(visibleRows.length)} of ${
        count(this.order.length)} rows are printed, the file has all.` : "";
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
    const fill = () => DETAILS[this.key](
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

// Returns a function that opens a row: ("layers", 12).
function viewTable(data, parent) {
  const kinds = ["tensors", "layers", "linears"].filter((kind) => (data[kind] || []).length);
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
