// The histogram of a tensor with its range and its steps.

const HISTOGRAM = {
  left: 52,
  right: 14,
  top: 22,
  bottom: 172,
  comb: [178, 188],
  height: 236
};

// Steps of the widest channel: what low and high are of.
function stepOf(tensor) {
  const levels = tensor.levels;
  if (!levels || levels.length !== 2 || !(levels[1] > levels[0]) || !known(tensor.low) ||
      !known(tensor.high))
    return null;
  return {count: levels[1] - levels[0], size: (tensor.high - tensor.low) / (levels[1] - levels[0])};
}

function barsOf(histogram) {
  const size = (histogram.high - histogram.low) / histogram.counts.length;
  const most = known(histogram.most) ? histogram.most : 9999;
  return histogram.counts.map(
      (value, i) => ({
        begin: histogram.low + i * size,
        end: histogram.low + (i + 1) * size,
        count: value > 0 ? Math.max(Math.round((value / 9999) * most), 1) : 0
      }));
}

function wholeRange(tensor) {
  const ends = [tensor.histogram.low, tensor.histogram.high];
  const [low, high] = extent([...ends, tensor.low, tensor.high]);
  return high > low ? [low, high] : [low - 1, high + 1];
}

function nearZero(tensor) {
  const [low, high] = wholeRange(tensor);
  const far = known(tensor.rms) && tensor.rms > 0 ? 2 * tensor.rms : (high - low) / 20;
  return [Math.max(low, -far), Math.min(high, far)];
}

// Counts upwards: 1, 10, 100 at equal distances, or in proportion.
function heights(most, logarithmic) {
  if (!logarithmic)
    return {values: ticks(0, most, 3), y: linear(0, most, HISTOGRAM.bottom, HISTOGRAM.top)};
  const top = Math.max(Math.log10(most), 1);
  const y = linear(0, top + 0.15, HISTOGRAM.bottom, HISTOGRAM.top);
  const powers = ticks(0, top, 3).filter((power) => Number.isInteger(power));
  return {
    values: powers.map((power) => 10 ** power),
    y: (value) =>
        (value < 1 ? HISTOGRAM.bottom : Math.min(y(Math.log10(value) + 0.15), HISTOGRAM.bottom))
  };
}

function compact(value) {
  return value >= 1e6 ? number(value / 1e6) + "M" :
      value >= 1e3    ? number(value / 1e3) + "k" :
                        number(value);
}

function combOf(tensor, x, low, high, width) {
  const step = stepOf(tensor), [top, bottom] = HISTOGRAM.comb;
  if (!step || !(step.size > 0)) return [];
  const begin = Math.max(0, Math.ceil((low - tensor.low) / step.size - 1e-9)),
        end = Math.min(step.count, Math.floor((high - tensor.low) / step.size + 1e-9));
  const from = Math.max(x(Math.max(tensor.low, low)), HISTOGRAM.left),
        to = Math.min(x(Math.min(tensor.high, high)), width - HISTOGRAM.right);
  if (end < begin || (end - begin + 1) * 2 > to - from)
    return [shape("rect", {
      class: "comb-full",
      x: from,
      y: top,
      width: Math.max(to - from, 1),
      height: bottom - top
    })];
  let path = "";
  for (let k = begin; k <= end; k++)
    path += `M${x(tensor.low + k * step.size).toFixed(2)},${top}V${bottom}`;
  return [shape("path", {class: "comb", d: path})];
}

function rangeOf(tensor, x, width, low, high) {
  const marks = [];
  const {left, right, top, bottom} = HISTOGRAM;
  if (!known(tensor.low) || !known(tensor.high)) return marks;
  const from = Math.max(x(tensor.low), left), to = Math.min(x(tensor.high), width - right);
  if (tensor.low > low)
    marks.push(shape("rect", {
      class: "clipped",
      x: left,
      y: top,
      width: Math.max(from - left, 0),
      height: bottom - top
    }));
  if (tensor.high < high)
    marks.push(shape("rect", {
      class: "clipped",
      x: to,
      y: top,
      width: Math.max(width - right - to, 0),
      height: bottom - top
    }));
  for (const [value, place] of [[tensor.low, from], [tensor.high, to]]) {
    if (value < low || value > high) continue;
    const middle = place > width - 60 ? "end" : place < left + 44 ? "start" : "middle";
    marks.push(
        shape("line", {class: "range", x1: place, x2: place, y1: top - 6, y2: bottom}),
        label(place, top - 10, number(value, 3), {class: "range-text", "text-anchor": middle}));
  }
  return marks;
}

