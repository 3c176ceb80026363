"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.querySelector("canvas"), context = canvas.getContext("2d"), tip = document.getElementById("tip");
const darkness = matchMedia("(prefers-color-scheme: dark)");
const theme = () => data.themes[darkness.matches ? "dark" : "light"];

function decode(Kind, text) {
  return new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}
const network = data.network && {
  names: data.network.names,
  places: decode(Float32Array, data.network.places),
  edges: decode(Uint32Array, data.network.edges),
  groups: data.network.groups,
  distances: data.network.distances && decode(Float64Array, data.network.distances),
};
const images = data.images && Object.fromEntries(["light", "dark"].map((name) => {
  const image = new Image();
  image.onload = () => redraw();
  image.src = data.images[name];
  return [name, image];
}));
for (const route of data.routes) route.points = decode(Float32Array, route.points);
for (const outline of data.outlines) outline.rings = outline.rings.map((ring) => decode(Float32Array, ring));

// The view: a place p of the drawing is at p * scale + (x, y), in pixels of the screen.
const view = { scale: 1, x: 0, y: 0 };
let least = 1;
function showAll() {
  const { clientWidth: width, clientHeight: height } = canvas;
  const [across, down] = data.extent.map((extent) => Math.max(extent, 1e-9));
  view.scale = least = Math.max(1, Math.min((width - 48) / across, (height - 48) / down));
  view.x = width / 2;
  view.y = height / 2;
}

function trace(points) {
  for (let i = 0; i < points.length; i += 2) {
    const x = points[i] * view.scale + view.x, y = points[i + 1] * view.scale + view.y;
    if (i === 0) context.moveTo(x, y); else context.lineTo(x, y);
  }
}
function stroke(color, width, draw) {
  context.beginPath();
  draw();
  context.strokeStyle = color;
  context.lineWidth = width;
  context.stroke();
}
function drawNetwork() {
  const { places, edges, groups } = network, { scale, x, y } = view;
  const width = canvas.clientWidth, height = canvas.clientHeight, colors = theme();
  const thickness = Math.min(data.width * Math.max(1, Math.sqrt(scale / least)), 4);
  let edge = 0;
  groups.forEach((count, group) => {
    const color = group === 0 ? colors.plain : colors.distances[groups.length - 1 - group];
    if (count > 0) stroke(color, thickness, () => {
      for (const end = edge + count; edge < end; edge++) {
        const u = 2 * edges[2 * edge], v = 2 * edges[2 * edge + 1];
        const ax = places[u] * scale + x, ay = places[u + 1] * scale + y;
        const bx = places[v] * scale + x, by = places[v + 1] * scale + y;
        if (Math.max(ax, bx) < 0 || Math.min(ax, bx) > width || Math.max(ay, by) < 0 || Math.min(ay, by) > height) continue;
        context.moveTo(ax, ay);
        context.lineTo(bx, by);
      }
    });
  });
}
function draw() {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme().background;
  context.fillRect(0, 0, width, height);
  context.lineJoin = "round";
  if (network) drawNetwork();
  if (images) {
    const [across, down] = data.images.extent.map((extent) => extent * view.scale);
    const image = images[darkness.matches ? "dark" : "light"];
    if (image.complete) context.drawImage(image, view.x - across / 2, view.y - down / 2, across, down);
  }
  for (const ring of data.outlines.flatMap((outline) => outline.rings)) {
    stroke(theme().background, 3.6, () => trace(ring));
    stroke(data.outline, 1.8, () => trace(ring));
  }
  data.routes.map((route, number) => [route, number]).reverse().forEach(([route, number]) => {
    stroke(route.color, 3 + 2.4 * Math.min(number, 8), () => trace(route.points));
  });
  for (const mark of [...data.marks].reverse()) {
    const x = mark.at[0] * view.scale + view.x, y = mark.at[1] * view.scale + view.y;
    for (const [radius, color] of [[7, theme().background], [5, mark.color]]) {
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fillStyle = color;
      context.fill();
    }
  }
}
let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}

