// Looks at pages as people do who have a browser, a keyboard, a telephone, or a screen reader:
//
//   node pages.mjs PICTURES PAGE.html... [--bounded PAGE.html...]
//
// Of each page: nothing is said on the console, the keyboard reaches everything and sees where it is, nothing is
// cut off on a narrow screen, and axe-core finds nothing, in light and dark, folded and unfolded. Prints how large a page is, on
// how many sheets of A4 it prints, and when it is first painted; size and sheets of a page after `--bounded` have a limit. Leaves
// pictures of what was seen in the folder PICTURES. CHROMIUM names another browser than Debian's.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { launch, visit } from "./browser.mjs";

const DESKTOP = { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false };
const WINDOWS = [1000, 1400].map((width) => ({ ...DESKTOP, width }));
const TELEPHONE = { width: 390, height: 844, deviceScaleFactor: 2, mobile: true };

/** Of a default run's page of one device: bytes, and sheets of A4. */
const BYTES = 1_500_000;
const SHEETS = 12;

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

/** What a page costs those who load and print it. */
const cost = async (page, file) => {
  const paint = await page.evaluate(`new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime))
    .observe({ type: "paint", buffered: true }))`);
  const { data } = await page.send("Page.printToPDF", { paperWidth: 8.27, paperHeight: 11.69 });
  const sheets = Buffer.from(data, "base64").toString("latin1").match(/\/Type\s*\/Page\b/g).length;
  return { paint: Math.round(paint), bytes: statSync(file).size, sheets };
};

/** Whether the page fits a window of this size, as it opens and unfolded. */
const fits = async (page, name, size) => {
  await page.send("Emulation.setDeviceMetricsOverride", size);
  const room = "({ wide: document.documentElement.scrollWidth, room: document.documentElement.clientWidth })";
  for (const [how, step] of [["as it opens", ""], ["unfolded", "unfold(),"]]) {
    const { wide, room: width } = await page.evaluate(`(${step} ${room})`);
    assert(wide <= width, `${name} ${how}: on a screen of ${size.width} the page is ${wide} wide, and has room for ${width}`);
  }
  await page.evaluate("refold()");
};

/** In the page: opens everything that is folded, and folds it again. */
const UNFOLDING = `
  const folded = [...document.querySelectorAll("details:not([open])")];
  const unfold = () => folded.forEach((node) => (node.open = true));
  const refold = () => (folded.forEach((node) => (node.open = false)), scrollTo(0, 0));`;

const look = async (browser, file, pictures) => {
  const page = await visit(browser, pathToFileURL(resolve(file)).href);
  const name = basename(file, ".html");
  const figures = await cost(page, file);
  const picture = async (what, options = {}) => {
    const { data } = await page.send("Page.captureScreenshot", { format: "png", ...options });
    writeFileSync(join(pictures, `${name}-${what}.png`), Buffer.from(data, "base64"));
  };
  const scheme = (value) => page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });

  await page.send("Emulation.setDeviceMetricsOverride", DESKTOP);
  await scheme("light");
  await picture("top");
  await keyboard(page);
  await page.evaluate(UNFOLDING);
  for (const size of [...WINDOWS, TELEPHONE]) {
    await fits(page, name, size);
    await picture(`${size.width}`);
  }
  // Devices look alike, and axe-core takes minutes for several.
  await page.evaluate(`document.querySelectorAll("section.device ~ section.device").forEach((node) => node.remove())`);
  await page.evaluate(axe());
  await violations(page, `${name} as it opens on a telephone`);
  await page.send("Emulation.setDeviceMetricsOverride", DESKTOP);
  await page.evaluate("unfold()");
  await violations(page, `${name} unfolded`);
  for (const part of ["stairs", "curves", "maps", "texels"]) {
    const clip = await page.evaluate(`(() => {
      const box = document.querySelector(".${part}")?.parentElement.getBoundingClientRect();
      return box && { x: 0, y: box.top + scrollY, width: ${DESKTOP.width}, height: Math.min(box.height, 1600), scale: 1 };
    })()`);
    if (clip) await picture(part, { clip, captureBeyondViewport: true });
  }
  await scheme("dark");
  await violations(page, `${name} in the dark`);
  await page.evaluate("refold()");
  await picture("dark");
  assert.deepEqual(page.complaints, [], `${name}: the console is silent`);
  await page.close();
  return figures;
};

const [pictures, ...given] = process.argv.slice(2);
const files = given.filter((one) => one !== "--bounded");
const bounded = given.includes("--bounded") ? given.slice(given.indexOf("--bounded") + 1) : [];
if (files.length === 0) throw new Error("usage: node pages.mjs PICTURES PAGE.html...");
mkdirSync(pictures, { recursive: true });
const browser = await launch(process.env.CHROMIUM ?? "chromium");
try {
  for (const file of files) {
    const { bytes, sheets, paint } = await look(browser, file, pictures);
    console.log(`${basename(file)}: nothing amiss; ${bytes} bytes, ${sheets} sheets, first paint after ${paint} ms`);
    if (!bounded.includes(file)) continue;
    assert(bytes <= BYTES, `${basename(file)} has ${bytes} bytes`);
    assert(sheets <= SHEETS, `${basename(file)} prints on ${sheets} sheets`);
  }
} finally {
  await browser.close();
}
