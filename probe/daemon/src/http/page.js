"use strict";
const place = (id) => document.getElementById(id);
const element = (name, text, bad) => {
  const made = document.createElement(name);
  made.textContent = text;
  if (bad) made.className = "bad";
  return made;
};
const fill = (id, items, none) => place(id).replaceChildren(...(items.length ? items : [element("li", none)]));

function row(device, quarantine) {
  const made = document.createElement("tr");
  const name = element("th", device.name);
  name.scope = "row";
  const held = quarantine[device.slot];
  const last = device.last;
  const bad = held || (last && (last.newly_deviating > 0 || last.unaccepted > 0));
  const state = held ? "in quarantine: " + held.reason : device.measuring ? "being measured" : last ? last.text : "not measured yet";
  const report = document.createElement("td");
  if (last && last.report) {
    const link = element("a", last.report + " (" + last.extent + ", " + last.finished + ")");
    link.href = "/reports/" + last.report;
    report.append(link);
  }
  made.append(name, element("td", device.driver_info), element("td", device.slot), element("td", state, bad), report);
  return made;
}

function show(status) {
  place("state").textContent = status.state;
  place("more").textContent = "version " + status.version + ", since " + status.started + (status.next ? ", next: " + status.next : "");
  place("devices").replaceChildren(...status.devices.map((device) => row(device, status.quarantine)));
  const waits = (one) => element("li", one.slot + " (" + one.extent + "): " + one.trigger + (one.reason ? "; waits: " + one.reason : ""));
  fill("waiting", status.waiting.map(waits), "Nothing.");
  fill("troubles", status.troubles.map((text) => element("li", text, true)), "None.");
  fill("log", status.log.slice().reverse().map((text) => element("li", text)), "Nothing yet.");
}

const events = new EventSource("/events");
events.onmessage = (event) => show(JSON.parse(event.data));
events.onerror = () => { place("state").textContent = "not connected"; };