function zoom(factor, x, y) {
  const scale = Math.min(Math.max(view.scale * factor, least / 4), least * 1e5);
  factor = scale / view.scale;
  view.x = x - (x - view.x) * factor;
  view.y = y - (y - view.y) * factor;
  view.scale = scale;
  tip.hidden = true;
  redraw();
}
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
}, { passive: false });
const held = new Map();
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  held.set(event.pointerId, [event.offsetX, event.offsetY]);
});
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => held.delete(event.pointerId));
canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
canvas.addEventListener("pointermove", (event) => {
  const before = held.get(event.pointerId), now = [event.offsetX, event.offsetY];
  if (!before) return tell(...now);
  if (held.size === 2) {
    const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const distance = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
    zoom(distance(now) / distance(before), other[0], other[1]);
  } else {
    view.x += now[0] - before[0];
    view.y += now[1] - before[1];
    redraw();
  }
  held.set(event.pointerId, now);
});
const middle = () => [canvas.clientWidth / 2, canvas.clientHeight / 2];
document.getElementById("in").onclick = () => zoom(1.6, ...middle());
document.getElementById("out").onclick = () => zoom(1 / 1.6, ...middle());
document.getElementById("all").onclick = () => { showAll(); redraw(); };

// Vertices by cells of the plane, so that the nearest to the pointer is found at once.
const cells = network && (() => {
  const { places } = network, count = places.length / 2;
  const side = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(count / 2))));
  const cell = (at) => Math.min(side - 1, Math.max(0, Math.floor((at + 0.5) * side)));
  const starts = new Uint32Array(side * side + 1), order = new Uint32Array(count);
  const of = (v) => cell(places[2 * v + 1]) * side + cell(places[2 * v]);
  for (let v = 0; v < count; v++) if (places[2 * v] === places[2 * v]) starts[of(v) + 1]++;
  for (let i = 0; i < side * side; i++) starts[i + 1] += starts[i];
  const next = starts.slice();
  for (let v = 0; v < count; v++) if (places[2 * v] === places[2 * v]) order[next[of(v)]++] = v;
  return { side, cell, starts, order };
})();
function nearest(x, y) {
  const near = 24, { places } = network, { side, cell, starts, order } = cells;
  const at = (px, py) => [(px - view.x) / view.scale, (py - view.y) / view.scale];
  const [[left, top], [right, bottom]] = [at(x - near, y - near), at(x + near, y + near)];
  let best = -1, least = near * near;
  for (let row = cell(top); row <= cell(bottom); row++) {
    for (let i = starts[row * side + cell(left)]; i < starts[row * side + cell(right) + 1]; i++) {
      const v = order[i], dx = places[2 * v] * view.scale + view.x - x, dy = places[2 * v + 1] * view.scale + view.y - y;
      if (dx * dx + dy * dy < least) [best, least] = [v, dx * dx + dy * dy];
    }
  }
  return best;
}
function tell(x, y) {
  const v = network ? nearest(x, y) : -1;
  tip.hidden = v < 0;
  if (v < 0) return;
  const name = Array.isArray(network.names) ? network.names[v] : String(BigInt(network.names.first) + BigInt(v));
  const distance = network.distances && network.distances[v];
  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 17 });
  tip.textContent = distance === null ? name : `${name}: ${Number.isNaN(distance) ? "not reached" : number(distance)}`;
  tip.style.left = `${Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 4)}px`;
  tip.style.top = `${Math.max(4, y - 34)}px`;
}

function element(tag, parent, text) {
  const made = parent.appendChild(document.createElement(tag));
  if (text !== undefined) made.textContent = text;
  return made;
}
function entry(color, text, isDot) {
  const item = element("li", document.querySelector("ul")), swatch = element("i", item);
  swatch.style.background = color;
  if (isDot) swatch.className = "dot";
  item.append(text);
}
function legend() {
  document.querySelector("ul").replaceChildren();
  const scale = document.getElementById("scale");
  if (data.scale) {
    scale.hidden = false;
    scale.replaceChildren(data.scale.unit);
    element("div", scale).style.background = `linear-gradient(to right, ${theme().distances.join(",")})`;
    const ticks = element("div", scale);
    ticks.className = "ticks";
    for (const { at, text } of data.scale.ticks) element("span", ticks, text).style.left = `${100 * at}%`;
    if (data.scale.unreached) entry(theme().plain, "not reached");
  }
  for (const route of data.routes) entry(route.color, route.label);
  if (data.outlines.length) entry(data.outline, `reached within ${data.outlines.map((outline) => outline.label).join(", ")}`);
  const told = new Set();
  for (const { color, label } of data.marks) if (!told.has(color)) { told.add(color); entry(color, label, true); }
}
darkness.addEventListener("change", () => { legend(); redraw(); });
new ResizeObserver(() => { showAll(); redraw(); }).observe(canvas);
legend();
