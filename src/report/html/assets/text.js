// Texts and numbers of the page, and elements made of them. Texts become text nodes, never markup.
"use strict";

const UNKNOWN = "\u2013";
const EQUAL = 150; // dB: no difference at all
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}

// What is invisible or turns the text around stands as \uNNNN.
function visible(text) {
  return String(text).replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

// The end of a name tells more than its middle.
function shorten(text, most) {
  if (text.length <= most) return text;
  const begin = Array.from(text.slice(0, 2 * most)), end = Array.from(text.slice(-2 * most));
  if (text.length <= 2 * most && begin.length <= most) return text;
  const first = Math.floor(most / 3);
  return begin.slice(0, first).join("") + "\u2026" + end.slice(first + 1 - most).join("");
}

function number(value, digits = 4) {
  if (!known(value)) return UNKNOWN;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e-4 && size < 1e6 ? String(Number(value.toPrecision(digits))) :
                                            value.toExponential(digits - 2).replace("e+", "e");
  return text.replace("-", "\u2212");
}

function decibels(value) {
  if (!known(value)) return UNKNOWN;
  return value >= EQUAL ? "equal" : value.toFixed(1).replace("-", "\u2212") + "\u00a0dB";
}

function share(value) {
  if (!known(value)) return UNKNOWN;
  const percent = 100 * value;
  if (percent > 0 && percent < 0.001) return "<\u00a00.001\u00a0%";
  return number(percent, percent < 10 ? 2 : 3) + "\u00a0%";
}

function count(value) {
  return known(value) ? Math.round(value).toLocaleString("en-US") : UNKNOWN;
}

function plural(value, one) {
  return count(value) + " " + one + (value === 1 ? "" : "s");
}

function bytes(value) {
  if (!known(value)) return UNKNOWN;
  let unit = 0;
  for (; value >= 999.5 && unit < 4; unit++) value /= 1000;
  return (unit && value < 99.95 ? value.toFixed(1) : value.toFixed(0)) + "\u00a0" +
      ["B", "kB", "MB", "GB", "TB"][unit];
}

const DECIBELS = ["sqnr", "psnr"];
const SHARES = ["top1", "top5", "accuracy", "accuracy5", "baseline-accuracy", "baseline-accuracy5"];

function metric(name, value) {
  if (DECIBELS.includes(name)) return decibels(value);
  return SHARES.includes(name) ? share(value) : number(value);
}

// A round value, as a goal or at an axis: "20 dB".
function bound(name, value) {
  return DECIBELS.includes(name) ? number(value) + "\u00a0dB" : metric(name, value);
}

// element("td", {class: "number"}, "text", child)
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function")
      made.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined) made.append(child);
  return made;
}

// A name from a model: apart from the direction of its neighbours, cut in the middle.
function nameOf(text, most = 56) {
  const clean = visible(text === undefined || text === null || text === "" ? UNKNOWN : text);
  const short = shorten(clean, most);
  return element(
      "bdi", {class: "name", title: short === clean ? null : shorten(clean, 500)}, short);
}

// A word for how wide a type is: it chooses color and legend.
const WIDTHS = [
  {key: "narrow", title: "4 bits or less"},
  {key: "eight", title: "8 bits"},
  {key: "block", title: "blocks of floats"},
  {key: "sixteen", title: "16 bits"},
  {key: "float", title: "float"},
];

function widthOf(type) {
  if (!type) return null;
  const word = type.toLowerCase();
  if (/^(bfp|mx|nvfp)/.test(word)) return "block";
  const bits = Number((/^(?:u?int|bf|bfloat|float|fp|f)(\d+)/.exec(word) || [])[1]);
  if (!bits) return /^float|^double/.test(word) ? "float" : "block";
  return bits <= 4 ? "narrow" : bits <= 8 ? "eight" : bits <= 16 ? "sixteen" : "float";
}

function say(text) {
  document.getElementById("say").textContent = text;
}
