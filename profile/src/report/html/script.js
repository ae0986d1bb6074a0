// Sorts a table by the column that is clicked; the sum stays at its end.
document.querySelectorAll("th").forEach((head) =>
  head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const value = (row) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    const down = head.dataset.down !== "yes";
    head.dataset.down = down ? "yes" : "no";
    const rows = [...body.rows].filter((row) => !row.classList.contains("sum"));
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(y);
      return down ? -order : order;
    });
    rows.forEach((row) => body.insertBefore(row, body.querySelector(".sum")));
  }),
);
// Shows only the regions whose name holds what is typed.
document.querySelector("#find")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  document.querySelectorAll("details.region").forEach((region) => {
    region.hidden = !region.querySelector("summary").textContent.toLowerCase().includes(wanted);
  });
});
