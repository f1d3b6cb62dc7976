// How a card stands: its state, figures, slots, clients and what has happened.

const STATES = {
  well: ["good", "well"],
  degraded: ["warning", "degraded"],
  "read-only": ["bad", "takes no writes"],
  stopped: ["bad", "stopped"],
  "no-power": ["bad", "no power"],
};

function showState(card) {
  const [tone, text] = STATES[card.now.state];
  const place = document.getElementById("state");
  place.className = `state ${tone}`;
  const busy = card.now.rebuild === null ? "" : `, rebuild ${percent(card.now.rebuild)}`;
  say(place, card.now.behind_ns === null ? text + busy : `${text}${busy}, behind the clock`);
  say(document.getElementById("name"), card.name);
  const shards = card.shards > 1 ? `, ${card.shards} shards` : "";
  say(document.getElementById("about"), `${card.profile}, ${bytes(card.size_bytes)}${shards}, read only view`);
  document.title = `${card.name}: ${text}`;
}

/** Figures of a second. */
function showFigures(card, row) {
  const [read, write, flush] = row.ops;
  const p99 = (op) => (op.p ? `99 % below ${duration(op.p[1])}` : "none in this second");
  const { collection, health } = card.now;
  const { host, moved } = row.wrote;
  const figures = [
    ["reads", `${rate(read.n)} /s`, megabytes(read.b), p99(read)],
    ["writes", `${rate(write.n)} /s`, megabytes(write.b), p99(write)],
    ["flushes", `${rate(flush.n)} /s`, "", p99(flush)],
  ];
  if (collection.bands > 0) {
    const now = host > 0 ? digits((host + moved) / host) : "–";
    const start = `${digits(collection.write_amplification)} since the start`;
    figures.push(["write amplification", now, start, collection.is_at_work ? "collection is at work" : "collection rests"]);
    figures.push(["filled", percent(row.fill), `${number.format(row.free)} of ${number.format(collection.bands)} bands free`, ""]);
  }
  if (health) {
    const spare = `${health.spare} % of the spare left`;
    figures.push(["wear", `${health.used} %`, spare, health.spare < health.spare_threshold ? "below its threshold" : ""]);
  }
  const failed = card.now.errors;
  figures.push(["failed requests", number.format(failed), "", ""]);
  const host_ = document.getElementById("figures");
  while (host_.children.length > figures.length) host_.lastChild.remove();
  figures.forEach(([name, value, ...details], at) => {
    let box = host_.children[at];
    if (!box) {
      box = element("div");
      box.append(element("dt"), element("dd", "value"), element("dd", "detail"), element("dd", "detail"));
      host_.append(box);
    }
    [name, value, ...details].forEach((text, i) => say(box.children[i], text));
    box.children[1].classList.toggle("bad", name === "failed requests" && failed > 0);
  });
}

const SLOTS = { active: "", rebuilding: "warning", missing: "bad", "no-power": "bad" };

function showSlots(card) {
  const section = document.getElementById("slots");
  const { slots } = card.now;
  section.hidden = slots.length === 0;
  const list = section.querySelector("ul");
  while (list.children.length > slots.length) list.lastChild.remove();
  slots.forEach((slot, at) => {
    let item = list.children[at];
    if (!item) {
      item = element("li");
      item.append(element("strong"), element("span"), element("span"), element("progress"));
      list.append(item);
    }
    const [state, wear, bad, bar] = item.children;
    item.className = SLOTS[slot.state];
    item.dataset.slot = slot.slot;
    say(state, `${slot.slot} ${slot.present ? slot.state.replace("-", " ") : "empty"}`);
    say(wear, slot.present ? `${number.format(slot.mean_cycles)} cycles, most ${number.format(slot.max_cycles)}` : "no module");
    say(bad, slot.present ? `${number.format(slot.bad_blocks)} bad blocks` : "");
    const rebuilds = slot.state === "rebuilding" && card.now.rebuild !== null;
    bar.hidden = !rebuilds;
    if (rebuilds) {
      bar.value = card.now.rebuild;
      bar.setAttribute("aria-label", `rebuild of slot ${slot.slot}`);
    }
  });
}

function showClients(card) {
  const section = document.getElementById("clients");
  const { clients, connected, turned_away: turnedAway } = card.now;
  const body = section.querySelector("tbody");
  while (body.children.length > clients.length) body.lastChild.remove();
  clients.forEach((client, at) => {
    let line = body.children[at];
    if (!line) {
      line = element("tr");
      for (let i = 0; i < 8; i++) line.append(element("td", i === 1 || i === 2 ? "words" : ""));
      body.append(line);
    }
    const before = card.before?.clients.find((other) => other.number === client.number);
    const grown = (key) => (before ? Math.max(0, client[key] - before[key]) / card.apart : null);
    const [requests, read, written] = ["requests", "read_bytes", "written_bytes"].map(grown);
    [
      String(client.number),
      client.peer + (client.tls ? " (TLS)" : ""),
      client.export ?? "being agreed on",
      number.format(client.in_flight),
      requests === null ? "–" : rate(requests),
      read === null ? "–" : megabytes(read),
      written === null ? "–" : megabytes(written),
      since(client.connected_seconds),
    ].forEach((text, i) => say(line.children[i], text));
  });
  section.querySelector(".scroll").hidden = clients.length === 0;
  const notes = [];
  if (clients.length === 0) notes.push("Nobody is connected.");
  if (connected > clients.length) notes.push(`${connected - clients.length} more are connected.`);
  if (turnedAway > 0) notes.push(`${turnedAway} were turned away since the start: there were too many.`);
  say(section.querySelector(".note"), notes.join(" "));
}

const WEIGHTS = { bad: "bad", good: "good", plain: "" };

/** Those of a card, the newest first. */
function showHappenings(happenings, card) {
  const mine = happenings.filter((happening) => happening.card === card).reverse();
  const section = document.getElementById("events");
  section.querySelector(".note").hidden = mine.length > 0;
  section.querySelector("ol").replaceChildren(
    ...mine.map(({ t, weight, text }) => {
      const item = element("li");
      item.append(element("time", "", clockTime(t)), element("span", WEIGHTS[weight], text));
      return item;
    }),
  );
}
