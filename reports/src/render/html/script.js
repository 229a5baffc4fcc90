"use strict";
// Filters rules and deviations, opens what a link points at, copies commands. The page is complete without it.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = document.getElementById("filter");
  const status = form.querySelector("output");
  const rows = all("[data-verdict]").map((node) => ({
    node,
    text: node.textContent.toLowerCase(),
    verdict: node.dataset.verdict,
    profiles: node.dataset.profiles.split(" "),
  }));
  const groups = all("[data-group]").map((node) => ({ node, rows: rows.filter((row) => node.contains(row.node)) }));

  // What is filtered stands in the address, so that it can be sent.
  const fields = () => new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  const remember = () => {
    const query = fields().toString();
    try {
      history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
    } catch {
      // Pages of some origins may not change their address.
    }
  };
  const restore = () => {
    for (const [name, value] of new URLSearchParams(location.search)) {
      for (const field of all(`[name="${CSS.escape(name)}"]`, form)) {
        if (field.type === "checkbox") field.checked ||= field.value === value;
        else field.value = value;
      }
    }
  };

  const apply = () => {
    const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = all("[name=verdict]:checked", form).map((box) => box.value);
    const profile = form.profile.value;
    const active = words.length > 0 || verdicts.length > 0 || profile !== "";
    let shown = 0;
    for (const row of rows) {
      const match =
        words.every((word) => row.text.includes(word)) &&
        (verdicts.length === 0 || verdicts.includes(row.verdict)) &&
        (profile === "" || row.profiles.includes(profile));
      row.node.hidden = !match;
      if (match && row.node.tagName === "TR") shown += 1;
    }
    for (const group of groups) {
      const some = group.rows.some((row) => !row.node.hidden);
      group.node.hidden = !some && active;
      for (let node = group.node; active && some && node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    }
    const total = rows.filter((row) => row.node.tagName === "TR").length;
    status.textContent = active ? `${shown} of ${total} verdicts` : "";
  };

  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    // A link shows its target, whatever the filter hides.
    for (let node = target; node; node = node.parentElement) {
      if (node !== form) node.hidden = false;
      if (node.tagName === "DETAILS") node.open = true;
    }
    if (!target) return;
    const inner = target.querySelector("details");
    if (inner) inner.open = true;
    // Below the bar, which stays.
    const bar = getComputedStyle(form).position === "sticky" ? form.offsetHeight : 0;
    document.documentElement.style.scrollPaddingTop = `${bar + 8}px`;
    target.scrollIntoView();
  };

  if (navigator.clipboard) {
    for (const command of all(".command")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(command.querySelector("code").textContent);
          button.textContent = "Copied";
        } catch {
          button.textContent = "Failed";
        }
        setTimeout(() => (button.textContent = "Copy"), 1500);
      });
      command.append(button);
    }
  }

  form.hidden = false;
  form.addEventListener("input", () => (apply(), remember()));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", open);
  restore();
  apply();
  open();
})();
