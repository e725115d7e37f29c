// Lines of a tournament's scores, drawn by uPlot in the page's own colours; drawn anew when news is swapped in.
(() => {
  "use strict";
  const drawn = new WeakMap();
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function draw(figure) {
    const data = JSON.parse(figure.dataset.chart), names = Object.keys(data.bots);
    const grid = { stroke: colour("--line"), width: 1 }, axis = { stroke: colour("--quiet"), grid, ticks: grid, font: "12px system-ui" };
    const series = names.map((name, number) => ({
      label: name, stroke: colour(`--series-${number % 8}`), width: 2, dash: number >= 8 ? [6, 4] : undefined,
      points: { show: false }, value: (_, value) => (value === null ? "–" : value.toFixed(3)),
    }));
    const size = () => ({ width: figure.clientWidth, height: Math.max(220, Math.min(340, figure.clientWidth * 0.5)) });
    const options = {
      ...size(), scales: { x: { time: false } }, axes: [axis, { ...axis, size: 46 }],
      series: [{ label: figure.dataset.label }, ...series], cursor: { points: { size: 7 } }, legend: { live: true },
    };
    const chart = new uPlot(options, [data.blocks, ...names.map((name) => data.bots[name])], figure);
    const watch = new ResizeObserver(() => { if (figure.clientWidth) chart.setSize(size()); });
    watch.observe(figure);
    drawn.set(figure, chart);
  }

  function drawAll() {
    for (const figure of document.querySelectorAll("figure.chart")) if (!drawn.has(figure)) draw(figure);
  }
  document.addEventListener("htmx:afterSwap", drawAll);
  document.addEventListener("htmx:sseMessage", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const figure of document.querySelectorAll("figure.chart")) { figure.replaceChildren(); drawn.delete(figure); }
    drawAll();
  });
  drawAll();
})();
