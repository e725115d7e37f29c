// A table in play: frames and the seats' sums as the server sends them.
(() => {
  "use strict";
  const place = document.getElementById("live");
  if (!place) return;
  const news = new EventSource(place.dataset.live), state = document.getElementById("live-state");
  const WORDS = JSON.parse(place.dataset.words);
  const say = (text) => { if (state.textContent !== text) state.textContent = text; };
  news.addEventListener("table", (event) => {
    const frame = JSON.parse(event.data);
    say(WORDS.hand.replace("{n}", frame.hand));
    window.wakeng.live(frame);
  });
  news.addEventListener("board", (event) => {
    // The server's own, made by the templates that make every page.
    const made = new DOMParser().parseFromString(event.data, "text/html").body.childNodes;
    const board = document.getElementById("board");
    window.wakeng.keeping(board, () => board.replaceChildren(...made));
  });
  news.addEventListener("over", () => { news.close(); say(WORDS.over); });
})();
