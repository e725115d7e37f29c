// Records that are dropped onto the page: the file is cut into lines here, and one line at a time is sent to be checked.
(() => {
  "use strict";
  const MOST_BYTES = 64 << 20, MOST_HANDS = 5000;
  const drop = document.getElementById("drop"), file = document.getElementById("file"), which = document.getElementById("which");
  const problem = document.getElementById("problem"), shown = document.getElementById("shown");
  let lines = [];

  function complain(text) {
    problem.textContent = text;
    problem.hidden = !text;
  }

  async function take(chosen) {
    if (!chosen) return;
    complain("");
    if (chosen.size > MOST_BYTES) return complain("64 MiB");
    lines = (await chosen.text()).split("\n").filter((line) => line.trim());
    which.replaceChildren(...lines.slice(0, MOST_HANDS).map((_, number) => new Option(String(number + 1), String(number))));
    if (lines.length) await show(0);
  }

  async function show(number) {
    const answer = await fetch("/replay", { method: "POST", body: lines[number], headers: { "content-type": "application/json" } });
    const told = await answer.json().catch(() => ({ problem: String(answer.status) }));
    complain(told.problem || "");
    shown.hidden = Boolean(told.problem) && !lines.length;
    document.getElementById("replay").hidden = Boolean(told.problem);
    which.value = String(number);
    if (told.problem) return;
    shown.hidden = false;
    document.getElementById("shown-head").textContent = told.head;
    // The server's own, made by the templates that make every page.
    document.getElementById("summary").replaceChildren(...new DOMParser().parseFromString(told.summary, "text/html").body.childNodes);
    window.wakeng.show(told.replay);
  }

  file.addEventListener("change", () => take(file.files[0]));
  which.addEventListener("change", () => show(Number(which.value)));
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
})();
