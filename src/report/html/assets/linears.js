// Weights of a language model: rows of the table, from a quantization or a search for bits.

// The last part of a name says what it is: "q_proj".
function partOf(name) {
  const words = name.split(".").filter((word) => word !== "weight" && !/^\d+$/.test(word));
  return words[words.length - 1] || name;
}

function either(first, second) {
  return known(first) ? first : known(second) ? second : null;
}

function linearRows(data) {
  const rows = (data.weights || data.linears).map((row) => {
    const name = row.name || row.layer || "";
    const values = (row.shape || []).reduce((product, size) => product * size, 1);
    return {
      name,
      part: partOf(name),
      type: row.scheme || row.type || "as it was",
      method: row.method || "",
      values: row.shape ? values : null,
      bits: either(row.bits, row.bits_per_weight),
      nearest: either(row.nearest_output_error, null),
      error: either(row.output_error, row.relative_error),
      kl: either(row.predicted_kl, null),
      why: row.reason || null,
      resumed: row.resumed || false,
    };
  });
  const size = (row) => (known(row.bits) && known(row.values) ? row.bits * row.values : 0);
  const all = rows.reduce((sum, row) => sum + size(row), 0);
  for (const row of rows) row.share = size(row) > 0 ? size(row) / all : null;
  return rows;
}

function linearDetails(data, i, inside) {
  const row = data.linears[i];
  inside.append(fullName(row.name), facts([
    ["Type", visible(row.type)],
    ["Why", visible(row.why || ""), true],
    ["Method", visible(row.method || "")],
    ["Bits a weight", number(row.bits)],
    ["Weights", count(row.values)],
    ["Share of bits", share(row.share)],
    [row.method ? "Error of its output" : "Error of its weights", share(row.error)],
    ["With nearest levels", share(row.nearest)],
    ["KL, predicted", number(row.kl)],
    ["Resumed", row.resumed ? "an earlier run wrote it; nothing was measured" : null, true],
  ]));
}
