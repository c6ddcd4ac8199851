// The search: each step's quality in order, and quality against cost. One cursor for both.

const FRAME = {left: 46, right: 10, top: 26, bottom: 214, height: 254};
const LEAST_COSTS = 0.1; // from one side of the axis to the other
const NOWHERE = {x: -50, y: -50};

// The metric that is drawn: that of the first goal, else the first that there is.
function searchMetric(data) {
  const names = Object.keys(Object.assign({}, ...data.steps.map((step) => step.choose || {})));
  const goal = (data.goals || []).find((one) => names.includes(one.metric));
  if (!goal) return {name: names[0], goal: undefined};
  return {name: goal.metric, goal: known(goal.least) ? goal.least : goal.most};
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
  const titles = {best: "best so far", final: "written", dropped: "dropped"};
  return Object.hasOwn(titles, state) ? titles[state] : shorten(visible(state || ""), 40);
}

function stepMark(place, state, index) {
  const radius = state === "final" ? 6.5 : state === "best" ? 4.5 : 4;
  const kind = radius > 4 ? state : "dropped";
  return shape("circle",
      {class: "point " + kind, cx: place.x, cy: place.y, r: radius, "data-step": index});
}

function searchLegend() {
  const place = {x: 9, y: 6};
  return legend([
    {mark: stepMark(place, "final"), title: "written"},
    {mark: stepMark(place, "best"), title: "best so far"},
    {mark: stepMark(place, "dropped"), title: "dropped"},
  ]);
}

// A line that goes to each value where that begins to hold.
function stairs(points) {
  return points.map(({x, y}, i) => (i ? `H${x}V` : `M${x},`) + y).join("");
}

class Search {
  constructor(data, name, goal) {
    this.steps = data.steps;
    this.frontier = data.frontier || [];
    this.name = name;
    this.goal = goal;
    this.qualities = data.steps.map((step) => (step.choose || {})[name]);
    this.costs = data.steps.map((step) => step.cost);
    const [low, high] = extent([...this.qualities, goal]) || [0, 1];
    const room = (high - low || Math.abs(high) || 1) * 0.12;
    this.y = linear(low - room, high + room, FRAME.bottom - 8, FRAME.top);
    this.values = ticks(low - room, high + room, 5);
    this.drawings = [];
    this.readout = element("p", {class: "readout"});
  }

