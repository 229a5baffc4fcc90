// Looks at the daemon's page as people do:
//
//   node page.mjs URL FOLDER
//
// It shows one device with classes, causes and three rounds, of which the second changed something, and leads to the changes as
// a page. In windows of three widths, light and dark, with 1, 3 and 12 devices, nothing scrolls sideways, nothing is said on the
// console, and axe-core finds nothing. Leaves pictures in the folder. CHROMIUM names another browser than Debian's.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const tools = new URL("../../../reports/tests/browser/browser.mjs", import.meta.url);
const { launch, visit } = await import(tools);

const [url, folder] = process.argv.slice(2);
const axe = readFileSync(createRequire(tools).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launch(process.env.CHROMIUM ?? "/usr/bin/chromium");

const look = async (page, name) => {
  await page.evaluate(axe);
  for (const scheme of ["light", "dark"]) {
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    for (const width of [1400, 1000, 390]) {
      await page.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
      const { wide, room } = await page.evaluate("({ wide: document.documentElement.scrollWidth, room: document.documentElement.clientWidth })");
      assert.ok(wide <= room, `${name}: in a window of ${width} the page is ${wide} wide, and has room for ${room}`);
      const violations = await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) => [id, help, nodes[0].html]))`);
      assert.deepEqual(violations, [], `${name}: ${width} ${scheme}`);
      const { data } = await page.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: name.startsWith("daemon-of") });
      writeFileSync(join(folder, `${name}-${scheme}-${width}.png`), Buffer.from(data, "base64"));
    }
  }
  assert.deepEqual(page.complaints, [], name);
};

try {
  const page = await visit(browser, url);
  const state = () => page.evaluate(`document.getElementById("state").textContent`);
  const deadline = Date.now() + 30_000;
  while ((await state()) === "connecting" && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(["waiting", "looking", "measuring", "paused"].includes(await state()), await state());
  const texts = (selector) => page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((node) => node.textContent)`);
  assert.equal((await texts("#devices th")).length, 1, "one device");
  const classes = await texts("#devices td[data-name=Class] li");
  assert.ok(classes.some((text) => /^d3d11 .*: \d+ causes? at run time/.test(text)), classes.join("\n"));
  assert.equal((await texts("#devices td[data-name=Causes] li")).length, 3, "the gravest causes");
  const outcomes = await texts("#rounds td[data-name=Outcome]");
  assert.deepEqual(outcomes.map((text) => text.split(" since ")[0].split(" Mesa ")[0]), ["has not changed", "has changed", "was measured for the first time"]);
  assert.match(outcomes[1], /f32 to i32 of NaN/);
  const links = await page.evaluate(`[...document.querySelectorAll("#rounds a")].map((node) => [node.textContent, node.href])`);
  assert.deepEqual(links.map(([text]) => text), ["report", "report", "changes", "report"]);
  // What a person has closed stays closed when the state changes.
  await page.evaluate(`document.querySelector("details").open = false, fetch("/status").then((status) => status.json()).then(show)`);
  assert.equal(await page.evaluate(`document.querySelector("details").open`), false);
  await page.evaluate(`document.querySelector("details").open = true`);
  const copies = (count) => `(status) => Array.from({ length: ${count} }, (_, number) =>
    ({ ...status.devices[0], key: "device" + number, slot: status.devices[0].slot + ":" + number }))`;
  for (const count of [1, 3, 12]) {
    await page.evaluate(`events.close(), fetch("/status").then((status) => status.json()).then((status) => show({ ...status, devices: (${copies(count)})(status) }))`);
    assert.equal((await texts("#devices th")).length, count);
    await look(page, `daemon-of-${count}`);
  }
  const changes = await visit(browser, links[2][1]);
  assert.match(await changes.evaluate("document.body.textContent"), /Traits changed/);
  await look(changes, "daemon-changes");
} finally {
  await browser.close();
}
