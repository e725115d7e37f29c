// Records that are dropped onto the page: the file is cut into lines here, and one line at a time is sent to be checked.
(() => {
  "use strict";
  const MOST_BYTES = 64 << 20, MOST_LINE_BYTES = 1 << 20, MOST_HANDS = 5000;
  const drop = document.getElementById("drop"), file = document.getElementById("file"), which = document.getElementById("which");
  const problem = document.getElementById("problem"), shown = document.getElementById("shown"), told = document.getElementById("told");
  const WORDS = JSON.parse(drop.dataset.words);
  let lines = [], asked = 0;

  function complain(text) {
    problem.textContent = text;
    problem.hidden = !text;
    told.hidden = Boolean(text);
    document.getElementById("replay").hidden = Boolean(text);
  }

  async function take(chosen) {
    if (!chosen) return;
    lines = [];
    shown.hidden = true;
    if (chosen.size > MOST_BYTES) return complain(WORDS.large);
    lines = (await chosen.text()).split("\n").filter((line) => line.trim());
    if (!lines.length) return complain(WORDS.empty);
    which.replaceChildren(...lines.slice(0, MOST_HANDS).map((_, number) => new Option(String(number + 1), String(number))));
    document.getElementById("cut").hidden = lines.length <= MOST_HANDS;
    await show(0);
  }

  async function check(line) {
    if (line.length > MOST_LINE_BYTES) return { problem: WORDS.long };
    try {
      const answer = await fetch("/replay", { method: "POST", body: line, headers: { "content-type": "application/json" } });
      return answer.headers.get("content-type")?.startsWith("application/json") ? await answer.json() : { problem: WORDS.away };
    } catch {
      return { problem: WORDS.away };
    }
  }

  async function show(number) {
    const mine = ++asked, found = await check(lines[number]);
    if (mine !== asked) return; // Another hand was asked for meanwhile.
    which.value = String(number);
    shown.hidden = false;
    complain(found.problem || "");
    if (found.problem) return;
    document.getElementById("shown-head").textContent = found.head;
    // The server's own, made by the templates that make every page.
    document.getElementById("summary").replaceChildren(...new DOMParser().parseFromString(found.summary, "text/html").body.childNodes);
    window.wakeng.show(found.replay);
  }

  file.addEventListener("change", () => { take(file.files[0]); file.value = ""; });
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
