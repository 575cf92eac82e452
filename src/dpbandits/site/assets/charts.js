// The chart of a figure's page: one panel at a time, with a checkbox for every curve.
"use strict";
function dpbanditsChart(panels) {
  const place = document.querySelector(".chart");
  if (!place || !panels.length) return;
  const element = (name, values, ...children) => {
    const made = Object.assign(document.createElement(name), values);
    made.append(...children);
    return made;
  };
  const box = (text, checked, onchange, ...before) => {
    const input = element("input", { type: "checkbox", checked, onchange });
    return [input, element("label", {}, input, ...before, text)];
  };
  const options = panels.map((panel, value) => element("option", { value }, panel.heading));
  const choice = element("select", { ariaLabel: "Panel", onchange: open }, ...options);
  const curves = element("div", { className: "curves", role: "group", ariaLabel: "Curves" });
  const picture = element("div", { className: "plot" });
  const [logX, logXLabel] = box("log x", false, draw);
  const [logY, logYLabel] = box("log y", false, draw);
  const [bands, bandsLabel] = box("bands", true, tell);
  const reset = element("button", { type: "button", onclick: draw }, "reset zoom");
  if (panels.length > 1) place.append(choice);
  place.append(logXLabel, logYLabel, bandsLabel, reset, curves, picture);
  let panel, boxes, view;

  function open() {
    panel = panels[Number(choice.value) || 0];
    logX.checked = panel.log.x;
    logY.checked = panel.log.y;
    bandsLabel.hidden = !panel.bands;
    boxes = Object.entries(panel.curves).map(([name, color]) => {
      const swatch = element("i", {});
      swatch.style.background = color;
      return [name, ...box(name, true, tell, swatch)];
    });
    curves.replaceChildren(...boxes.map(([, , label]) => label));
    draw();
  }
  // A logarithmic axis has no place for zero: such points are left out, such bands are cut.
  function visible(values) {
    const ys = values.map((point) => point.y).filter((y) => y > 0);
    const least = Math.min(...ys);
    return values
      .filter((point) => !(logX.checked && point.x <= 0) && !(logY.checked && point.y <= 0))
      .map((p) => (logY.checked && p.low <= 0 ? { ...p, low: Math.min(least, p.high) } : p));
  }
  async function draw() {
    const chart = structuredClone(panel.chart);
    const types = { x: logX.checked, y: logY.checked };
    for (const [name, values] of Object.entries(chart.datasets || {}))
      chart.datasets[name] = visible(values);
    if (chart.data?.values) chart.data.values = visible(chart.data.values);
    for (const { encoding } of chart.layer)
      for (const axis of ["x", "y"])
        encoding[axis].scale = { type: types[axis] ? "log" : "linear" };
    ({ view } = await vegaEmbed(picture, chart, { renderer: "svg", actions: false }));
    tell();
  }
  function tell() {
    const shown = boxes.filter(([, input]) => input.checked).map(([name]) => name);
    view.signal("shown", shown).signal("bands", bands.checked).run();
  }
  open();
}
