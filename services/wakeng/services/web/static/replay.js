// Draws frames, and steps through them. What a frame holds, and who may see what of it, the engine has reckoned
// (frames.py); here it is only put on the page, always as text.
(() => {
  "use strict";
  const root = document.getElementById("replay");
  if (!root) return;
  const WORDS = JSON.parse(root.dataset.words);
  const TASKS = JSON.parse(root.dataset.tasks || "{}");
  const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
  const find = (selector) => root.querySelector(selector);
  const ring = find(".seats-ring"), middle = find(".middle"), question = find(".question"), list = find(".moves");
  const scrub = find(".scrub"), output = find(".step"), viewpoint = find(".viewpoint"), speed = find(".speed");

  // Pieces ---------------------------------------------------------------------------------------

  function make(tag, classes, ...inside) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    element.append(...inside.filter((one) => one !== null && one !== undefined && one !== ""));
    return element;
  }

  const rankOf = (name) => (name[0] === "T" ? "10" : name[0]);
  const cardText = (name) => rankOf(name) + SUITS[name[1]];

  function card(name) {
    const red = name[1] === "h" || name[1] === "d";
    const element = make("span", red ? "card red" : "card", rankOf(name), make("span", "suit", SUITS[name[1]]));
    if (name[0] === "T") element.classList.add("ten");
    element.dataset.card = name;
    return element;
  }

  function cardRow(names, classes, label) {
    const row = make("div", `card-row ${classes}`, ...names.map(card));
    row.setAttribute("role", "img");
    row.setAttribute("aria-label", `${label}: ${names.map(cardText).join(" ")}`);
    return row;
  }

  function backs(count, classes) {
    const row = make("div", `card-row ${classes}`, ...Array.from({ length: count }, () => make("span", "card back")));
    row.setAttribute("role", "img");
    row.setAttribute("aria-label", `${WORDS.cards}: ${count}, ${WORDS.hidden}`);
    return row;
  }

  const named = (text) => make("bdi", "", text);
  const points = (value) => (value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0");

  function time(us) {
    if (us < 1000) return `${us} µs`;
    if (us < 1e6) return `${(us / 1000).toPrecision(3)} ms`;
    return `${(us / 1e6).toFixed(2)} s`;
  }

  // What the tokens' ranks look like: a ten is two characters, so it is set off.
  function ranks(token) {
    if (!token.includes("T") || token.length === 1) return token.replace("T", "10");
    return token.split("").join("·").replaceAll("T", "10");
  }

  // The table ------------------------------------------------------------------------------------

  // Seats go counter-clockwise, the one who looks below.
  const PLACES = { 3: ["bottom", "right", "left"], 4: ["bottom", "right", "top", "left"] };

  function seatBox(frame, seats, seat, view) {
    const box = make("div", "seat");
    const players = frame.left.length;
    box.dataset.seat = seat;
    box.dataset.place = PLACES[players][(seat - Math.max(0, view) + players) % players];
    const digs = frame.digger === seat;
    const decides = frame.turn === seat && (view < 0 || !frame.sees[view] || frame.sees[view].turn);
    box.classList.toggle("digs", digs);
    box.classList.toggle("decides", decides);
    box.classList.toggle("lies", frame.lying === seat);
    box.classList.toggle("holds", Boolean(frame.table) && frame.table.seat === seat);
    const head = make("div", "seat-head", make("span", "seat-number num", String(seat)), named(seats[seat].bot));
    if (digs) head.append(badge(WORDS.digger, "badge-digger"));
    if (frame.lying === seat) head.append(badge(WORDS.lies));
    if (frame.marked_seat === seat) head.append(badge(`${WORDS.marked} ${cardText(frame.marked)}`));
    if (decides) head.append(make("span", "hidden", `, ${WORDS.turn}`));
    head.append(make("span", "left num", frame.dealt ? String(frame.left[seat]) : "–"));
    box.append(head, held(frame, seat, view));
    box.append(played(frame.last[seat], seat));
    if (frame.end) box.append(outcome(frame.end, seat));
    return box;
  }

  const badge = (text, more = "") => make("span", `badge ${more}`, text);

  function held(frame, seat, view) {
    const cards = frame.hands[seat];
    const open = cards && (view < 0 || !frame.sees[view] || frame.sees[view].hands[seat]);
    if (open) return cardRow(cards, "held", `${WORDS.seat} ${seat}, ${WORDS.cards} (${cards.length})`);
    return backs(frame.left[seat], "held");
  }

  function played(last, seat) {
    const spot = make("div", "played");
    if (!last) return spot;
    if (last.pass) spot.append(make("span", "passed", WORDS.passes));
    else if (last.cards) spot.append(cardRow(last.cards, "", `${WORDS.seat} ${seat}`));
    else spot.append(make("span", "played-token", ranks(last.token)));
    return spot;
  }

  function outcome(end, seat) {
    const score = end.scores[seat];
    const line = make("div", `outcome num ${score > 0 ? "plus" : score < 0 ? "minus" : ""}`, points(score));
    if (end.task_bonus && end.task_bonus[seat]) line.append(` + ${end.task_bonus[seat]} ${WORDS.bonus}`);
    return line;
  }

  function drawMiddle(frame, seats, view) {
    middle.replaceChildren();
    const facts = make("div", "facts-row");
    if (frame.bid) facts.append(badge(`${WORDS.bid} ${frame.bid}`));
    if (frame.grabs) facts.append(badge(`${WORDS.grabs} ${frame.grabs}`));
    if (frame.bombs) facts.append(badge(`${WORDS.bombs} ${frame.bombs}`));
    if (frame.opened) facts.append(badge(WORDS.opened));
    if (frame.blind) facts.append(badge(WORDS.blind));
    if (frame.stake !== null) facts.append(badge(`${WORDS.stake} ${frame.stake}`, "badge-stake"));
    if (facts.childElementCount) middle.append(facts);
    const shown = frame.kitty || (view < 0 && frame.kitty_cards);
    const kitty = make("div", frame.kitty ? "kitty" : "kitty kitty-down", make("span", "label", frame.kitty ? WORDS.kitty : WORDS.kitty_dealt));
    if (shown && shown.length) kitty.append(cardRow(shown, "small", WORDS.kitty));
    else if (frame.kitty_cards && frame.kitty_cards.length) kitty.append(backs(frame.kitty_cards.length, "small"));
    if (kitty.childElementCount > 1) middle.append(kitty);
    if (frame.marked && frame.marked_seat === null) middle.append(make("div", "label", `${WORDS.marked} ${cardText(frame.marked)}`));
    if (frame.task) middle.append(make("div", "label", `${WORDS.task}: ${TASKS[frame.task] || frame.task}`));
    if (frame.end) middle.append(verdict(frame.end));
    else middle.append(onTable(frame, seats));
  }

  function onTable(frame, seats) {
    const spot = make("div", "on-table");
    if (frame.table) {
      spot.append(make("span", "label", WORDS.table), make("strong", "", ranks(frame.table.token)), named(seats[frame.table.seat].bot));
      spot.dataset.token = frame.table.token;
    } else if (frame.phase === "PLAY") spot.append(make("span", "label", WORDS.empty));
    return spot;
  }

  function verdict(end) {
    const spot = make("div", "verdict", make("strong", "", WORDS[end.winner]));
    if (end.factors.length) {
      const product = end.factors.map(([text, value]) => `${text} ${value}`).join(" × ");
      spot.append(make("span", "num", `${WORDS.stake} ${end.stake} = ${product}`));
    }
    return spot;
  }

  function drawTable(frame, seats, view) {
    ring.replaceChildren(...seats.map((_, seat) => seatBox(frame, seats, seat, view)));
    ring.dataset.players = seats.length;
    drawMiddle(frame, seats, view);
  }

  // The question ---------------------------------------------------------------------------------

  function drawQuestion(frame, seats, view, faults) {
    question.replaceChildren();
    if (frame.end) {
      question.append(make("h2", "", WORDS.over));
      for (const fault of faults || []) {
        const times = fault.count > 1 ? ` × ${fault.count}` : "";
        question.append(make("p", "fault-line", make("code", "", fault.fault), ` ${WORDS.seat} ${fault.seat}${times}: ${fault.text}`));
      }
      return;
    }
    const ask = frame.ask;
    if (!ask) return;
    if (view >= 0 && !frame.sees[view].turn) {
      question.append(make("p", "quiet", WORDS.secret));
      return;
    }
    const title = make("h2", "", `${ask.title} · `, named(seats[ask.seat].bot), make("span", "quiet", ` ${WORDS.seat} ${ask.seat}`));
    question.append(title);
    if (view >= 0 && view !== ask.seat) {
      question.append(make("p", "quiet", WORDS.not_seen));
      return;
    }
    const legal = make("ul", "legal");
    legal.setAttribute("aria-label", WORDS.legal);
    for (const [token, text] of ask.legal) {
      const option = make("li", token === ask.action ? "chosen" : "", text);
      option.dataset.token = token;
      if (token === ask.action) option.append(make("span", "hidden", ` (${WORDS.chose})`));
      legal.append(option);
    }
    question.append(legal, make("p", "took", `${WORDS.took} `, make("span", "num", time(ask.latency_us))));
    if (ask.fault) {
      const line = make("p", "fault-line", make("code", "", ask.fault), ` ${ask.fault_text}; `, make("code", "", ask.action), ` ${WORDS.default}`);
      question.append(line);
      if (ask.offered !== undefined) question.append(make("p", "fault-line", `${WORDS.offered} `, make("code", "offered", ask.offered)));
    }
    if (ask.note !== undefined) question.append(make("blockquote", "note", make("span", "label", WORDS.note), make("span", "note-text", ask.note)));
  }

  // The moves ------------------------------------------------------------------------------------

  function listMoves(data, view) {
    list.replaceChildren();
    let trick = -1;
    data.moves.forEach((move, step) => {
      if (move.trick !== trick) {
        trick = move.trick;
        list.append(make("li", "trick-head", trick ? `${WORDS.trick} ${trick}` : WORDS.before));
      }
      if (move.hidden && view >= 0 && view !== move.seat) return;
      list.append(make("li", "", moveButton(move, step, data.seats, data.digger)));
    });
    const over = make("button", "move", WORDS.over);
    over.type = "button";
    over.dataset.step = data.moves.length;
    list.append(make("li", "", over));
  }

  function moveButton(move, step, seats, digger) {
    const star = move.seat === digger ? "★ " : "";
    const button = make("button", move.pass ? "move move-pass" : "move", make("span", "seat-number num", String(move.seat)), make("span", "who", star, named(seats[move.seat].bot)), make("span", "did", move.text));
    if (move.fault) button.append(make("span", "move-fault", "!", make("span", "hidden", ` ${move.fault}`)));
    if (move.note) button.append(make("span", "move-note", "✎"));
    button.type = "button";
    button.dataset.step = step + 1;
    return button;
  }

  function markMove(step) {
    for (const button of list.querySelectorAll(".move")) {
      const now = Number(button.dataset.step) === step;
      if (now) {
        button.setAttribute("aria-current", "step");
        const top = button.offsetTop;
        if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
      } else button.removeAttribute("aria-current");
    }
  }

  // The player -----------------------------------------------------------------------------------

  let data = null, step = 0, view = -1, timer = 0;

  function show(replay, at) {
    data = replay;
    stop();
    viewpoint.replaceChildren(make("option", "", WORDS.all));
    viewpoint.firstChild.value = "-1";
    data.seats.forEach((seat, number) => {
      const option = make("option", "", `${number} ${seat.bot}`);
      option.value = String(number);
      viewpoint.append(option);
    });
    scrub.max = String(data.frames.length - 1);
    root.hidden = false;
    root.classList.remove("is-live");
    const [wantedStep, wantedView] = at || [0, -1];
    view = wantedView;
    viewpoint.value = String(view);
    listMoves(data, view);
    go(wantedStep);
  }

  function go(to) {
    step = Math.min(Math.max(0, to), data.frames.length - 1);
    const frame = data.frames[step];
    drawTable(frame, data.seats, view);
    drawQuestion(frame, data.seats, view, data.faults);
    scrub.value = String(step);
    scrub.setAttribute("aria-valuetext", `${WORDS.step} ${step} ${WORDS.of} ${data.frames.length - 1}`);
    output.textContent = `${step} / ${data.frames.length - 1}`;
    root.dataset.step = step;
    root.dataset.view = view;
    markMove(step);
    if (!timer) remember();
  }

  function look(from) {
    view = from >= -1 && from < data.seats.length ? from : -1;
    viewpoint.value = String(view);
    listMoves(data, view);
    go(step);
  }

  function remember() {
    const address = `#${step}${view >= 0 ? `/seat${view}` : ""}`;
    if (location.hash !== address) history.replaceState(null, "", address);
  }

  function fromAddress() {
    const found = /^#(\d{1,5})(?:\/seat([0-3]))?$/.exec(location.hash);
    if (!found) return null;
    return [Number(found[1]), found[2] === undefined || Number(found[2]) >= (data ? data.seats.length : 4) ? -1 : Number(found[2])];
  }

  const play = find("[data-go=play]");

  function stop() {
    clearTimeout(timer);
    timer = 0;
    play.classList.remove("playing");
    play.setAttribute("aria-label", WORDS.play);
  }

  function run() {
    if (step >= data.frames.length - 1) step = -1;
    play.classList.add("playing");
    play.setAttribute("aria-label", WORDS.pause);
    const tick = () => {
      timer = setTimeout(tick, Number(speed.value));
      go(step + 1);
      if (step >= data.frames.length - 1) { stop(); remember(); }
    };
    timer = 1;
    tick();
  }

  const toggle = () => (timer ? (stop(), remember()) : run());
  const GO = { first: () => go(0), back: () => go(step - 1), on: () => go(step + 1), last: () => go(Infinity), play: toggle };

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button || !data) return;
    if (button.dataset.go) {
      if (button.dataset.go !== "play") stop();
      GO[button.dataset.go]();
    } else if (button.dataset.step) { stop(); go(Number(button.dataset.step)); }
  });
  scrub.addEventListener("input", () => { if (data) { stop(); go(Number(scrub.value)); } });
  viewpoint.addEventListener("change", () => data && look(Number(viewpoint.value)));
  const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", " ": "play" };
  document.addEventListener("keydown", (event) => {
    if (!data || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    if (event.key === " " && event.target.closest("button, a, summary")) return;
    const name = KEYS[event.key];
    if (name) {
      if (name !== "play") stop();
      GO[name]();
    } else if (/^[0-3]$/.test(event.key) && Number(event.key) < data.seats.length) look(Number(event.key));
    else if (event.key === "a" || event.key === "A") look(-1);
    else return;
    event.preventDefault();
  });
  addEventListener("hashchange", () => {
    const at = data && fromAddress();
    if (at && (at[0] !== step || at[1] !== view)) { stop(); step = at[0]; look(at[1]); }
  });

  // What other scripts of the site may do with it: a replay that came later, and a table in play.
  function live(frame) {
    root.hidden = false;
    root.classList.add("is-live");
    drawTable(frame, frame.seats, -1);
    question.replaceChildren();
    list.replaceChildren(...frame.moves.map((move) => {
      const who = move.seat === null ? "" : make("span", "who", named(frame.seats[move.seat].bot));
      return make("li", move.pass ? "move move-pass" : "move", make("span", "seat-number num", move.seat === null ? "–" : String(move.seat)), who, make("span", "did", move.text));
    }));
    list.scrollTop = list.scrollHeight;
  }

  Object.assign((window.wakeng ??= {}), { show, live });
  const given = document.getElementById("replay-data");
  if (given) show(JSON.parse(given.textContent), fromAddress());
})();