  // What both drawings have: quality upwards, a goal, an axis below.
  frame(svg, width, below, axis) {
    const unit = DECIBELS.includes(this.name) ? this.name.toUpperCase() + ", dB" : visible(this.name);
    const {left, bottom} = FRAME, right = width - FRAME.right;
    const format = (value) => bound(this.name, value).replace("\u00a0dB", "");
    svg.append(
        label(0, 12, shorten(unit, 40), {class: "axis-title"}),
        ...axisLeft(this.y, this.values, left, right, format),
        shape("line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}), ...axis,
        label((left + right) / 2, bottom + 36, below,
            {class: "axis-title", "text-anchor": "middle"}));
    if (!known(this.goal)) return;
    const at = this.y(this.goal);
    svg.append(
        shape("line", {class: "goal", x1: left, x2: right, y1: at, y2: at}),
        label(left + 4, at - 5, "goal " + bound(this.name, this.goal), {class: "goal-text"}));
  }

  drawSteps(svg, width) {
    const size = this.steps.length;
    const x = linear(0, size - 1, FRAME.left + 16, width - FRAME.right - 16);
    const numbers = ticks(1, size, Math.min(size - 1, width / 60)).map(Math.round);
    this.frame(svg, width, "step", axisBelow((n) => x(n - 1), [...new Set(numbers)], FRAME.bottom, String));
    const kept = climb(this.steps, this.qualities);
    const line = kept.map((value, i) => ({x: x(i), y: this.y(value), value})).filter(({value}) => value !== null);
    this.addPoints(0, svg, line, (i) => x(i));
    return FRAME.height;
  }

  drawCosts(svg, width) {
    const [least, most] = extent(this.costs);
    const room = Math.max((most - least) * 0.08, (LEAST_COSTS - (most - least)) / 2);
    const x = linear(least - room, most + room, FRAME.left + 8, width - FRAME.right - 8);
    const values = ticks(least - room, most + room, width / 80);
    this.frame(svg, width, "cost; 1 is all multiply-adds in 8 bits",
        axisBelow(x, values, FRAME.bottom, (value) => number(value, 3)));
    const line = this.frontier.map(({cost, quality}) => ({x: x(cost), y: this.y(quality)}));
    this.addPoints(1, svg, line, (i) => x(this.costs[i]));
    return FRAME.height;
  }

  addPoints(which, svg, line, x) {
    const places = this.qualities.map((quality, i) => {
      const place = known(quality) && {x: x(i), y: this.y(quality)};
      return place && known(place.x) ? place : null;
    });
    const ring = shape("circle", {class: "ring", r: 10});
    svg.append(shape("path", {class: "climb", d: stairs(line)}));
    places.forEach((place, i) => place && svg.append(stepMark(place, this.steps[i].state, i)));
    svg.append(ring);
    Object.assign(this.drawings[which], {places, ring});
    if (this.slider) this.show(this.slider.place());
  }

  factsOf(step, quality) {
    return [
      metric(this.name, quality), known(step.cost) ? "cost " + number(step.cost) : null,
      known(step.bytes) ? bytes(step.bytes) : null, stateTitle(step.state)
    ].filter(Boolean);
  }

  show(index) {
    const step = this.steps[index];
    for (const {ring, places} of this.drawings) {
      const {x, y} = places[index] || NOWHERE;
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
    }
    if (this.marked) this.marked.classList.remove("at");
    this.marked = document.querySelector(`tr[data-step="${index}"]`);
    if (this.marked) this.marked.classList.add("at");
    const facts = this.factsOf(step, this.qualities[index]);
    this.readout.replaceChildren(
        element("span", {class: "place"}, String(index + 1)), " ",
        element("bdi", {class: "step-name"}, shorten(visible(step.name), 80)), " ",
        element("span", {class: "facts"}, facts.join(" \u00b7 ")));
    const name = shorten(visible(step.name), 60);
    return `step ${index + 1} of ${this.steps.length}: ${name}, ${facts.join(", ")}`;
  }

  // The step whose point is nearest; in the first drawing, only to the side.
  find(event) {
    const which = this.drawings.findIndex(({svg}) => svg.contains(event.target));
    if (which < 0) return -1;
    const point = pointIn(this.drawings[which].svg, event);
    let nearest = -1, least = Infinity;
    this.drawings[which].places.forEach((place, i) => {
      if (!place) return;
      const far = (place.x - point.x) ** 2 + (which ? (place.y - point.y) ** 2 : 0);
      if (far < least) [nearest, least] = [i, far];
    });
    return nearest;
  }

  addDrawing(box, title, description, draw) {
    const figure = element("figure", {}, element("figcaption", {}, title));
    const drawing = {};
    box.append(figure);
    this.drawings.push(drawing);
    Object.assign(drawing, surface(figure, description, draw));
  }

  view(parent) {
    const box = element("div", {class: "charts"});
    const final = this.steps.findIndex((step) => step.state === "final");
    parent.append(box, this.readout, searchLegend());
    this.addDrawing(box, "Quality, step by step",
        `${this.name} of each of ${this.steps.length} steps; the table below has the figures`,
        (svg, width) => this.drawSteps(svg, width));
    if (extent(this.costs))
      this.addDrawing(box, "Quality against cost", `${this.name} against cost; the line is the frontier`,
          (svg, width) => this.drawCosts(svg, width));
    this.slider = cursor(box, "Steps of the search", this.steps.length, {
      find: (event) => this.find(event),
      show: (index) => this.show(index),
      start: final < 0 ? this.steps.length - 1 : final,
    });
  }
}

function viewSearch(data, parent) {
  const {name, goal} = searchMetric(data);
  if (name && data.steps.length > 1) new Search(data, name, goal).view(parent);
}
