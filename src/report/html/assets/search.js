// The search: each step's quality in order, and quality against cost. One cursor for both.

function searchMetric(data) {
  const names = Object.keys(Object.assign({}, ...data.steps.map((step) => step.choose || {})));
  const goal = (data.goals || []).find((one) => names.includes(one.metric));
  return {
    name: goal ? goal.metric : names[0],
    goal: goal && known(goal.least) ? goal.least :
        goal                        ? goal.most :
                                      undefined
  };
}

// The quality of what is kept, step by step.
function climb(steps, qualities) {
  let kept = null;
  return qualities.map((quality, i) => {
    if (known(quality) && steps[i].state !== "dropped") kept = quality;
    return kept;
  });
}

function stateTitle(state) {
  return {best: "best so far", final: "written", dropped: "dropped"}[state] || state || "";
}

function stepMark(x, y, state, index) {
  const marks = {
    final: () => shape("circle", {class: "point final", cx: x, cy: y, r: 6.5}),
    best: () => shape("circle", {class: "point best", cx: x, cy: y, r: 4.5}),
  };
  const mark =
      (marks[state] || (() => shape("circle", {class: "point dropped", cx: x, cy: y, r: 4})))();
  if (index !== undefined) mark.setAttribute("data-step", index);
  return mark;
}

function goalLine(at, goal, left, right, name) {
  if (!known(goal)) return [];
  return [
    shape("line", {class: "goal", x1: left, x2: right, y1: at(goal), y2: at(goal)}),
    label(left + 4, at(goal) - 5, "goal " + bound(name, goal), {class: "goal-text"})
  ];
}

function qualityRange(values, goal) {
  const [low, high] = extent([...values, goal]) || [0, 1];
  const room = (high - low || Math.abs(high) || 1) * 0.12;
  return [low - room, high + room];
}

// Both drawings are a frame with quality upwards; x differs.
function frame(svg, width, {at, axis, left, title, below, values, name}) {
  const right = width - 10, bottom = 214;
  svg.append(
      label(0, 12, title, {class: "axis-title"}),
      ...axisLeft(at, values, left, right, (value) => bound(name, value).replace("\u00a0dB", "")),
      shape("line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}), ...axis,
      label(
          (left + right) / 2, bottom + 36, below, {class: "axis-title", "text-anchor": "middle"}));
  return 254;
}

function viewSearch(data, parent) {
  const {name, goal} = searchMetric(data);
  if (!name || data.steps.length < 2) return;
  const qualities = data.steps.map((step) => (step.choose || {})[name]);
  const costs = data.steps.map((step) => step.cost);
  const [low, high] = qualityRange(qualities, goal);
  const unit = DECIBELS.includes(name) ? name.toUpperCase() + ", dB" : name;
  const left = 46, at = linear(low, high, 206, 26), values = ticks(low, high, 5);
  const rings = [], places = [[], []];

  function drawSteps(svg, width) {
    const x = linear(0, data.steps.length - 1, left + 16, width - 26);
    const numbers = [...new Set(
        ticks(1, data.steps.length, Math.min(data.steps.length - 1, width / 60)).map(Math.round))];
    const height = frame(svg, width, {
      at,
      left,
      values,
      name,
      title: unit,
      below: "step",
      axis: axisBelow((n) => x(n - 1), numbers, 214, String)
    });
    const best = climb(data.steps, qualities);
    let path = "";
    best.forEach((value, i) => {
      if (value !== null) path += (path ? `H${x(i)}V` : `M${x(i)},`) + at(value);
    });
    svg.append(
        shape("path", {class: "climb", d: path}), ...goalLine(at, goal, left, width - 10, name));
    addPoints(svg, 0, (i) => x(i));
    return height;
  }
  function drawCosts(svg, width) {
    const [least, most] = extent(costs);
    const room = (most - least || most || 1) * 0.08;
    const x = linear(least - room, most + room, left + 8, width - 18);
    const height = frame(svg, width, {
      at,
      left,
      values,
      name,
      title: unit,
      below: "cost; 1 is all multiply-adds in 8 bits",
      axis: axisBelow(
          x, ticks(least - room, most + room, width / 80), 214, (value) => number(value, 3))
    });
    const path =
        (data.frontier || [])
            .map(
                (point, i) => (i ? `H${x(point.cost)}V` : `M${x(point.cost)},`) + at(point.quality))
            .join("");
    svg.append(
        shape("path", {class: "climb", d: path}), ...goalLine(at, goal, left, width - 10, name));
    addPoints(svg, 1, (i) => x(costs[i]));
    return height;
  }
  function addPoints(svg, which, x) {
    places[which] = qualities.map(
        (quality, i) =>
            (known(quality) && Number.isFinite(x(i)) ? {x: x(i), y: at(quality)} : null));
    rings[which] = shape("circle", {class: "ring", r: 10, cx: -50, cy: -50});
    svg.append(
        ...places[which]
            .map((place, i) => place && stepMark(place.x, place.y, data.steps[i].state, i))
            .filter(Boolean),
        rings[which]);
    if (slider) show(slider.place());
  }

  let slider = null, marked = null;
  const readout = element("p", {class: "readout"});
  function show(place) {
    const step = data.steps[place];
    rings.forEach((ring, which) => {
      const spot = places[which][place] || {x: -50, y: -50};
      ring.setAttribute("cx", spot.x);
      ring.setAttribute("cy", spot.y);
    });
    if (marked) marked.classList.remove("at");
    marked = document.querySelector(`tr[data-step="${place}"]`);
    if (marked) marked.classList.add("at");
    const facts = [
      metric(name, qualities[place]), known(step.cost) ? "cost " + number(step.cost) : null,
      known(step.bytes) ? bytes(step.bytes) : null, stateTitle(step.state)
    ].filter(Boolean);
    readout.replaceChildren(
        element("span", {class: "place"}, String(place + 1)), " ",
        element("bdi", {class: "step-name"}, shorten(visible(step.name), 80)), " ",
        element("span", {class: "facts"}, facts.join(" \u00b7 ")));
    return `step ${place + 1} of ${data.steps.length}: ${shorten(visible(step.name), 60)}, ${
        facts.join(", ")}`;
  }
  const box = element("div", {class: "charts"});
  const first = element("figure", {}, element("figcaption", {}, "Quality, step by step"));
  parent.append(box, readout, legend([
                  {mark: stepMark(9, 6, "final"), title: "written"},
                  {mark: stepMark(9, 6, "best"), title: "best so far"},
                  {mark: stepMark(9, 6, "dropped"), title: "dropped"}
                ]));
  box.append(first);
  const drawings = [surface(
      first, `${name} of each of ${data.steps.length} steps; the table below has the figures`,
      drawSteps)];
  if (extent(costs)) {
    const second = element("figure", {}, element("figcaption", {}, "Quality against cost"));
    box.append(second);
    drawings.push(surface(second, `${name} against cost; the line is the frontier`, drawCosts));
  }
  const find = (event) => {
    const which = drawings.findIndex(({svg}) => svg.contains(event.target));
    if (which < 0) return -1;
    const point = pointIn(drawings[which].svg, event);
    let nearest = -1, least = Infinity;
    places[which].forEach((place, i) => {
      const far =
          place ? (place.x - point.x) ** 2 + (which ? (place.y - point.y) ** 2 : 0) : Infinity;
      if (far < least) [nearest, least] = [i, far];
    });
    return nearest;
  };
  const final = data.steps.findIndex((step) => step.state === "final");
  slider = cursor(
      box, "Steps of the search", data.steps.length,
      {find, show, start: final < 0 ? data.steps.length - 1 : final});
}
