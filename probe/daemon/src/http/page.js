"use strict";
const place = (id) => document.getElementById(id);
const element = (name, ...content) => {
  const made = document.createElement(name);
  made.append(...content);
  return made;
};
const styled = (style, made) => Object.assign(made, { className: style });
const link = (text, href) => Object.assign(element("a", text), { href });
const list = (name, items) => items.length ? element(name, ...items.map((item) => element("li", item))) : "";
const fill = (id, items, none) => place(id).replaceChildren(...(items.length ? items : [element("li", none)]));
const time = (text) => Object.assign(element("time", text.slice(0, 16).replace("T", " ") + " UTC"), { dateTime: text });
/** A row: the first cell is its heading; the names of the others stand in them on narrow screens. */
const row = (heading, cells) => {
  const head = Object.assign(element("th", ...heading), { scope: "row" });
  const rest = Object.entries(cells).map(([name, content]) => {
    const cell = element("td", ...content);
    cell.dataset.name = name;
    return cell;
  });
  return element("tr", head, ...rest);
};

function device(device, quarantine) {
  const held = quarantine[device.slot];
  const last = device.last;
  const bad = held || (last && (last.newly_deviating > 0 || last.unaccepted > 0));
  // What has changed is told by the round.
  const brief = (text) => text.split(": ")[0];
  const state = held ? "in quarantine: " + held.reason : device.measuring ? "being measured" : last ? brief(last.text) : "not measured yet";
  const changes = !held && !device.measuring && last && last.changed && last.report ? [" ", link("changes", "/diffs/" + last.report)] : [];
  const more = last && last.more_causes > 0 ? [link(last.more_causes + " more in the report", "/reports/" + last.report)] : [];
  return row([device.name, styled("faint", element("small", device.driver_info)), styled("faint", element("small", device.slot))], {
    State: [styled(bad ? "bad" : "", element("span", state)), ...changes],
    Class: last && last.classes.length ? [list("ul", last.classes), styled("faint", element("small", "of a " + last.extent + " run"))] : ["not judged yet"],
    Causes: [list("ol", last ? last.causes : []) || "none", ...more],
  });
}

/** As many devices have their rounds unfolded. */
const FEW = 3;

function rounds(device, number, all) {
  const made = Object.assign(element("details"), { id: "rounds-" + device.key });
  made.open = place(made.id)?.open ?? all.length <= FEW;
  const head = ["When", "Extent", "Outcome", "Pages"].map((name) => Object.assign(element("th", name), { scope: "col" }));
  const rows = device.history.map((round) => row([time(round.finished)], {
    Extent: [round.extent],
    Outcome: [round.text, " ", styled("faint", element("small", round.driver))],
    Pages: [round.report ? link("report", "/reports/" + round.report) : "", " ", round.changed ? link("changes", "/diffs/" + round.report) : ""],
  }));
  const count = rows.length === 1 ? "1 round" : rows.length + " rounds";
  made.append(element("summary", device.name + ", " + device.slot + ": " + count));
  if (rows.length) made.append(element("table", element("thead", element("tr", ...head)), element("tbody", ...rows)));
  return made;
}

function show(status) {
  place("state").textContent = status.state;
  place("more").replaceChildren("version " + status.version + ", since ", time(status.started), status.next ? ", next: " + status.next : "");
  place("devices").replaceChildren(...status.devices.map((one) => device(one, status.quarantine)));
  place("rounds").replaceChildren(...status.devices.map(rounds));
  const waits = (one) => element("li", one.slot + " (" + one.extent + "): " + one.trigger + (one.reason ? "; waits: " + one.reason : ""));
  fill("waiting", status.waiting.map(waits), "Nothing.");
  fill("troubles", status.troubles.map((text) => styled("bad", element("li", text))), "None.");
  fill("log", status.log.slice().reverse().map((text) => element("li", text)), "Nothing yet.");
}

const events = new EventSource("/events");
events.onmessage = (event) => show(JSON.parse(event.data));
events.onerror = () => { place("state").textContent = "not connected"; };
