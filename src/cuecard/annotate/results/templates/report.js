"use strict";
for (const table of document.querySelectorAll("figure.table table")) {
  const body = table.tBodies[0];
  if (body.rows.length < 3) continue;
  const asWritten = [...body.rows];
  const valueOf = (row, at) => {
    const cell = row.cells[at];
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    const number = Number.parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(number) ? text : number;
  };
  [...table.tHead.rows[0].cells].forEach((heading, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const next = { descending: "ascending", ascending: "" }[heading.getAttribute("aria-sort")] ?? "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (!next) return body.append(...asWritten);
      heading.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      body.append(...[...asWritten].sort((one, other) => {
        const a = valueOf(one, at), b = valueOf(other, at);
        if (typeof a === "number" && typeof b === "number") return sign * (a - b);
        if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        return sign * a.localeCompare(b);
      }));
    });
  });
}
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
