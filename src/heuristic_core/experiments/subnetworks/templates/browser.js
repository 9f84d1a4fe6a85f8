"use strict";
// Subnetworks: switches choose the rows that are shown; a click on a row's button shows the details of its subnetwork.
{
  const section = document.getElementById("subnetworks");
  const details = JSON.parse(document.getElementById("subnetworks-details").textContent);
  const rows = [...section.querySelectorAll("tbody tr")];
  const switches = [...section.querySelectorAll("select")];
  const count = section.querySelector("output");
  const dialog = section.querySelector("dialog");
  const cell = (row, text) => { row.insertCell().textContent = text; };
  const minus = (number, digits = 1) => number.toFixed(digits).replace("-", "−");
  const value = (numbers) => (numbers?.[0] == null ? "–" : minus(numbers[0]));
  const interval = (numbers) => (numbers?.[1] == null ? "–" : `${minus(numbers[1])} to ${minus(numbers[2])}`);

  function show() {
    for (const row of rows) row.hidden = switches.some((one) => one.value && row.dataset[one.name] !== one.value);
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} subnetworks`;
  }

  function showDetails(row) {
    const {layers, values} = details.runs[row.dataset.run];
    const full = details.full[`${row.dataset.ft_seed} ${row.dataset.step}`] ?? [];
    dialog.querySelector("h3").textContent = row.dataset.name;
    dialog.querySelector("ul").replaceChildren(...layers.map((text) => {
      const line = document.createElement("li");
      line.textContent = text;
      return line;
    }));
    const body = dialog.querySelector("tbody");
    body.replaceChildren();
    details.subsets.forEach((name, k) => {
      const line = body.insertRow();
      const head = line.appendChild(document.createElement("th"));
      head.scope = "row";
      head.textContent = name;
      cell(line, details.groups[k]);
      line.cells[1].className = "text";
      cell(line, value(values[k]));
      cell(line, interval(values[k]));
      cell(line, value(full[k]));
      const both = values[k]?.[0] != null && full[k]?.[0] != null;
      cell(line, both ? minus(values[k][0] - full[k][0]) : "–");
    });
    dialog.showModal();
  }

  switches.forEach((one) => one.addEventListener("change", show));
  rows.forEach((row) => row.querySelector("button").addEventListener("click", () => showDetails(row)));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  show();
}
