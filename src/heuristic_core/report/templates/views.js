"use strict";
// Interactive figures: each is drawn when it is opened. Expressions are interpreted, so text never becomes code.
{
  const {views, look} = JSON.parse(document.getElementById("views").textContent);

  function rows(columns) {
    const names = Object.keys(columns);
    return columns[names[0]].map((_, k) => Object.fromEntries(names.map((name) => [name, columns[name][k]])));
  }

  const OPTIONS = {ast: true, actions: false, renderer: "svg", config: look, mode: "vega-lite"};
  for (const place of document.querySelectorAll("[data-view]")) {
    const {columns, spec} = views[place.dataset.view];
    const fold = place.closest("details");
    fold.addEventListener("toggle", () => {
      if (!fold.open || place.dataset.drawn) return;
      place.dataset.drawn = "yes";
      vegaEmbed(place, {...spec, data: {values: rows(columns)}}, OPTIONS).catch((error) => {
        place.textContent = `This figure could not be drawn: ${error.message}`;
        throw error;
      });
    });
  }
}
