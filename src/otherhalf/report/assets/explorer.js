// The explorer of a report: pick a node, see its neighbours, and what carried its prediction.
// Every text is written as text, never as markup.
(() => {
  "use strict";

  const LONGEST = 60; // characters of a name in a list
  const MOST_FOUND = 12; // ids that a search lists
  const COLOURS = 8; // colours of classes in the style sheet
  const SHAPES = ["circle", "square", "diamond", "triangle", "hexagon", "down"];
  const PARTS = { t: "training node", v: "validation node", s: "test node", e: "in no part of the split" };
  const SVG = "http://www.w3.org/2000/svg";

  const data = JSON.parse(document.getElementById("data").textContent);
  const { classes, nodes } = data;
  const byId = (id) => document.getElementById(id);
  const history = [];
  let current = -1;

  // ---------------------------------------------------------------- pieces of a page

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") element.addEventListener("click", value);
      else if (value !== null) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

  const short = (text, most = LONGEST) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const name = (text, most) =>
    make("bdi", { title: text.length > (most || LONGEST) ? text.slice(0, 300) : null }, short(text, most));
  const percent = (share) => (share >= 0.9995 || share === 0 ? `${Math.round(share * 100)}%` : `${(share * 100).toFixed(1)}%`);
  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
  const className = (label) => (label < 0 ? "unknown" : classes[label]);

  function letter(label) {
    if (label < 0) return "?";
    const last = String.fromCharCode(65 + (label % 26));
    return label < 26 ? last : String.fromCharCode(64 + Math.floor(label / 26)) + last;
  }

  // A neighbour is the place of a node, or [id, label, predicted] of a node that is not in this file.
  function seen(neighbour) {
    if (Array.isArray(neighbour)) {
      const [id, label, predicted] = neighbour;
      return { place: -1, id: String(id), label, predicted };
    }
    const place = neighbour;
    return { place, id: String(nodes.id[place]), label: nodes.label[place], predicted: nodes.predicted[place] };
  }

  // ---------------------------------------------------------------- the small graph

  const POINTS = {
    square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    diamond: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
    triangle: [[0, -1.35], [1.3, 0.95], [-1.3, 0.95]],
    hexagon: [[-0.6, -1.1], [0.6, -1.1], [1.2, 0], [0.6, 1.1], [-0.6, 1.1], [-1.2, 0]],
    down: [[0, 1.35], [1.3, -0.95], [-1.3, -0.95]],
  };

  function shape(label, size) {
    const kind = label < 0 ? "circle" : SHAPES[label % SHAPES.length];
    const style = label < 0 ? "unknown" : `c${label % COLOURS}`;
    if (kind === "circle") return draw("circle", { r: size * 1.08, class: `shape ${style}` });
    const points = POINTS[kind].map(([x, y]) => `${(x * size).toFixed(1)},${(y * size).toFixed(1)}`).join(" ");
    return draw("polygon", { points, class: `shape ${style}` });
  }

  function drawnNode(node, x, y, size, own) {
    const shown = node.label >= 0 ? node.label : node.predicted;
    const open = node.place >= 0 && !own;
    const group = draw(
      "g",
      { class: `vertex${own ? " own" : ""}${open ? " open" : ""}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
      shape(shown, size),
      draw("text", { "text-anchor": "middle", dy: "0.36em" }, letter(shown) + (node.label < 0 ? "?" : "")),
      draw("title", {}, `${short(node.id)}: ${short(className(shown))}${node.label < 0 ? ", predicted" : ""}`)
    );
    if (open) group.addEventListener("click", () => show(node.place));
    return group;
  }

  // Given neighbours are on the left, found ones on the right: a place in the drawing has a meaning,
  // and a node looks the same every time.
  function arc(count, side) {
    const spread = Math.min(150, 34 * Math.max(1, count - 1));
    return Array.from({ length: count }, (_, index) => {
      const degrees = count === 1 ? 0 : -spread / 2 + (spread * index) / (count - 1);
      const angle = (degrees * Math.PI) / 180;
      const far = count > 7 && index % 2 ? 0.74 : 1;
      return [180 + side * 146 * far * Math.cos(angle), 160 + 138 * far * Math.sin(angle)];
    });
  }

  function smallGraph(own, given, found) {
    const svg = draw("svg", { viewBox: "0 0 360 320", class: "small-graph", role: "img" });
    svg.append(
      draw("title", {}, `Neighbours of ${short(own.id)}`),
      draw("desc", {}, `${given.length} given and ${found.length} found neighbours; the lists beside the drawing name them.`)
    );
    const places = new Map();
    const vertices = [];
    const edges = [];
    [[given, -1, "given"], [found, 1, "found"]].forEach(([list, side, kind]) => {
      arc(list.length, side).forEach(([x, y], index) => {
        edges.push(draw("path", { class: `edge ${kind}`, d: `M180 160L${x.toFixed(1)} ${y.toFixed(1)}` }));
        if (list[index].place >= 0) places.set(list[index].place, [x, y]);
        vertices.push(drawnNode(list[index], x, y, 12, false));
      });
    });
    for (const [place, [x, y]] of places) {
      const detail = data.details[nodes.detail[place]];
      for (const other of detail ? detail.given : []) {
        if (!Array.isArray(other) && other > place && places.has(other)) {
          const [u, v] = places.get(other);
          svg.append(draw("path", { class: "edge between", d: `M${x.toFixed(1)} ${y.toFixed(1)}L${u.toFixed(1)} ${v.toFixed(1)}` }));
        }
      }
    }
    svg.append(...edges, ...vertices, drawnNode(own, 180, 160, 17, true));
    if (given.length) svg.append(draw("text", { class: "side", x: 4, y: 314 }, "given"));
    if (found.length) svg.append(draw("text", { class: "side", x: 356, y: 314, "text-anchor": "end" }, "found"));
    return svg;
  }

  function legend(own, given, found) {
    const labels = new Set([own, ...given, ...found].map((node) => (node.label >= 0 ? node.label : node.predicted)));
    const entries = [...labels].sort((a, b) => a - b).map((label) =>
      make("li", {}, draw("svg", { viewBox: "-18 -18 36 36", "aria-hidden": "true" }, shape(label, 11),
        draw("text", { "text-anchor": "middle", dy: "0.36em" }, letter(label))), name(className(label), 32))
    );
    return make("ul", { class: "class-legend" }, ...entries);
  }

  // ---------------------------------------------------------------- lists and bars

  function nodeButton(node, most) {
    if (node.place < 0) return name(node.id, most);
    return make("button", { type: "button", class: "link", onclick: () => show(node.place) }, name(node.id, most));
  }

  function classOf(node) {
    if (node.label >= 0) return make("span", {}, `${letter(node.label)} `, name(className(node.label), 24));
    return make("span", {}, `${letter(node.predicted)}? `, name(className(node.predicted), 24));
  }

  function neighbours(title, list, more, values) {
    const box = make("div", {}, make("h4", {}, title));
    if (!list.length) return fill(box, {}, [make("p", { class: "small" }, "None.")]);
    const rows = list.map((node, index) =>
      make("li", {}, nodeButton(node, 28), classOf(node), values ? make("span", { class: "n" }, values[index].toFixed(3)) : null)
    );
    return fill(box, {}, [make("ul", { class: "neighbours" }, ...rows), more ? make("p", { class: "small" }, `and ${more.toLocaleString("en")} more`) : null]);
  }

  function barRow(title, value, most, text) {
    const width = most > 0 ? Math.min(1, Math.abs(value) / most) : 0;
    return make("li", {}, make("span", { class: "what" }, title), make("span", { class: "n" }, text),
      make("span", { class: `bar${value < 0 ? " minus" : ""}`, style: `--w:${width.toFixed(3)}` }));
  }
  const barList = (...rows) => make("ul", { class: "bars" }, ...rows);

  function why(node, detail) {
    const sign = className(node.predicted);
    const box = make("div", { class: "why" }, make("h3", {}, "Why"));
    if (detail.members.length) {
      box.append(make("h4", {}, "Which members"),
        make("p", { class: "small" }, "Probability that each member gives to ", name(sign, 32), "."),
        barList(...detail.members.map((share, index) =>
          barRow(make("span", {}, name(data.members[index]), ` (weight ${percent(data.weights[index] || 0)})`), share, 1, percent(share)))));
    }
    if (detail.spread) {
      const { from, others, own, score } = detail.spread;
      const rows = from.map(([other, value]) => [nodeButton(seen(other), 28), value, classOf(seen(other))]);
      if (own) rows.push(["the node's own features and share", own, null]);
      if (others) rows.push(["all other nodes together", others, null]);
      const most = Math.max(...rows.map(([, value]) => Math.abs(value)), 1e-9);
      const total = rows.reduce((sum, [, value]) => sum + value, 0);
      box.append(make("h4", {}, "Which labelled nodes"),
        make("p", { class: "small" }, "What each adds to the score of ", name(sign, 32), " when labels are spread over the found half. The parts add up to the score.",
          data.members.includes("spread") ? null : " The spread has no weight in this blend: it shows what similar labelled nodes would say."),
        barList(...rows.map(([title, value, label]) => barRow(make("span", {}, title, label ? " " : null, label), value, most, signed(value)))),
        make("p", { class: "sum" }, make("span", {}, "score"), make("b", {}, (score.length ? score[0] : total).toFixed(3))));
    }
    if (detail.columns === null) {
      if (data.columns_sentence) box.append(make("h4", {}, "Which columns"), make("p", { class: "small" }, "A linear reading of the model says too little about this class to name columns."));
    } else if (detail.columns.length) {
      const most = Math.max(...detail.columns.map(([, , effect]) => Math.abs(effect)), 1e-9);
      box.append(make("h4", {}, "Which columns"),
        make("p", { class: "small" }, "What each adds to the log-odds of ", name(sign, 32), ", compared with an average node."),
        barList(...detail.columns.map(([column, value, effect]) =>
          barRow(make("span", {}, name(data.columns[column], 36), value === "" ? null : " = ", name(String(value), 28)), effect, most, signed(effect)))),
        make("p", { class: "small" }, data.columns_sentence));
    }
    return box;
  }

  // ---------------------------------------------------------------- one node

  function facts(node, place) {
    const right = node.label < 0 ? null : node.label === node.predicted;
    const rows = [
      ["label", name(className(node.label))],
      ["prediction", name(className(node.predicted))],
      ["sure", percent(nodes.confidence[place])],
      ["part", PARTS[nodes.part[place]] || "unknown"],
      ["neighbours", nodes.degree[place].toLocaleString("en")],
    ];
    const badge = right === null ? null : make("span", { class: `badge ${right ? "right" : "wrong"}` }, right ? "right" : "wrong");
    return [make("h3", { class: "node-title" }, "Node ", name(node.id, 200), " ", badge),
      make("dl", { class: "facts" }, ...rows.map(([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, value))))];
  }

  function show(place, { remember = true, quiet = false } = {}) {
    if (remember && current >= 0 && current !== place) history.push(current);
    current = place;
    byId("back").disabled = history.length === 0;
    const node = seen(place);
    const panel = byId("node");
    panel.replaceChildren(...facts(node, place));
    const detail = data.details[nodes.detail[place]];
    if (detail) {
      const given = detail.given.map(seen);
      const found = detail.found.map(([other]) => seen(other));
      const weights = detail.found.map(([, weight]) => weight);
      const differ = weights.some((weight) => weight !== weights[0]);
      const likely = detail.p.map(([label, share]) =>
        barRow(make("span", {}, `${letter(label)} `, name(className(label), 40)), share, 1, percent(share)));
      panel.append(
        make("div", { class: "around" },
          make("div", { class: "drawing" }, smallGraph(node, given, found), legend(node, given, found),
            make("ul", { class: "legend" }, make("li", { class: "solid" }, "given edge"), make("li", { class: "dashed" }, "found edge"),
              make("li", { class: "more" }, "?: no label, prediction shown"))),
          make("div", {}, make("h4", {}, "Probabilities"), barList(...likely),
            make("div", { class: "lists" }, neighbours("Given neighbours", given, detail.given_more),
              neighbours("Found neighbours", found, detail.found_more, differ ? weights : null)))),
        why(node, detail));
    } else {
      panel.append(make("p", { class: "small" }, "This file has no more about this node."));
    }
    const told = node.label < 0 ? "It has no label." : `Its label is ${short(className(node.label))}.`;
    if (!quiet) byId("told").textContent =
      `Node ${short(node.id)} is taken for ${short(className(node.predicted))}, ${percent(nodes.confidence[place])} sure. ${told}`;
  }

  // ---------------------------------------------------------------- search

  const search = byId("search");
  const list = byId("found");
  let lower = null;
  let options = [];
  let active = -1;

  function matches(text) {
    if (lower === null) lower = nodes.id.map((id) => String(id).toLowerCase());
    const wanted = text.toLowerCase();
    const exact = [], first = [], within = [];
    for (let place = 0; place < lower.length; place++) {
      const at = lower[place].indexOf(wanted);
      if (at < 0) continue;
      if (lower[place] === wanted) exact.push(place);
      else if (at === 0) { if (first.length < MOST_FOUND) first.push(place); }
      else if (within.length < MOST_FOUND) within.push(place);
    }
    return [...exact, ...first, ...within].slice(0, MOST_FOUND);
  }

  function close() {
    list.hidden = true;
    options = [];
    active = -1;
    search.setAttribute("aria-expanded", "false");
    search.removeAttribute("aria-activedescendant");
  }

  function choose(place) {
    search.value = short(String(nodes.id[place]), 200);
    close();
    show(place);
  }

  function mark(index) {
    active = index;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === active)));
    list.children[active].scrollIntoView({ block: "nearest" });
    search.setAttribute("aria-activedescendant", `option-${active}`);
  }

  search.addEventListener("input", () => {
    const text = search.value.trim();
    if (!text) return close();
    options = matches(text);
    list.replaceChildren(...options.map((place, index) =>
      fill(make("li", { role: "option", id: `option-${index}`, "aria-selected": "false" }), {}, [
        name(String(nodes.id[place]), 48), make("span", { class: "small" }, " ", name(className(nodes.label[place]), 24))])));
    [...list.children].forEach((item, index) => {
      item.addEventListener("mousedown", (event) => { event.preventDefault(); choose(options[index]); });
    });
    list.hidden = options.length === 0;
    active = -1;
    search.setAttribute("aria-expanded", String(options.length > 0));
    search.removeAttribute("aria-activedescendant");
    if (!options.length) byId("told").textContent = `No node here has an id with ${short(text)} in it.`;
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && options.length) choose(options[Math.max(0, active)]);
    else if (event.key === "ArrowDown" && options.length) mark((active + 1) % options.length);
    else if (event.key === "ArrowUp" && options.length) mark((active - 1 + options.length) % options.length);
    else return;
    event.preventDefault();
  });
  search.addEventListener("blur", close);

  // ---------------------------------------------------------------- buttons

  const explained = [...nodes.id.keys()].filter((place) => nodes.detail[place] >= 0);
  const all = explained.length ? explained : [...nodes.id.keys()];
  const wrong = all.filter((place) => nodes.label[place] >= 0 && nodes.label[place] !== nodes.predicted[place]);
  const wrongTest = wrong.filter((place) => nodes.part[place] === "s");
  const pick = (places) => show(places[Math.floor(Math.random() * places.length)]);

  byId("any").addEventListener("click", () => pick(all));
  byId("wrong").disabled = wrong.length === 0;
  byId("wrong").addEventListener("click", () => pick(wrongTest.length ? wrongTest : wrong));
  byId("back").addEventListener("click", () => show(history.pop(), { remember: false }));
  for (const button of document.querySelectorAll("button[data-node]")) {
    button.addEventListener("click", () => {
      show(Number(button.dataset.node));
      byId("explorer").scrollIntoView();
      search.focus({ preventScroll: true });
    });
  }

  const first = wrongTest.length ? wrongTest : wrong.length ? wrong : all;
  const surest = (one, other) => (nodes.confidence[other] > nodes.confidence[one] ? other : one);
  if (first.length) show(first.reduce(surest), { quiet: true });
})();
