// A table in play: frames and the seats' sums as the server sends them.
(() => {
  "use strict";
  const place = document.getElementById("live");
  if (!place) return;
  const news = new EventSource(place.dataset.live), state = document.getElementById("live-state");
  news.addEventListener("table", (event) => { state.hidden = true; window.wakeng.live(JSON.parse(event.data)); });
  news.addEventListener("board", (event) => {
    // The server's own, made by the templates that make every page.
    const made = new DOMParser().parseFromString(event.data, "text/html").body.childNodes;
    document.getElementById("board").replaceChildren(...made);
  });
  news.addEventListener("over", () => news.close());
})();