function histogramTitle(tensor) {
  const step = stepOf(tensor);
  const parts = [`Histogram of ${shorten(visible(tensor.name), 60)}: values from ${
      number(tensor.histogram.low)} to ${number(tensor.histogram.high)}`];
  if (known(tensor.low)) parts.push(`range from ${number(tensor.low)} to ${number(tensor.high)}`);
  if (step) parts.push(`${count(step.count + 1)} levels, ${number(step.size)} apart`);
  return parts.join(", ");
}

function drawHistogram(tensor, options) {
  const bars = barsOf(tensor.histogram);
  return (svg, width) => {
    const [low, high] = options.near ? nearZero(tensor) : wholeRange(tensor);
    const x = linear(low, high, HISTOGRAM.left, width - HISTOGRAM.right);
    const seen = bars.filter((bar) => bar.end > low && bar.begin < high);
    const {values, y} = heights(Math.max(...seen.map((bar) => bar.count), 1), options.logarithmic);
    let path = "";
    for (const bar of seen) {
      if (!bar.count) continue;
      const from = Math.max(x(bar.begin), HISTOGRAM.left),
            to = Math.min(x(bar.end), width - HISTOGRAM.right);
      path += `M${from.toFixed(2)},${HISTOGRAM.bottom}V${y(bar.count).toFixed(2)}H${
          Math.max(to, from + 0.8).toFixed(2)}V${HISTOGRAM.bottom}z`;
    }
    svg.append(
        ...axisLeft(y, values, HISTOGRAM.left, width - HISTOGRAM.right, compact),
        ...rangeOf(tensor, x, width, low, high), shape("path", {class: "bars-of-values", d: path}),
        shape("line", {
          class: "axis",
          x1: HISTOGRAM.left,
          x2: width - HISTOGRAM.right,
          y1: HISTOGRAM.bottom,
          y2: HISTOGRAM.bottom
        }),
        ...combOf(tensor, x, low, high, width), label(0, 12, "values", {class: "axis-title"}),
        ...axisBelow(
            x, ticks(low, high, Math.max(width / 90, 2)), HISTOGRAM.comb[1] + 2,
            (value) => number(Math.abs(value) < (high - low) * 1e-9 ? 0 : value, 4)),
        label(
            (HISTOGRAM.left + width) / 2, HISTOGRAM.height - 10, stepText(tensor),
            {class: "axis-title", "text-anchor": "middle"}));
    return HISTOGRAM.height;
  };
}

function stepText(tensor) {
  const step = stepOf(tensor);
  if (!step) return "value";
  return `value; ${count(step.count + 1)} levels, ${number(step.size, 3)} apart${
      tensor.scales > 1 ? " (widest channel)" : ""}`;
}

function switchOf(title, on, change) {
  const input = element("input", {type: "checkbox", change: () => change(input.checked)});
  input.checked = on;
  return element("label", {class: "switch"}, input, " ", title);
}

function viewHistogram(tensor, parent) {
  const options = {near: false, logarithmic: true};
  const tools = element("p", {class: "tools"});
  const box = element("div", {class: "charts one"});
  parent.append(box, tools);
  const drawing = surface(box, histogramTitle(tensor), drawHistogram(tensor, options));
  tools.append(switchOf("around zero", false, (on) => {
                 options.near = on;
                 drawing.redraw();
               }), switchOf("logarithmic", true, (on) => {
                 options.logarithmic = on;
                 drawing.redraw();
               }), legendOfHistogram(tensor));
}

function legendOfHistogram(tensor) {
  const entries = [{mark: shape("path", {class: "range", d: "M9,0V12"}), title: "range"}];
  if (known(tensor.clipped) && tensor.clipped > 0)
    entries.push(
        {mark: shape("rect", {class: "clipped", width: 18, height: 12}), title: "clipped"});
  if (stepOf(tensor))
    entries.push(
        {mark: shape("path", {class: "comb", d: "M3,1V11M9,1V11M15,1V11"}), title: "levels"});
  return legend(entries);
}
