// What changes on a page that stays open leaves its reader where he was: how far a table was moved aside, what has focus.
(() => {
  "use strict";
  const aside = (place) => [...place.querySelectorAll(".scroll")];
  const stops = (place) => [...place.querySelectorAll("a, [tabindex]")];

  // Where the reader is in an element; what it gives leads back there once the element is filled anew.
  function mark(place) {
    const moved = aside(place).map((one) => one.scrollLeft);
    const focused = place.contains(document.activeElement) ? document.activeElement : null;
    const number = stops(place).indexOf(focused), to = focused?.getAttribute("href");
    return () => {
      aside(place).forEach((one, n) => { one.scrollLeft = moved[n] || 0; });
      if (!focused) return;
      const same = to && stops(place).find((one) => one.getAttribute("href") === to);
      (same || stops(place)[number])?.focus({ preventScroll: true });
    };
  }

  const back = new WeakMap();
  document.addEventListener("htmx:sseBeforeMessage", (event) => back.set(event.target, mark(event.target)));
  document.addEventListener("htmx:sseMessage", (event) => back.get(event.target)?.());
  window.wakeng ??= {};
  window.wakeng.keeping = (place, change) => { const to = mark(place); change(); to(); };
})();
