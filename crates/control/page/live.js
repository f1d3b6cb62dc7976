// The messages of the server, what was chosen on the page, and when it is drawn.

/** Longer than this without a message is said. */
const SILENCE_MS = 5000;
/** The shortest time that is shown. */
const LEAST_MS = 30_000;
/** Wait before a server that refused is asked again. */
const AGAIN_MS = 4000;

const view = { card: 0, seconds: 300, kind: WRITE, slow: false, paused: false, pointed: null };
let has_chosen_kind = false;
let cards = [];
let happenings = [];
let seconds = 900;
let heard = Date.now();
let is_connected = false;
/** While it is paused: the end of what is shown. */
let until = null;

const by = (id) => document.getElementById(id);
const charts = makeCharts(by("charts"), view, (chosen) => {
  if ("kind" in chosen) has_chosen_kind = true;
  Object.assign(view, chosen);
  later();
});

let is_due = false;
/** Draws once before the next frame, however often it is asked. */
function later() {
  if (is_due) return;
  is_due = true;
  requestAnimationFrame(() => {
    is_due = false;
    draw();
  });
}

function draw() {
  const card = cards[view.card];
  if (!card?.now || document.hidden) return;
  const to = until ?? card.rows.at(-1)?.t ?? Date.now();
  // As long as less is kept than was chosen, no more than that is shown.
  const kept = Math.max(LEAST_MS, to - (card.rows[0]?.t ?? to));
  charts(card, { from: to - Math.min(view.seconds * 1000, kept), to });
  const place = placeOf(card.rows.map((row) => row.t), view.pointed ?? to);
  const row = card.rows[place];
  if (row) showFigures(card, row);
  say(by("moment"), row ? (view.pointed === null && until === null ? `${clockTime(row.t)}, now` : `at ${clockTime(row.t)}`) : "");
}

/** All but the charts, which only a message changes. */
function show() {
  const card = cards[view.card];
  if (!card?.now) return;
  showState(card);
  showSlots(card);
  showClients(card);
  later();
}

function mostAsked(card) {
  const asked = [0, 1, 2].map((kind) => card.rows.slice(-30).reduce((sum, row) => sum + row.ops[kind].n, 0));
  // Flushes are chosen by hand only.
  return asked[READ] > asked[WRITE] ? READ : WRITE;
}

function take(whole) {
  ({ happenings, seconds } = whole);
  cards = whole.cards.map((card) => ({ ...card, causes: whole.causes, before: null, apart: 1 }));
  view.card = Math.min(view.card, cards.length - 1);
  by("cards").hidden = cards.length < 2;
  by("card").replaceChildren(...cards.map((card, i) => {
    const option = element("option", "", card.name);
    option.value = i;
    option.selected = i === view.card;
    return option;
  }));
  if (!has_chosen_kind) view.kind = mostAsked(cards[view.card]);
  showHappenings(happenings, view.card);
  show();
}

function add(second) {
  second.cards.forEach(({ row, now }, i) => {
    const card = cards[i];
    if (!row) return;
    const last = card.rows.at(-1);
    card.apart = last ? Math.max(0.1, (row.t - last.t) / 1000) : 1;
    card.before = card.now;
    card.now = now;
    card.rows.push(row);
    if (card.rows.length > seconds) card.rows.shift();
  });
  if (second.happenings.length) {
    happenings = [...happenings, ...second.happenings].slice(-200);
    showHappenings(happenings, view.card);
  }
  if (!has_chosen_kind && cards[view.card].rows.length < 10) view.kind = mostAsked(cards[view.card]);
  show();
}

function trouble(text) {
  by("trouble").hidden = !text;
  say(by("trouble"), text);
}

function listen() {
  const messages = new EventSource("messages");
  const on = (name, act) =>
    messages.addEventListener(name, ({ data }) => {
      heard = Date.now();
      is_connected = true;
      trouble("");
      act(JSON.parse(data));
    });
  on("whole", take);
  on("second", add);
  messages.addEventListener("error", () => {
    is_connected = false;
    trouble(`No connection since ${clockTime(heard)}: the server has ended, or as many watch already as may. Asking again.`);
    if (messages.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN_MS);
  });
}

setInterval(() => {
  const silent = Date.now() - heard;
  if (is_connected && silent > SILENCE_MS) {
    trouble(`No news for ${Math.round(silent / 1000)} s: the card is being started, or the machine is busy.`);
  }
}, 1000);

by("windows").addEventListener("click", ({ target }) => {
  if (!target.dataset.seconds) return;
  view.seconds = Number(target.dataset.seconds);
  for (const button of by("windows").children) button.setAttribute("aria-pressed", String(button === target));
  later();
});
by("pause").addEventListener("click", () => {
  view.paused = !view.paused;
  until = view.paused ? (cards[view.card]?.rows.at(-1)?.t ?? null) : null;
  by("pause").setAttribute("aria-pressed", String(view.paused));
  later();
});
by("card").addEventListener("change", ({ target }) => {
  view.card = Number(target.value);
  showHappenings(happenings, view.card);
  show();
});
addEventListener("resize", later);
document.addEventListener("visibilitychange", later);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
listen();
