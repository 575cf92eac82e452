// The theme, the edges of wide boxes, the filters of the index and the values of a figure's points.
// Pages read without it.
"use strict";

// The theme: the system's, or the one that was chosen last ----------------------------------------

const root = document.documentElement;
const toggle = document.getElementById("theme");
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
}

function tellTheme() {
  toggle.textContent = isDark() ? "Light theme" : "Dark theme";
}

toggle.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("dpbandits-theme", root.dataset.theme);
  } catch { /* it is for this page, then */ }
  tellTheme();
});
systemDark.addEventListener("change", tellTheme);
tellTheme();

// On paper everything is open ---------------------------------------------------------------------

let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));

// Boxes wider than the screen: a shadow on the sides where there is more, and a line that says so --

document.querySelectorAll(".plate, .scroll, pre:not(.scroll pre)").forEach((box, i) => {
  const frame = document.createElement("div");
  frame.className = "edges";
  box.replaceWith(frame);
  frame.append(box);
  let hint = null;
  if (box.tagName !== "PRE") {
    hint = document.createElement("p");
    hint.className = "sideways";
    hint.id = `sideways-${i}`;
    hint.textContent = "↔ Wider than the screen: scroll it sideways.";
    hint.hidden = true;
    frame.before(hint);
  }
  function mark() {
    const room = box.scrollWidth - box.clientWidth;
    frame.toggleAttribute("data-left", box.scrollLeft > 1);
    frame.toggleAttribute("data-right", box.scrollLeft < room - 1);
    if (!hint) return;
    hint.hidden = room <= 1;
    if (hint.hidden) box.removeAttribute("aria-describedby");
    else box.setAttribute("aria-describedby", hint.id);
  }
  box.addEventListener("scroll", mark, { passive: true });
  const sizes = new ResizeObserver(mark);
  [box, ...box.children].forEach((element) => sizes.observe(element));
});

// Filters: of cards and of claims alike; their state is the part of the address after # -----------

const filters = document.getElementById("filters");
if (filters) startFilters();

function startFilters() {
  const names = ["q", "paper", "algorithm", "verdict"];
  const cards = [...document.querySelectorAll(".card")];
  const rows = [...document.querySelectorAll("table.claims tbody tr")];
  const text = new Map([...cards, ...rows].map((one) => [
    one, `${one.textContent} ${one.dataset.text}`.toLowerCase(),
  ]));
  const value = (name) => filters.elements[name].value;

  function fits(one) {
    const words = value("q").toLowerCase().split(/\s+/).filter(Boolean);
    const among = (name, all) => !value(name) || all.split(" ").includes(value(name));
    return words.every((word) => text.get(one).includes(word))
      && among("paper", one.dataset.paper)
      && among("algorithm", one.dataset.algorithms)
      && among("verdict", one.dataset.verdicts);
  }

  function show() {
    const count = (all) => {
      all.forEach((one) => { one.hidden = !fits(one); });
      return all.filter((one) => !one.hidden).length;
    };
    const shown = [count(cards), count(rows)];
    document.querySelectorAll(".group").forEach((group) => {
      group.hidden = !group.querySelector(".card:not([hidden])");
    });
    [...document.querySelectorAll(".nothing")].forEach((notice, i) => {
      notice.hidden = shown[i] > 0;
    });
    const table = document.querySelector("table.claims");
    if (table) table.parentElement.hidden = shown[1] === 0;
    const counts = [`${shown[0]} of ${cards.length} figures`];
    if (rows.length) counts.push(`${shown[1]} of ${rows.length} claims`);
    document.getElementById("found").replaceChildren(...counts.flatMap((words, i) => {
      const part = document.createElement("span");
      part.textContent = words + (i < counts.length - 1 ? "," : "");
      return [part, " "];
    }));
  }

  function remember() {
    const state = new URLSearchParams();
    names.forEach((name) => { if (value(name)) state.set(name, value(name)); });
    const hash = state.toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  function recall() {
    // A plain anchor such as #claims has no equals sign and filters nothing.
    if (!location.hash.includes("=")) return;
    const state = new URLSearchParams(location.hash.slice(1));
    names.forEach((name) => {
      const field = filters.elements[name];
      field.value = state.get(name) || "";
      if (field.selectedIndex === -1) field.value = "";  // a value that is not there
    });
    show();
  }

  const changed = () => { remember(); show(); };
  filters.addEventListener("input", changed);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(changed));
  document.querySelectorAll(".again").forEach((button) => {
    button.addEventListener("click", () => filters.reset());
  });
  addEventListener("hashchange", recall);
  recall();
  show();
}

// Values: of the point nearest to the pointer, or of the one that the arrow keys reached ----------

const data = document.getElementById("points");
if (data) startValues(JSON.parse(data.textContent), document.getElementById("sheet"));

