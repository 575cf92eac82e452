// The explorer: selects, a sentence, curves of Vega-Lite, a table and the map of winners.
// index.js and a script for every instance, which make_explorer.py writes, set window.EXPLORER.
"use strict";
(() => {
  const { index } = EXPLORER;
  const place = document.getElementById("explorer");
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const [MEAN, ERROR, LOW, MEDIAN, HIGH, RUNS, RARE] = [0, 1, 2, 3, 4, 5, 6];
  const ERRORS = 3; // the runner-up is that many standard errors behind, or not separated
  const off = new Set(); // algorithms that the reader has left out
  const element = (name, values, ...children) => {
    const node = Object.assign(document.createElement(name), values);
    node.append(...children);
    return node;
  };
  const power = (t) => "10" + "⁰¹²³⁴⁵⁶⁷⁸"[Math.round(Math.log10(t))];
  const number = (x) =>
    x >= 100 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3)));

  // Choices, which the address remembers

  const select = (key, label, options) => {
    const entries = options.map(([value, text]) => element("option", { value }, text));
    const node = element("select", { id: `explorer-${key}`, onchange: choose }, ...entries);
    place.querySelector(".choices").append(element("label", {}, label, node));
    return node;
  };
  const pairs = (values, text = String) => values.map((value) => [value, text(value)]);
  const title = (instance) => index.instances[instance].title;
  const symbol = () => (choices.notion.value.startsWith("ρ") ? "ρ" : "ε"); // of the budgets
  const choices = {
    notion: select("notion", "Privacy", pairs(Object.keys(index.notions))),
    instance: select("instance", "Instance", pairs(Object.keys(index.instances), title)),
    epsilon: select("epsilon", "ε", pairs(index.epsilons)),
    horizon: select("horizon", "T", pairs(index.horizons, power)),
    statistic: select("statistic", "Regret", pairs(["mean", "median"])),
  };
  // Any budget: the nearest one of the list is shown, and the answer says so.
  const near = element("input", { type: "number", min: 0, step: "any", id: "explorer-near" });
  place.querySelector(".choices").append(element("label", {}, "", near));
  const nearest = (x) => {
    const gaps = index.epsilons.map((epsilon) => Math.abs(Math.log(epsilon / x)));
    return gaps.indexOf(Math.min(...gaps));
  };
  near.onchange = () => {
    if (near.value > 0) choices.epsilon.selectedIndex = nearest(near.value);
    choose();
  };
  const start = { instance: "c2", epsilon: "0.1", horizon: "1000000" };
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const [key, node] of Object.entries(choices)) {
    const value = asked.get(key) ?? start[key];
    if ([...node.options].some((option) => option.value === value)) node.value = value;
  }
  const shown = () => ({
    members: index.notions[choices.notion.value],
    data: EXPLORER[choices.instance.value],
    epsilon: choices.epsilon.selectedIndex,
    horizon: index.horizons[choices.horizon.selectedIndex],
    column: choices.statistic.value === "mean" ? MEAN : MEDIAN,
  });
  function choose() {
    const values = Object.entries(choices).map(([key, node]) => [key, node.value]);
    history.replaceState(null, "", `#${new URLSearchParams(values)}`);
    if (EXPLORER[choices.instance.value]) return draw();
    const src = `${folder}${choices.instance.value}.js`;
    document.head.append(element("script", { src, onload: draw }));
  }

  // Numbers

  // Points of an algorithm up to T, [mean, error, low, median, high, runs, rare] for each round,
  // null in its start; [] if it has not been played that long. Without a horizon it has played one game.
  function curve({ data, epsilon, horizon }, name) {
    const games = data[name][epsilon];
    const game = index.algorithms[name].needs_horizon
      ? games[index.horizons.indexOf(horizon)]
      : games[0];
    const rounds = index.rounds.filter((t) => t <= horizon).length;
    return game && game.length >= rounds ? game.slice(0, rounds) : [];
  }
  // Algorithms with their numbers at the horizon, the least regret first; the column that ranks
  // them, the median where a mean rests on rare runs; and the names of these.
  const ranking = (now) => {
    const entries = now.members
      .map((name) => ({ name, end: curve(now, name).at(-1) }))
      .filter(({ name, end }) => end && !off.has(name));
    const rare = now.column === MEAN ? entries.filter(({ end }) => end[RARE]) : [];
    const column = rare.length ? MEDIAN : now.column;
    entries.sort((a, b) => a.end[column] - b.end[column]);
    return { entries, column, rare: rare.map(({ name }) => index.algorithms[name].label) };
  };
  const factor = ({ column }, a, b) => b.end[column] / a.end[column];
  const isLevel = ({ column }, a, b) =>
    column === MEAN && b.end[MEAN] - a.end[MEAN] <= ERRORS * Math.hypot(a.end[ERROR], b.end[ERROR]);
  const onRare = (labels) => {
    const [means, rest] = labels.length > 1 ? ["means", "rest"] : ["mean", "rests"];
    return `the ${means} of ${labels.join(", ")} ${rest} on rare runs`;
  };

  // Colours: those of the figures, lighter on a dark page

  const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();
  const isDark = () => document.body.dataset.mdColorScheme === "slate";
  const shade = (name) =>
    index.algorithms[name].colour
      .match(/\w\w/g)
      .map((part) => parseInt(part, 16))
      .map((c) => (isDark() ? Math.round(c + 0.45 * (255 - c)) : c));
  const colour = (name) => `rgb(${shade(name)})`;
  const swatch = (name) => {
    const node = element("i", { className: index.algorithms[name].batched ? "" : "dashed" });
    node.style.color = colour(name);
    return node;
  };

  // The four parts of the page

  function draw() {
    const now = shown();
    if (!now.data) return; // its script is still on its way
    const ranks = ranking(now);
    sentence(now, ranks);
    plot(now);
    table(now, ranks);
    map(now);
  }
  function sentence(now, { entries: [first, second], column, rare }) {
    const { epsilon, instance } = choices;
    epsilon.previousSibling.data = symbol();
    near.previousSibling.data = `nearest to ${symbol()} =`;
    const label = (entry) => element("b", {}, index.algorithms[entry.name].label);
    const isNear = near.value > 0 && nearest(near.value) === epsilon.selectedIndex;
    const note = isNear ? ` (the nearest to ${near.value})` : "";
    const game = `${title(instance.value)} at ${symbol()} = ${epsilon.value}${note}`;
    const answer = [`On ${game} and T = ${power(now.horizon)}, `];
    if (first) {
      const least = number(first.end[column]);
      const statistic = column === MEAN ? "mean" : "median";
      answer.push(label(first), ` has the least ${statistic} regret, ${least}`);
    } else answer.push("none of these algorithms has been played that long");
    if (second) {
      const close = isLevel({ column }, first, second) ? ` (within ${ERRORS} standard errors)` : "";
      const ratio = factor({ column }, first, second).toFixed(2);
      answer.push("; ", label(second), ` has ${ratio} times as much${close}`);
    }
    if (rare.length) answer.push(`; ${onRare(rare)}`);
    answer.push(".");
    place.querySelector(".answer").replaceChildren(...answer);
    place.querySelector(".command").hidden = !first;
    if (!first) return;
    const { command, budgets } = index.algorithms[first.name];
    place.querySelector(".command code").textContent =
      `dpbandits compare ${command} ${index.instances[instance.value].command} ` +
      `${budgets[now.epsilon]} horizon=${now.horizon} runs=${first.end[RUNS]} checkpoints=log`;
  }
  // Ends of curves, moved apart where their words would meet.
  function ends(values) {
    const logs = values.map(({ y }) => Math.log(y));
    const gap = (Math.max(...logs) - Math.min(...logs)) / 26;
    const last = Object.values(Object.fromEntries(values.map((point) => [point.label, point])));
    const placed = [];
    for (const end of last.sort((a, b) => a.y - b.y)) {
      const below = placed.findLast((other) => other.t === end.t);
      const least = below ? Math.log(below.place) + gap : -Infinity;
      placed.push({ ...end, place: Math.exp(Math.max(Math.log(end.y), least)) });
    }
    return placed;
  }
  function plot(now) {
    const names = now.members.filter((name) => !off.has(name) && curve(now, name).some(Boolean));
    const picture = place.querySelector(".plot");
    if (!names.length) return picture.replaceChildren();
    const point = (name, p, i) => {
      const { label, batched } = index.algorithms[name];
      const rare = now.column === MEAN && Boolean(p[RARE]);
      const [low, high] = [p[LOW], p[HIGH]];
      return { label, batched, rare, t: index.rounds[i], y: p[now.column], low, high };
    };
    const values = names
      .flatMap((name) => curve(now, name).map((p, i) => (p ? point(name, p, i) : {})))
      .filter(({ y, low }) => y > 0 && low > 0); // the axes are logarithmic
    const labels = names.map((name) => index.algorithms[name].label);
    const axis = { type: "quantitative", scale: { type: "log", nice: false } };
    const decades = { values: index.rounds.filter((_, i) => i % 2 === 0) };
    const exponent = "round(log(datum.value) / LN10)";
    decades.labelExpr = `'10' + substring('⁰¹²³⁴⁵⁶⁷⁸', ${exponent}, ${exponent} + 1)`;
    const x = { ...axis, field: "t", title: "Round t", axis: decades };
    const title = `Regret (${choices.statistic.value})`;
    const y = { ...axis, field: "y", title, axis: { format: ",~r", tickCount: 6 } };
    const scale = { domain: labels, range: names.map(colour) };
    const color = { field: "label", type: "nominal", scale, legend: null };
    const strokeDash = { condition: { test: "datum.batched", value: [1, 0] }, value: [5, 3] };
    const opacity = { condition: { test: "datum.rare", value: 0.3 }, value: 1 };
    const titles = { label: "algorithm", t: "t", y: title, low: "first quartile", high: "third" };
    const tooltip = Object.entries(titles).map(([field, title]) => ({ field, title }));
    const [front, line] = [css("--md-default-fg-color"), css("--md-default-fg-color--lightest")];
    const ink = { labelColor: front, titleColor: front, gridColor: line, domainColor: front };
    const band = { x, color, y: { ...y, field: "low" }, y2: { field: "high" } };
    const isWide = picture.clientWidth > 600; // else the table names the curves
    const text = { x, color, y: { ...y, field: "place" }, text: { field: "label" } };
    const words = { data: { values: isWide ? ends(values) : [] }, encoding: text };
    const chart = {
      description: `Regret against the round: ${labels.join(", ")}; the table has the values at T`,
      ...{ width: "container", height: 340, autosize: { type: "fit", contains: "padding" } },
      padding: { left: 5, top: 5, bottom: 5, right: isWide ? 110 : 5 },
      ...{ background: null, config: { axis: ink, view: { stroke: null } }, data: { values } },
      layer: [
        { mark: { type: "area", opacity: 0.15 }, encoding: band },
        { mark: { type: "line", strokeWidth: 2 }, encoding: { x, y, color, strokeDash } },
        { mark: { type: "point", filled: true, size: 45 }, encoding: { x, y, color, opacity, tooltip } },
        { mark: { type: "text", align: "left", dx: 8, fontSize: 11 }, ...words },
      ],
    };
    vegaEmbed(picture, chart, { renderer: "svg", actions: false });
  }
  function table(now, { entries, column }) {
    const row = (name, ...cells) => {
      const onchange = () => {
        off[box.checked ? "delete" : "add"](name);
        draw();
        place.querySelector(`input[value="${name}"]`).focus();
      };
      const checked = !off.has(name);
      const box = element("input", { type: "checkbox", value: name, checked, onchange });
      const label = element("label", {}, box, swatch(name), index.algorithms[name].label);
      const values = cells.map((cell) => element("td", {}, cell));
      return element("tr", {}, element("th", { scope: "row" }, label), ...values);
    };
    const rows = entries.map((entry) => {
      const [mean, error, low, median, high, runs] = entry.end.map(number);
      const ratio = factor({ column }, entries[0], entry).toFixed(2);
      // A mean that rests on rare runs comes after the median, and is marked.
      const rare = element("span", { className: "rare" }, `mean ${mean} (${error}): rare runs`);
      const first = entry.end[RARE] ? [`median ${median}; `, rare] : [`${mean} (${error})`];
      const spread = `${low} to ${high}`;
      return row(entry.name, element("span", {}, ...first), median, spread, ratio, runs);
    });
    const absent = now.members.filter((name) => !entries.some((entry) => entry.name === name));
    const reason = (name) => (curve(now, name).length ? "in its start" : "not played that long");
    const why = (name) => (off.has(name) ? "left out" : reason(name));
    rows.push(...absent.map((name) => row(name, why(name), "", "", "", "")));
    place.querySelector("tbody").replaceChildren(...rows);
  }
  function map(now) {
    const rows = [...index.horizons].reverse().map((horizon) => {
      const cells = index.epsilons.map((_, epsilon) => cell({ ...now, epsilon, horizon }));
      const head = element("th", { scope: "row" }, power(horizon));
      return element("tr", {}, head, ...cells.map((node) => element("td", {}, node)));
    });
    const budgets = index.epsilons.map((e) => String(e).replace(/^0/, ""));
    const heads = budgets.map((text) => element("th", { scope: "col" }, text));
    rows.push(element("tr", {}, element("th", {}, `T, ${symbol()}`), ...heads));
    place.querySelector(".map").replaceChildren(...rows);
    const winners = [...place.querySelectorAll(".map [data-winner]")].map((b) => b.dataset.winner);
    const named = (name) => element("span", {}, swatch(name), index.algorithms[name].label);
    place.querySelector(".legend").replaceChildren(...[...new Set(winners)].map(named));
  }
  function cell(game) {
    const { entries, column, rare } = ranking(game);
    const [first, second] = entries;
    const now = shown();
    const isHere = game.epsilon === now.epsilon && game.horizon === now.horizon;
    const onclick = () => visit(game.epsilon, game.horizon);
    const node = element("button", { type: "button", tabIndex: isHere ? 0 : -1, onclick });
    node.onkeydown = walk;
    node.setAttribute("aria-current", isHere);
    if (!first) return node;
    const isOpen = Boolean(second) && isLevel({ column }, first, second);
    const [r, g, b] = shade(first.name);
    node.style.backgroundColor = colour(first.name);
    node.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff";
    node.className = rare.length ? "rare" : isOpen ? "open" : "";
    node.dataset.winner = first.name;
    const where = `${symbol()} = ${index.epsilons[game.epsilon]}, T = ${power(game.horizon)}`;
    const close = isOpen ? ", not separated from the second" : "";
    const why = rare.length ? `, ranked by the median: ${onRare(rare)}` : "";
    node.title = `${where}: ${index.algorithms[first.name].label}${close}${why}`;
    node.ariaLabel = node.title;
    const ratio = second ? factor({ column }, first, second) : 0;
    if (ratio) node.append(element("span", {}, ratio < 10 ? ratio.toFixed(1) : number(ratio)));
    return node;
  }
  function visit(epsilon, horizon) {
    choices.epsilon.selectedIndex = epsilon;
    choices.horizon.selectedIndex = index.horizons.indexOf(horizon);
    choose();
    place.querySelector('.map [aria-current="true"]').focus();
  }
  function walk(event) {
    const steps = { Left: [-1, 0], Right: [1, 0], Up: [0, 1], Down: [0, -1] };
    const step = steps[event.key.replace("Arrow", "")];
    if (!step) return;
    event.preventDefault();
    const inside = (value, list) => Math.min(Math.max(value, 0), list.length - 1);
    const epsilon = inside(choices.epsilon.selectedIndex + step[0], index.epsilons);
    visit(epsilon, index.horizons[inside(choices.horizon.selectedIndex + step[1], index.horizons)]);
  }

  new MutationObserver(draw).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  choose();
})();
