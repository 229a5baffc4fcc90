// Looks at pages as people do who have a browser, a keyboard, a telephone, or a screen reader:
//
//   node pages.mjs PICTURES PAGE.html...
//
// Of each page: nothing is said on the console, the keyboard reaches everything and sees where it is, nothing is
// cut off on a narrow screen, and axe-core finds nothing, in light and dark, folded and unfolded. Leaves pictures of what was
// seen in the folder PICTURES. CHROMIUM names another browser than Debian's.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { launch, visit } from "./browser.mjs";

const DESKTOP = { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false };
const WINDOWS = [1000, 1400].map((width) => ({ ...DESKTOP, width }));
const TELEPHONE = { width: 390, height: 844, deviceScaleFactor: 2, mobile: true };

const axe = () => {
  try {
    return readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  } catch {
    throw new Error("axe-core is missing; .ci/install test installs it");
  }
};

/** What has the focus: how it is told, and whether it can be seen that it has it. */
const FOCUS = `(() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const box = (node.closest("label") ?? node).getBoundingClientRect();
  const marked = [node, ...(node.nextElementSibling ? [node.nextElementSibling] : [])]
    .some((one) => getComputedStyle(one).outlineStyle !== "none");
  return {
    what: [node.tagName, node.name, node.textContent.trim().slice(0, 40)].filter(Boolean).join(" "),
    tag: node.tagName, name: node.name ?? "", link: node.getAttribute("href") ?? "",
    seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && marked,
  };
})()`;

/** Goes on with Tab until something has the focus. */
const tabTo = async (page, wanted, within = 400) => {
  for (let count = 0; count < within; count += 1) {
    await page.press("Tab");
    const focus = await page.evaluate(FOCUS);
    if (!focus) continue;
    assert(focus.seen, `the focus cannot be seen on ${focus.what}`);
    if (wanted(focus)) return focus;
  }
  assert.fail(`Tab does not reach what is wanted: ${wanted}`);
};

/** Everything with the keyboard alone. */
const keyboard = async (page) => {
  const first = await tabTo(page, () => true);
  assert.equal(first.link, "#main", "the first stop leads to the results");
  await page.press("Enter");
  assert.equal(await page.evaluate("location.hash"), "#main");
  if (await page.evaluate(`document.getElementById("filter") !== null`)) await filters(page);
  if (await page.evaluate(`document.querySelector("summary") === null`)) return;
  await tabTo(page, (focus) => focus.tag === "SUMMARY");
  const open = "document.activeElement.parentElement.open";
  const before = await page.evaluate(open);
  await page.press("Enter");
  assert.notEqual(await page.evaluate(open), before, "Enter opens what is folded");
  await page.press("Enter");
  assert.equal(await page.evaluate(open), before, "Enter folds it again");
};

const filters = async (page) => {
  const shown = () => page.evaluate(`document.querySelectorAll("tr[data-verdict]:not([hidden])").length`);
  const all = await shown();
  await tabTo(page, (focus) => focus.name === "text");
  for (const letter of "division") await page.press(letter);
  const found = await shown();
  assert(found > 0 && found < all, `${found} of ${all} rules hold the word`);
  assert.match(await page.evaluate(`document.querySelector("#filter output").textContent`), /\d+ of \d+ verdicts/);
  await page.evaluate(`document.forms.filter.reset(), document.forms.filter.dispatchEvent(new Event("input"))`);
  await tabTo(page, (focus) => focus.name === "profile");
  await tabTo(page, (focus) => focus.name === "verdict");
  await page.press(" ");
  const checked = await shown();
  assert(checked > 0 && checked < all, `${checked} of ${all} rules have the verdict`);
  await page.press(" ");
  assert.equal(await shown(), all);
};

/** What axe-core finds, told so that it can be mended. */
const violations = async (page, when) => {
  const found = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.map(({ id, help, nodes }) => ({ id, help, count: nodes.length, nodes: nodes.slice(0, 5).map(({ html, failureSummary }) => ({ html, failureSummary })) })))`);
  assert.deepEqual(found, [], `axe-core, ${when}`);
};

const look = async (browser, file, pictures) => {
  const page = await visit(browser, pathToFileURL(resolve(file)).href);
  const name = basename(file, ".html");
  const picture = async (what, options = {}) => {
    const { data } = await page.send("Page.captureScreenshot", { format: "png", ...options });
    writeFileSync(join(pictures, `${name}-${what}.png`), Buffer.from(data, "base64"));
  };
  const scheme = (value) => page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });

  await page.send("Emulation.setDeviceMetricsOverride", DESKTOP);
  await scheme("light");
  await picture("top");
  await keyboard(page);
  await page.evaluate(axe());
  await violations(page, "as it opens");
  await page.evaluate(`document.querySelectorAll("details").forEach((node) => (node.open = true)), scrollTo(0, 0)`);
  await violations(page, "unfolded");
  for (const part of ["stairs", "curves", "maps"]) {
    const clip = await page.evaluate(`(() => {
      const box = document.querySelector(".${part}")?.parentElement.getBoundingClientRect();
      return box && { x: 0, y: box.top + scrollY, width: ${DESKTOP.width}, height: Math.min(box.height, 1600), scale: 1 };
    })()`);
    if (clip) await picture(part, { clip, captureBeyondViewport: true });
  }
  await scheme("dark");
  await violations(page, "in the dark");
  await picture("dark");
  await scheme("light");
  for (const size of [...WINDOWS, TELEPHONE]) {
    await page.send("Emulation.setDeviceMetricsOverride", size);
    const { wide, room } = await page.evaluate("({ wide: document.documentElement.scrollWidth, room: document.documentElement.clientWidth })");
    assert(wide <= room, `on a screen of ${size.width} the page is ${wide} wide, and has room for ${room}`);
    await picture(`${size.width}`);
  }
  await violations(page, "on a telephone");
  await picture("telephone");
  assert.deepEqual(page.complaints, [], "the console is silent");
  await page.close();
};

const [pictures, ...files] = process.argv.slice(2);
if (files.length === 0) throw new Error("usage: node pages.mjs PICTURES PAGE.html...");
mkdirSync(pictures, { recursive: true });
const browser = await launch(process.env.CHROMIUM ?? "chromium");
try {
  for (const file of files) {
    await look(browser, file, pictures);
    console.log(`${basename(file)}: nothing amiss`);
  }
} finally {
  await browser.close();
}
