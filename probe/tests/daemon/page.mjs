// Looks at the daemon's page as people do:
//
//   node page.mjs URL PICTURE.png
//
// It follows the daemon, nothing is said on the console, and axe-core finds nothing. Leaves a picture. CHROMIUM names another
// browser than Debian's.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const tools = new URL("../../../reports/tests/browser/browser.mjs", import.meta.url);
const { launch, visit } = await import(tools);

const [url, picture] = process.argv.slice(2);
const axe = readFileSync(createRequire(tools).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launch(process.env.CHROMIUM ?? "/usr/bin/chromium");
try {
  const page = await visit(browser, url);
  const state = () => page.evaluate(`document.getElementById("state").textContent`);
  const deadline = Date.now() + 30_000;
  while ((await state()) === "connecting" && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(["waiting", "looking", "measuring", "paused"].includes(await state()), await state());
  const rows = await page.evaluate(`[...document.querySelectorAll("#devices th")].map((cell) => cell.textContent)`);
  assert.equal(rows.length, 1, "one device");
  await page.evaluate(axe);
  const violations = await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) => [id, help, nodes[0].html]))`);
  assert.deepEqual(violations, []);
  const { data } = await page.send("Page.captureScreenshot", { format: "png" });
  writeFileSync(picture, Buffer.from(data, "base64"));
  assert.deepEqual(page.complaints, []);
} finally {
  await browser.close();
}
