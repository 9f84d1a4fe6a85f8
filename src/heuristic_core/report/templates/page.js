"use strict";
// Tables of class "sortable": a click on a head sorts upwards, then downwards, then as written.
{
  // The number that a cell begins with, so that "83.3 (−1.2)" sorts as 83.3; with true minus signs and commas.
  const NUMBER = /^[≥≤<>+]?\s*([−-]?\d[\d,]*(?:\.\d+)?(?:e[−+-]?\d+)?)/i;
  const text = (row, column) => row.cells[column].textContent.trim();
  const number = (value) => Number(NUMBER.exec(value)?.[1].replaceAll("−", "-").replaceAll(",", ""));

  function compare(a, b) {
    const [x, y] = [number(a), number(b)];
    if (isNaN(x) !== isNaN(y)) return isNaN(x) - isNaN(y);
    return isNaN(x) ? a.localeCompare(b, "en", {numeric: true}) : x - y;
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const empty = (row) => text(row, column) === "" || text(row, column) === "–";
    const rows = [...body.rows].sort((a, b) => {
      if (!direction) return a.dataset.order - b.dataset.order;
      if (empty(a) !== empty(b)) return empty(a) - empty(b); // missing values last, either way
      return direction * compare(text(a, column), text(b, column)) || a.dataset.order - b.dataset.order;
    });
    body.append(...rows);
  }

  const NEXT = {none: "ascending", ascending: "descending", descending: "none"};
  const DIRECTION = {none: 0, ascending: 1, descending: -1};
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tBodies[0].rows].forEach((row, k) => { row.dataset.order = k; });
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const order = NEXT[head.getAttribute("aria-sort")];
        heads.forEach((other) => other.setAttribute("aria-sort", other === head ? order : "none"));
        sort(table, column, DIRECTION[order]);
      });
    });
  }
}
