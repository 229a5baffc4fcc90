// Chromium without a window, spoken to over its debugging pipe: messages are JSON, each closed by a zero byte.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Seconds that one thing may take. */
const PATIENCE = 300;

/** A promise that does not wait for ever. */
const within = (what, promise) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer within ${PATIENCE} s`)), PATIENCE * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** Starts chromium; `close` ends it. Fails where there is none. */
export const launch = async (program) => {
  const profile = mkdtempSync(join(tmpdir(), "fpprobe-pages-"));
  // In a container, and as root, there is no sandbox; the pages are our own.
  const flags = ["--headless", "--remote-debugging-pipe", `--user-data-dir=${profile}`, "--no-sandbox", "--disable-gpu",
    "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars"];
  const child = spawn(program, flags, { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"], detached: true });
  const said = [];
  child.stderr.on("data", (text) => said.push(text));

  const waiting = new Map();
  const listeners = new Set();
  const fail = (reason) => {
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
  };
  child.on("error", (error) => fail(`${program} cannot be started (${error.code}); .ci/install test installs it`));
  child.on("exit", (status) => fail(`${program} ended (status ${status}): ${Buffer.concat(said)}`));
  child.stdio[3].on("error", () => {});

  let rest = Buffer.alloc(0);
  child.stdio[4].on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
      const message = JSON.parse(rest.subarray(0, end));
      const asked = waiting.get(message.id);
      if (!asked) {
        for (const listener of listeners) listener(message);
        continue;
      }
      waiting.delete(message.id);
      if (message.error) asked.reject(new Error(`${asked.method}: ${message.error.message}`));
      else asked.resolve(message.result);
    }
  });

  let last = 0;
  const send = (method, params = {}, sessionId = undefined) =>
    within(method, new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { method, resolve, reject });
      child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    }));
  const close = async () => {
    const ended = new Promise((resolve) => child.exitCode === null && child.pid ? child.on("exit", resolve) : resolve());
    child.kill();
    await ended;
    // Its children are of its group, and write for a while yet.
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // None is left.
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  return { send, listeners, close };
};

/** A page that is loaded, with what it complained of. */
export const visit = async (browser, url) => {
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const complaints = [];
  const loaded = new Promise((resolve) =>
    browser.listeners.add(({ method, params, sessionId: from }) => {
      if (from !== sessionId) return;
      if (method === "Page.loadEventFired") resolve();
      if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === "Runtime.consoleAPICalled") complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
      if (method === "Log.entryAdded") complaints.push(params.entry.text);
    }),
  );
  for (const domain of ["Page", "Runtime", "Log"]) await send(`${domain}.enable`);
  await send("Page.navigate", { url });
  await within(url, loaded);

  /** The value of an expression in the page. */
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  /** Presses a key and lets it go: one of the named ones, or a character. */
  const press = async (key, modifiers = 0) => {
    const named = { Tab: 9, Enter: 13, " ": 32 };
    const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
    const event = { key, code: key === " " ? "Space" : key, windowsVirtualKeyCode: named[key], text, modifiers };
    await send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...event });
    await send("Input.dispatchKeyEvent", { type: "keyUp", ...event, text: undefined });
  };
  const close = () => browser.send("Target.closeTarget", { targetId });
  return { send, evaluate, press, complaints, close };
};