function startValues(lines, sheet) {
  const dot = sheet.querySelector(".dot");
  const tip = sheet.querySelector(".tip");
  const spoken = document.getElementById("spoken");
  const plate = sheet.closest(".plate");  // in which a wide sheet scrolls
  const REACH = 48;  // pixels
  let at = null;  // [line, point]

  function number(value) {
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e12 || size < 1e-4)) {
      const [digits, power] = value.toExponential(3).split("e");
      const raised = [...String(Number(power))].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
      return `${Number(digits)}·10${raised.join("")}`.replace("-", "−");
    }
    return value.toLocaleString("en-US", { maximumSignificantDigits: 6 }).replace("-", "−");
  }

  function values([i, j]) {
    const line = lines[i];
    const [, , x, y, low, high] = line.points[j];
    const texts = [
      (line.panel ? `(${line.panel}) ` : "") + line.label,
      `${line.x}: ${number(x)}`,
      `${line.y}: ${number(y)}`,
    ];
    if (low !== undefined) texts.push(`from ${number(low)} to ${number(high)}`);
    return texts;
  }

  function show(place, speak) {
    at = place;
    const [left, top] = lines[at[0]].points[at[1]];
    const [label, ...numbers] = values(at);
    dot.style.left = `${100 * left}%`;
    dot.style.top = `${100 * top}%`;
    dot.style.background = isDark() ? lines[at[0]].dark : lines[at[0]].colour;
    tip.replaceChildren(...[label, ...numbers].map((text, i) => {
      const line = document.createElement(i ? "span" : "b");
      line.textContent = text;
      return line;
    }));
    dot.hidden = tip.hidden = false;
    const x = left * sheet.clientWidth;
    const y = top * sheet.clientHeight;
    if (speak) reveal(x);
    // Beside the point, inside the part of the picture that is seen.
    const begin = Math.max(0, plate.getBoundingClientRect().left - sheet.getBoundingClientRect().left);
    const end = Math.min(sheet.clientWidth, begin + plate.clientWidth);
    const right = x + 14 + tip.offsetWidth <= end;
    const beside = right ? x + 14 : Math.max(begin, x - 14 - tip.offsetWidth);
    const above = y - 14 - tip.offsetHeight >= 0 ? y - 14 - tip.offsetHeight : y + 14;
    tip.style.left = `${Math.min(beside, end - tip.offsetWidth)}px`;
    tip.style.top = `${above}px`;
    if (speak) spoken.textContent = [label, ...numbers].join(", ");
  }

  function reveal(x) {
    // The arrow keys may have reached a point beyond the edge of the screen.
    const margin = Math.min(64, plate.clientWidth / 4);
    const most = x - margin;
    const least = x + margin - plate.clientWidth;
    plate.scrollLeft = Math.max(Math.min(plate.scrollLeft, most), least);
  }

  function hide() {
    dot.hidden = tip.hidden = true;
  }

  function nearest(event) {
    const box = sheet.getBoundingClientRect();
    let best = null;
    let least = REACH;
    lines.forEach((line, i) => line.points.forEach(([left, top], j) => {
      const distance = Math.hypot(
        box.left + left * box.width - event.clientX,
        box.top + top * box.height - event.clientY,
      );
      if (distance < least) [best, least] = [[i, j], distance];
    }));
    return best;
  }

  function follow(event) {
    const place = nearest(event);
    if (place) show(place, false); else hide();
  }

  function beside(step) {
    // The next curve, at the point nearest to where we are from left to right.
    const i = (at[0] + step + lines.length) % lines.length;
    const [left] = lines[at[0]].points[at[1]];
    const distances = lines[i].points.map((point) => Math.abs(point[0] - left));
    const same = lines[i].panel === lines[at[0]].panel;
    return [i, same ? distances.indexOf(Math.min(...distances)) : 0];
  }

  const along = (step) => [
    at[0], Math.min(Math.max(at[1] + step, 0), lines[at[0]].points.length - 1),
  ];
  const keys = {
    ArrowRight: () => along(1),
    ArrowLeft: () => along(-1),
    ArrowDown: () => beside(1),
    ArrowUp: () => beside(-1),
    PageDown: () => along(10),
    PageUp: () => along(-10),
    Home: () => along(-Infinity),
    End: () => along(Infinity),
  };
  sheet.addEventListener("pointermove", follow);
  sheet.addEventListener("pointerdown", follow);
  sheet.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  sheet.addEventListener("blur", hide);
  sheet.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      hide();
    } else if (keys[event.key]) {
      event.preventDefault();
      const shown = at && !tip.hidden;
      if (!at) at = [0, lines[0].points.length - 1];
      show(shown ? keys[event.key]() : at, true);
    }
  });
}
